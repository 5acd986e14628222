r"""Finite positive measures on radii :math:`[0, \infty)`: atoms, a known law, a tabulated density, and sums of these."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np

from krein.measures.omega import omega

__all__ = ["Atoms", "Density", "Law", "LawPart", "Mixture", "NO_MASS", "RadialPart", "mix"]


class Law(Protocol):
    """A probability law on radii, as a kernel with a classical spectrum gives it."""

    def pdf(self, r: np.ndarray) -> np.ndarray: ...
    def cdf(self, r: np.ndarray) -> np.ndarray: ...
    def sf(self, r: np.ndarray) -> np.ndarray: ...
    def ppf(self, u: np.ndarray) -> np.ndarray: ...
    @property
    def second_moment(self) -> float: ...


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
        """∫ Ω_dim(rz) ρ(dr)."""

    @abstractmethod
    def cdf(self, r: Any) -> np.ndarray:
        """Fraction of the mass at radii up to r."""

    @abstractmethod
    def ppf(self, u: Any) -> np.ndarray:
        """Radius below which the fraction u of the mass lies."""

    @abstractmethod
    def scaled(self, factor: float) -> RadialPart:
        """The same measure times a positive factor."""


@final
@dataclass(frozen=True, eq=False)
class Atoms(RadialPart):
    """Finitely many radii with positive weights."""

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
        return omega(dim, np.multiply.outer(z, self.radii)) @ self.weights

    def cdf(self, r: Any) -> np.ndarray:
        below = np.concatenate([[0.0], np.cumsum(self.weights)])
        return below[np.searchsorted(self.radii, np.asarray(r), side="right")] / max(self.mass, np.finfo(float).tiny)

    def ppf(self, u: Any) -> np.ndarray:
        if not self.radii.size:
            raise ValueError("an empty part has no radii to draw; its mass is 0")
        edges = np.cumsum(self.weights) / self.mass
        index = np.searchsorted(edges, np.asarray(u, dtype=np.float64), side="left")
        return self.radii[np.minimum(index, self.radii.size - 1)]

    def scaled(self, factor: float) -> Atoms:
        return Atoms(self.radii, self.weights * factor)


NO_MASS = Atoms(np.empty(0), np.empty(0))


@final
@dataclass(frozen=True, eq=False)
class LawPart(RadialPart):
    """A known probability law times a mass, with its transform in closed form."""

    law: Law
    transform: Callable[[np.ndarray], np.ndarray]
    total: float = 1.0

    @property
    def mass(self) -> float:
        return self.total

    @property
    def second_moment(self) -> float:
        return self.total * self.law.second_moment

    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        return self.total * self.transform(np.asarray(z, dtype=np.float64))

    def cdf(self, r: Any) -> np.ndarray:
        return self.law.cdf(np.asarray(r, dtype=np.float64))

    def ppf(self, u: Any) -> np.ndarray:
        return self.law.ppf(np.asarray(u, dtype=np.float64))

    def scaled(self, factor: float) -> LawPart:
        return LawPart(self.law, self.transform, self.total * factor)


@final
@dataclass(frozen=True, eq=False)
class Density(RadialPart):
    """A density on panels between consecutive edges, zero on the panels not marked.

    Integrals are Gauss--Legendre on each panel. The distribution function is the cubic that matches value and slope at
    the edges of each panel, and `ppf` inverts that cubic, so the two are consistent to rounding.

    Parameters
    ----------
    function : callable
        The density at an array of radii; only its values on marked panels count, and they must be non-negative.
    edges : array of shape (n_panels + 1,)
        Increasing radii; the density should be smooth on each panel.
    marked : array of bool of shape (n_panels,), default=None
        Panels that carry mass; None means all.
    transform : callable, default=None
        ∫ Ω_d(rz) ρ(dr) as a function of z where it is known in closed form; otherwise it is integrated.
    """

    function: Callable[[np.ndarray], np.ndarray]
    edges: np.ndarray
    marked: np.ndarray | None = None
    transform: Callable[[np.ndarray], np.ndarray] | None = None
    factor: float = 1.0
    nodes: np.ndarray = field(init=False, repr=False)
    weights: np.ndarray = field(init=False, repr=False)
    _panels: tuple[np.ndarray, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        edges = np.array(self.edges, dtype=np.float64)
        keep = np.ones(edges.size - 1, dtype=bool) if self.marked is None else np.array(self.marked, dtype=bool)
        x, w = np.polynomial.legendre.leggauss(12)
        low, high = edges[:-1][keep], edges[1:][keep]
        half = (high - low) / 2
        nodes = (low + high)[:, None] / 2 + half[:, None] * x
        weights = np.maximum(self.function(nodes), 0.0) * (half[:, None] * w) * self.factor
        masses = weights.sum(axis=1)
        # Slopes of the distribution function at both ends of each panel, for the inverse.
        slopes = np.maximum(self.function(np.stack([low, high])), 0.0) * self.factor
        slopes = np.minimum(slopes, 3 * masses / (high - low))  # keeps the cubic monotone (Fritsch and Carlson)
        below = np.concatenate([[0.0], np.cumsum(masses)])
        values = {
            "edges": edges,
            "marked": keep,
            "nodes": nodes.ravel(),
            "weights": weights.ravel(),
        }
        for name, array in values.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_panels", (low, high, below, slopes[0], slopes[1]))

    @property
    def mass(self) -> float:
        return float(self._panels[2][-1])

    @property
    def second_moment(self) -> float:
        return float(self.weights @ self.nodes**2)

    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        if self.transform is not None:
            return self.factor * self.transform(z)
        flat, result = z.ravel(), np.empty(z.size)
        step = max(1, 2**20 // max(1, self.nodes.size))
        for start in range(0, flat.size, step):
            block = slice(start, start + step)
            result[block] = omega(dim, np.multiply.outer(flat[block], self.nodes)) @ self.weights
        return result.reshape(z.shape)

    def cdf(self, r: Any) -> np.ndarray:
        low, high, below, left, right = self._panels
        r = np.asarray(r, dtype=np.float64)
        index = np.clip(np.searchsorted(low, r, side="right") - 1, 0, low.size - 1)
        t = np.clip((r - low[index]) / (high - low)[index], 0.0, 1.0)
        return (
            below[index] + _hermite(t, np.diff(below)[index], (high - low)[index], left[index], right[index])
        ) / self.mass

    def ppf(self, u: Any) -> np.ndarray:
        low, high, below, left, right = self._panels
        target = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0) * self.mass
        index = np.clip(np.searchsorted(below, target, side="right") - 1, 0, low.size - 1)
        rise, width = np.diff(below)[index], (high - low)[index]
        goal = target - below[index]
        start, stop = np.zeros_like(goal), np.ones_like(goal)
        for _ in range(60):
            middle = 0.5 * (start + stop)
            under = _hermite(middle, rise, width, left[index], right[index]) < goal
            start, stop = np.where(under, middle, start), np.where(under, stop, middle)
        return low[index] + 0.5 * (start + stop) * width

    def scaled(self, factor: float) -> Density:
        return Density(self.function, self.edges, self.marked, self.transform, self.factor * factor)


def _hermite(t: Any, rise: Any, width: Any, left: Any, right: Any) -> Any:
    """Cubic on [0, 1] from 0 to `rise` with end slopes left·width and right·width."""
    return t * t * (3 - 2 * t) * rise + t * (1 - t) ** 2 * left * width - t * t * (1 - t) * right * width


@final
@dataclass(frozen=True, eq=False)
class Mixture(RadialPart):
    """A sum of parts."""

    parts: tuple[RadialPart, ...]

    @property
    def mass(self) -> float:
        return math.fsum(part.mass for part in self.parts)

    @property
    def second_moment(self) -> float:
        return math.fsum(part.second_moment for part in self.parts)

    def evaluate(self, z: Any, dim: int) -> np.ndarray:
        return np.sum([part.evaluate(z, dim) for part in self.parts], axis=0)

    def cdf(self, r: Any) -> np.ndarray:
        return np.sum([part.mass * part.cdf(r) for part in self.parts], axis=0) / self.mass

    def ppf(self, u: Any) -> np.ndarray:
        u = np.asarray(u, dtype=np.float64)
        bounds = [part.ppf(u) for part in self.parts]  # the mixture's quantile lies between those of its parts
        low, high = np.min(bounds, axis=0), np.max(bounds, axis=0)
        for _ in range(80):
            middle = 0.5 * (low + high)
            under = self.cdf(middle) < u
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return high

    def scaled(self, factor: float) -> Mixture:
        return Mixture(tuple(part.scaled(factor) for part in self.parts))


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
