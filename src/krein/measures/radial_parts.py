r"""Finite positive measures on radii :math:`[0, \infty)`: atoms, a classical law, and a density on panels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from krein._core.checks import positive_real
from krein.kernels.laws import RadiusLaw
from krein.measures.harmonics import omega

__all__ = ["NO_MASS", "Atoms", "Density", "LawPart", "RadialPart"]

_NODES = 12  # of the Gauss rule on each panel: exact to degree 23, so to rounding for what is smooth on a panel
# How far a density may be below zero, of the largest value, which rounding next to its sign changes explains
_BELOW_ZERO = -1e-6
_TABLE, _LOST = 400, 1e-9  # edges of a table of a law, and the fraction of the law left out at either end
_BLOCK = 2**20  # products of distances and nodes at a time, 8 MB
_HALVINGS = 60  # of an interval of 1 to below rounding


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
    def density(self, r: Any) -> np.ndarray:
        """Mass per unit of radius at radii r; 0 for atoms, which have none.

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

    def density(self, r: Any) -> np.ndarray:
        return np.zeros(np.shape(r))

    def ppf(self, u: Any) -> np.ndarray:
        index = np.searchsorted(self._steps(), np.asarray(u, dtype=np.float64), side="left")
        return self.radii[np.minimum(index, self.radii.size - 1)]

    def _steps(self) -> np.ndarray:
        if not self.radii.size:
            raise ValueError("an empty part has no radii to draw; its mass is 0")
        steps = np.cumsum(self.weights)
        return np.asarray(steps / steps[-1])

    def atoms(self) -> Atoms:
        return self


NO_MASS = Atoms(np.empty(0), np.empty(0))


@final
@dataclass(frozen=True, eq=False)
class LawPart(RadialPart):
    """A known probability law times a mass, with its transform in closed form.

    Parameters
    ----------
    law : RadiusLaw
        Probability law of the radius.
    transform : callable
        ∫ Ω_d(rz) of the law, as a function of z.
    total : float, default=1.0
        The mass.
    """

    law: RadiusLaw
    transform: Callable[[np.ndarray], np.ndarray]
    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", positive_real(self.total, "total"))

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

    def density(self, r: Any) -> np.ndarray:
        return self.total * self.law.pdf(np.asarray(r, dtype=np.float64))

    def ppf(self, u: Any) -> np.ndarray:
        return self.law.ppf(np.asarray(u, dtype=np.float64))

    def atoms(self) -> Atoms:
        low, high = (float(self.law.ppf(np.array(u))) for u in (_LOST, 1 - _LOST))
        edges = np.concatenate([[0.0], np.geomspace(max(low, 1e-12 * high), high, _TABLE)])
        return Density(self.density, edges).atoms()


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
    nodes: np.ndarray = field(init=False, repr=False)
    weights: np.ndarray = field(init=False, repr=False)
    _panels: tuple[np.ndarray, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        edges = np.array(self.edges, dtype=np.float64)
        if edges.ndim != 1 or edges.size < 2 or not np.isfinite(edges).all() or edges[0] < 0:
            raise ValueError(f"edges must be a vector of at least two finite radii ≥ 0, got shape {edges.shape}")
        if not (np.diff(edges) > 0).all():
            raise ValueError("edges must increase; sort them and drop those given twice")
        keep = np.ones(edges.size - 1, dtype=bool) if self.marked is None else np.array(self.marked, dtype=bool)
        if keep.shape != (edges.size - 1,) or not keep.any():
            raise ValueError(
                f"marked must pick some of the {edges.size - 1} panels between edges, got shape {keep.shape}"
            )
        x, w = np.polynomial.legendre.leggauss(_NODES)
        low, high = edges[:-1][keep], edges[1:][keep]
        half = (high - low) / 2
        nodes = (low + high)[:, None] / 2 + half[:, None] * x
        values = self.function(nodes)
        if not np.isfinite(values).all() or values.min() < _BELOW_ZERO * values.max():
            raise ValueError(
                "a density must be finite and non-negative on its marked panels; cut it at its sign changes and give the "
                "rest to the negative part"
            )
        weights = np.maximum(values, 0.0) * (half[:, None] * w)
        masses = weights.sum(axis=1)
        if not masses.sum() > 0.0:
            raise ValueError("this density has no mass; use no part at all instead")
        # Slopes of the distribution function at both ends of each panel, for the inverse.
        slopes = np.maximum(self.function(np.stack([low, high])), 0.0)
        slopes = np.minimum(slopes, 3 * masses / (high - low))  # keeps the cubic monotone (Fritsch and Carlson)
        below = np.concatenate([[0.0], np.cumsum(masses)])
        fields = {"edges": edges, "marked": keep, "nodes": nodes.ravel(), "weights": weights.ravel()}
        for name, array in fields.items():
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
            return self.transform(z)
        flat, result = z.ravel(), np.empty(z.size)
        step = max(1, _BLOCK // max(1, self.nodes.size))
        for start in range(0, flat.size, step):
            block = slice(start, start + step)
            result[block] = omega(dim, np.multiply.outer(flat[block], self.nodes)) @ self.weights
        return result.reshape(z.shape)

    def density(self, r: Any) -> np.ndarray:
        r = np.asarray(r, dtype=np.float64)
        index = np.searchsorted(self.edges, r, side="right") - 1
        inside = (index >= 0) & (index < self.edges.size - 1)
        inside &= np.asarray(self.marked)[np.clip(index, 0, self.edges.size - 2)]
        values = np.zeros_like(r)
        values[inside] = np.maximum(self.function(r[inside]), 0.0)
        return np.asarray(values)

    def cdf(self, r: Any) -> np.ndarray:
        low, high, below, left, right = self._panels
        r = np.asarray(r, dtype=np.float64)
        index = np.clip(np.searchsorted(low, r, side="right") - 1, 0, low.size - 1)
        t = np.clip((r - low[index]) / (high - low)[index], 0.0, 1.0)
        rise = _hermite(t, np.diff(below)[index], (high - low)[index], left[index], right[index])
        return np.asarray((below[index] + rise) / below[-1])

    def ppf(self, u: Any) -> np.ndarray:
        low, high, below, left, right = self._panels
        target = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0) * below[-1]
        index = np.clip(np.searchsorted(below, target, side="right") - 1, 0, low.size - 1)
        rise, width = np.diff(below)[index], (high - low)[index]
        goal = target - below[index]
        start, stop = np.zeros_like(goal), np.ones_like(goal)
        for _ in range(_HALVINGS):
            middle = 0.5 * (start + stop)
            under = _hermite(middle, rise, width, left[index], right[index]) < goal
            start, stop = np.where(under, middle, start), np.where(under, stop, middle)
        return np.asarray(low[index] + 0.5 * (start + stop) * width)

    def atoms(self) -> Atoms:
        filled = self.weights > 0
        return Atoms(self.nodes[filled], self.weights[filled])


def _hermite(t: Any, rise: Any, width: Any, left: Any, right: Any) -> Any:
    """Cubic on [0, 1] from 0 to `rise` with end slopes left·width and right·width."""
    return t * t * (3 - 2 * t) * rise + t * (1 - t) ** 2 * left * width - t * t * (1 - t) * right * width
