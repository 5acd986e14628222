r"""Finite positive measures on radii :math:`[0, \infty)`: the interface, atoms, and sums of parts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from krein._core.checks import positive_real
from krein.measures.omega import omega

__all__ = ["Atoms", "Mixture", "NO_MASS", "RadialPart", "mix", "positive_factor"]


class Law(Protocol):
    """A probability law on radii, as a kernel with a classical spectrum gives it."""

    def pdf(self, r: np.ndarray) -> np.ndarray:
        """Density at radii r."""
        ...

    def cdf(self, r: np.ndarray) -> np.ndarray:
        """Probability of radii up to r."""
        ...

    def sf(self, r: np.ndarray) -> np.ndarray:
        """Probability of radii beyond r, accurate where it is small."""
        ...

    def ppf(self, u: np.ndarray) -> np.ndarray:
        """Radius below which the probability is u."""
        ...

    @property
    def second_moment(self) -> float:
        """Mean of r², possibly infinite."""
        ...


class RadialPart(ABC):
    """A finite positive measure on radii."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """Total mass."""

    @property
    @abstractmethod
    def second_moment(self) -> float:
        """∫ r² ρ(dr), possibly infinite."""

    @abstractmethod
    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        """∫ Ω_dim(rz) ρ(dr).

        Parameters
        ----------
        z : array of floats
            Distances.
        dim : int

        Returns
        -------
        ndarray of the shape of z
        """

    @abstractmethod
    def cdf(self, r: Any) -> np.ndarray:
        """Fraction of the mass at radii up to r.

        Parameters
        ----------
        r : array of floats

        Returns
        -------
        ndarray of the shape of r
        """

    @abstractmethod
    def ppf(self, u: Any) -> np.ndarray:
        """Radius below which the fraction u of the mass lies.

        Parameters
        ----------
        u : array of floats in [0, 1]

        Returns
        -------
        ndarray of the shape of u
        """

    @abstractmethod
    def scaled(self, factor: float) -> RadialPart:
        """The same measure times a positive factor.

        Parameters
        ----------
        factor : float

        Returns
        -------
        RadialPart
        """

    @abstractmethod
    def atoms(self) -> Atoms:
        """The nodes of the quadrature of the measure: plain arrays, which can be stored and evaluated, but not sampled.

        Returns
        -------
        Atoms
        """


@final
@dataclass(frozen=True, eq=False)
class Atoms(RadialPart):
    """Finitely many radii with positive weights.

    Parameters
    ----------
    radii : array of shape (n,)
        Finite, at least 0; kept in increasing order.
    weights : array of shape (n,)
        Finite and positive.
    """

    radii: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        radii, weights = np.array(self.radii, dtype=np.float64), np.array(self.weights, dtype=np.float64)
        if radii.ndim != 1 or radii.shape != weights.shape:
            raise ValueError(f"radii and weights must be vectors of one length, got {radii.shape} and {weights.shape}")
        if not (np.isfinite(radii).all() and np.isfinite(weights).all()) or (radii < 0).any() or (weights <= 0).any():
            raise ValueError(
                "radii must be finite and non-negative, weights finite and positive; negative weights "
                "belong to the negative part"
            )
        order = np.argsort(radii, kind="stable")
        for name, array in (("radii", radii[order]), ("weights", weights[order])):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def mass(self) -> float:
        return float(self.weights.sum())

    @property
    def second_moment(self) -> float:
        return float(self.weights @ self.radii**2)

    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        return np.asarray(omega(dim, np.multiply.outer(z, self.radii)) @ self.weights)

    def cdf(self, r: Any) -> np.ndarray:
        steps = np.concatenate([[0.0], self._steps()])
        return steps[np.searchsorted(self.radii, np.asarray(r, dtype=np.float64), side="right")]

    def ppf(self, u: Any) -> np.ndarray:
        index = np.searchsorted(self._steps(), np.asarray(u, dtype=np.float64), side="left")
        return self.radii[np.minimum(index, self.radii.size - 1)]

    def _steps(self) -> np.ndarray:
        if not self.radii.size:
            raise ValueError("an empty part has no radii to draw; its mass is 0")
        steps = np.cumsum(self.weights)
        return np.asarray(steps / steps[-1])

    def scaled(self, factor: float) -> Atoms:
        return Atoms(self.radii, self.weights * positive_factor(factor))

    def atoms(self) -> Atoms:
        return self


NO_MASS = Atoms(np.empty(0), np.empty(0))


@final
@dataclass(frozen=True, eq=False)
class Mixture(RadialPart):
    """A sum of parts, none of them empty.

    Parameters
    ----------
    parts : tuple of RadialPart
    """

    parts: tuple[RadialPart, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not all(isinstance(part, RadialPart) for part in self.parts):
            raise TypeError(f"parts must be measures on radii such as Atoms(radii, weights), got {self.parts!r}")
        if not self.parts or not all(part.mass > 0 for part in self.parts):
            raise ValueError("a mixture is made of at least one part, each with mass; leave the empty ones out")

    @property
    def mass(self) -> float:
        return math.fsum(part.mass for part in self.parts)

    @property
    def second_moment(self) -> float:
        return math.fsum(part.second_moment for part in self.parts)

    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        return np.asarray(np.sum([part.evaluate(z, dim) for part in self.parts], axis=0))

    def cdf(self, r: Any) -> np.ndarray:
        return np.asarray(np.sum([part.mass * part.cdf(r) for part in self.parts], axis=0) / self.mass)

    def ppf(self, u: Any) -> np.ndarray:
        u = np.asarray(u, dtype=np.float64)
        bounds = [part.ppf(u) for part in self.parts]  # the mixture's quantile lies between those of its parts
        low, high = np.min(bounds, axis=0), np.max(bounds, axis=0)
        for _ in range(80):
            middle = 0.5 * (low + high)
            under = self.cdf(middle) < u
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(high)

    def scaled(self, factor: float) -> Mixture:
        return Mixture(tuple(part.scaled(factor) for part in self.parts))

    def atoms(self) -> Atoms:
        merged = mix(*(part.atoms() for part in self.parts))
        return merged if isinstance(merged, Atoms) else NO_MASS


def positive_factor(value: Any, name: str = "factor") -> float:
    """A positive finite float, or an error that names it; a negative sign belongs to the signed measure, which swaps its parts."""
    return positive_real(value, name)


def mix(*parts: RadialPart) -> RadialPart:
    """The sum of some parts, without the empty ones; atoms at one radius are merged."""
    filled = [part for part in parts if part.mass > 0]
    atoms = [part for part in filled if isinstance(part, Atoms)]
    others = [part for part in filled if not isinstance(part, Atoms)]
    if atoms:
        radii, inverse = np.unique(np.concatenate([part.radii for part in atoms]), return_inverse=True)
        weights = np.bincount(inverse, np.concatenate([part.weights for part in atoms]))
        others.insert(0, Atoms(radii, weights))
    if not others:
        return NO_MASS
    return others[0] if len(others) == 1 else Mixture(tuple(others))
