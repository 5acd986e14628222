"""The method as its text has it, and as the public code of one of its authors runs it: radii drawn on a line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.checks import one_of, positive_integer
from krein._core.directions import independent_directions, orthogonal_directions
from krein.baselines.base import BaselineMap
from krein.kernels import DeltaGaussian, Kernel, SphericalPolynomial
from krein.measures.harmonics import omega

__all__ = ["SCHEMES", "LineFeatures", "LineMeasure", "line_density", "line_measure", "suits"]

_GRID, _END = 20_000, 100.0  # of the public code
# Uniform points, and the interval around 0 that they are from: Section 5 of the text, by sampling scheme
_POOLS = {"fewer": (1_000, 10.0), "nearer": (10_000, 5.0)}
_POOL = 10_000, 10.0
SCHEMES = ("plain", "fewer", "nearer", "importance", "orthogonal")


def suits(kernel: Kernel) -> bool:
    """Whether the paper has a formula for the kernel's measure: the two kernels of its experiments."""
    return isinstance(kernel, SphericalPolynomial | DeltaGaussian)


def line_density(kernel: SphericalPolynomial, dim: int, radii: np.ndarray) -> np.ndarray:
    r"""The paper's :math:`\mu(\omega)` of a spherical polynomial, at a radius and not weighed by :math:`\omega^{d-1}`."""
    a, p, w = kernel.a, int(kernel.p), np.maximum(radii, 1e-3)  # where it is constant to six digits
    return np.asarray(
        sum(
            math.factorial(p)
            / math.factorial(p - i)
            * (1 - 4 / a**2) ** (p - i)
            * (2 / a**2) ** i
            * (2 / w) ** (dim / 2 + i)
            * special.jv(dim / 2 + i, 2 * w)
            for i in range(p + 1)
        )
    )


@dataclass(frozen=True, eq=False)
class LineMeasure:
    """The positive and the negative part of a density on radii, on a grid.

    Parameters
    ----------
    radii : ndarray of shape (n_points,)
    densities : ndarray of shape (2, n_points)
        Of the positive and of the negative part.
    masses : tuple of float
        Their integrals.
    """

    radii: np.ndarray
    densities: np.ndarray
    masses: tuple[float, float]

    def evaluate(self, dim: int, z: np.ndarray) -> np.ndarray:
        """The kernel that radii with this density and uniform directions give."""
        waves = omega(dim, np.multiply.outer(np.asarray(z, dtype=np.float64), self.radii))
        return np.asarray(np.trapezoid(waves * (self.densities[0] - self.densities[1]), self.radii))

    def from_grid(self, part: int, count: int, rng: np.random.Generator) -> np.ndarray:
        """Radii by the inverse of the sums over the grid, which is interpolated."""
        sums, first = np.unique(np.cumsum(self.densities[part]), return_index=True)
        return np.asarray(np.interp(rng.random(count), sums / sums[-1], self.radii[first], left=0.0))

    def by_rejection(
        self, part: int, count: int, rng: np.random.Generator, pool: tuple[int, float] = _POOL
    ) -> np.ndarray | None:
        """Radii among uniform points of [−10, 10], 10,000 at a time, kept with a chance in proportion to the density.

        None if the density is zero there, as that of the negative part is on [−5, 5] for letter.
        """
        size, end = pool
        height = self.densities[part][self.radii <= end].max()
        if not height:
            return None
        found = np.empty(0)
        while found.size < count:
            points = np.abs(rng.uniform(-end, end, size))
            kept = rng.random(size) * height < self._at(part, points)
            found = np.append(found, points[kept])
        return found[:count]

    def by_importance(self, part: int, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Radii from a Gaussian with the second moment of the density, and their weights, which average to its mass."""
        density, cut = self.densities[part], _POOL[1]
        inside = self.radii <= cut
        scale = float(np.sqrt(np.average(np.square(self.radii[inside]), weights=density[inside])))
        radii = np.abs(scale * rng.standard_normal(count))
        chance = np.sqrt(2 / np.pi) / scale * np.exp(-0.5 * np.square(radii / scale))
        return radii, np.where(radii <= cut, self._at(part, radii), 0.0) / chance

    def _at(self, part: int, points: np.ndarray) -> np.ndarray:
        return np.asarray(np.interp(points, self.radii, self.densities[part]))


@lru_cache(maxsize=16)
def line_measure(kernel: SphericalPolynomial, dim: int) -> LineMeasure:
    """The paper's measure, as a density on the line."""
    radii = np.linspace(0.0, _END, _GRID)
    density = line_density(kernel, dim, radii)
    parts = np.stack([np.maximum(density, 0.0), np.maximum(-density, 0.0)])
    positive, negative = (float(np.trapezoid(part, radii)) for part in parts)
    return LineMeasure(radii, parts, (positive, negative))


@final
class LineFeatures(BaselineMap):
    r"""Algorithm 1 with the paper's measure as a density of radii on the line.

    .. math:: \phi(x) = s^{-1/2}[\sqrt{m_\pm}\cos \omega^\pm_j \cdot x, \sqrt{m_\pm}\sin \omega^\pm_j \cdot x]_{j \le s}

    Parameters
    ----------
    kernel : SphericalPolynomial or DeltaGaussian
        Of the second the two parts are Gaussians of mass 1, in the text as in the code.
    n_components : int, default=512
        Number of output columns 4 s.
    arm : {"literal", "code"}, default="literal"
        ``"literal"``: masses are :math:`\int |\mu_\pm(\omega)|\,d\omega` as in Appendix C, radii by rejection as in Section 5.
        ``"code"``: masses are scaled to the sum 1, radii are drawn on a grid of 20,000 points of [0, 100].
    scheme : {"plain", "fewer", "nearer", "importance", "orthogonal"}, default="plain"
        Of Figure 4: 1,000 points for rejection, points of [−5, 5], radii from a Gaussian, orthogonal directions.
    random_state : int, RandomState instance or None, default=None
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 512,
        *,
        arm: str = "literal",
        scheme: str = "plain",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.arm = arm
        self.scheme = scheme
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return DeltaGaussian()

    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        pairs, rest = divmod(positive_integer(self.n_components, "n_components"), 4)
        if rest or not suits(kernel):
            raise ValueError(
                f"four columns a pair, and a SphericalPolynomial or DeltaGaussian, are needed, got "
                f"n_components={self.n_components} and {kernel!r}"
            )
        one_of(self.arm, "arm", ("literal", "code"))
        one_of(self.scheme, "scheme", SCHEMES)
        drawn = [self._part(kernel, number, X.shape[1], pairs, part) for number, part in enumerate(rng.spawn(2))]
        self._frequencies = np.concatenate([frequencies for frequencies, _ in drawn])
        self._amplitudes = np.sqrt(np.concatenate([weights for _, weights in drawn]) / max(pairs, 1))
        self.signature_ = np.repeat([1.0, -1.0], 2 * pairs)

    def _part(
        self, kernel: Kernel, part: int, dim: int, pairs: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies of one sign, and their weights."""
        if isinstance(kernel, DeltaGaussian):
            scale = (kernel.a, kernel.b)[part]
            return rng.standard_normal((pairs, dim)) / scale, np.ones(pairs)
        assert isinstance(kernel, SphericalPolynomial)
        measure = line_measure(kernel, dim)
        weights = np.full(pairs, measure.masses[part])
        if self.scheme == "importance":
            radii, weights = measure.by_importance(part, pairs, rng)
        elif self.arm == "literal":
            kept = measure.by_rejection(part, pairs, rng, _POOLS.get(self.scheme, _POOL))
            if kept is None:
                return np.zeros((pairs, dim)), np.zeros(pairs)
            radii = kept
        else:
            radii = measure.from_grid(part, pairs, rng)
        directions = orthogonal_directions if self.scheme == "orthogonal" else independent_directions
        total = sum(measure.masses) if self.arm == "code" else 1.0
        return radii[:, None] * directions(pairs, dim, rng), weights / total

    def _map(self, X: Any) -> np.ndarray:
        angles = X @ self._frequencies.T.astype(X.dtype)
        out = np.empty((X.shape[0], self.signature_.size), dtype=X.dtype)
        out[:, ::2] = np.cos(angles) * self._amplitudes
        out[:, 1::2] = np.sin(angles) * self._amplitudes
        return out
