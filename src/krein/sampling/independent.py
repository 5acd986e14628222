"""Frequencies drawn one by one: at random, from a low-discrepancy sequence, or by the density of the measure."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy import special

from krein._core.checks import param, positive_integer, positive_real
from krein._core.directions import independent_directions
from krein._core.rows import row_norms
from krein.kernels.laws import ChiLaw
from krein.measures import RadialPart, SignedMeasure
from krein.measures.error_prediction import allocate
from krein.sampling.sampler import Frequencies, Sampler, mass_up_to, paired, signed_weights

__all__ = ["Importance", "MonteCarlo", "QuasiMonteCarlo", "Rejection"]

_EDGE = 1e-12  # how near a Sobol point may come to 0 or 1, where quantiles are infinite
_LEAST_INSIDE = 1e-3  # of the mass: with less than this inside, the rejection sampler would estimate nothing
_NO_MASS = 1e-9  # of the mass: a part with less than this inside the interval gets no frequency
_SQUARES = 1e-290, 1e290  # second moments beyond, infinite ones among them, are no measure of a length
_PEAK_GRID = 4001  # points on which the height of a density is looked up


@final
@dataclass(frozen=True)
class MonteCarlo(Sampler):
    """Independent frequencies: radii by the inverse distribution function, uniform directions.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = allocate(measure, n, self.allocation)
        radii = [part.ppf(rng.random(count)) if count else np.empty(0) for part, count in paired(measure, counts)]
        vectors = independent_directions(n, measure.dim, rng) * np.concatenate(radii)[:, None]
        return Frequencies(vectors, signed_weights(measure, counts))


@final
@dataclass(frozen=True)
class QuasiMonteCarlo(Sampler):
    """A scrambled Sobol sequence in d + 1 dimensions: d for the direction, one for the radius.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        from scipy.stats import qmc  # a heavy import that only this sampler needs

        dim = measure.dim
        if dim + 1 > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"the Sobol sequence ends at dimension {qmc.Sobol.MAXDIM - 1}, got {dim}; use 'orthogonal'"
            )
        seed = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"  # renamed in SciPy 1.15
        counts = allocate(measure, n, self.allocation)
        vectors = []
        for (part, count), stream in zip(paired(measure, counts), rng.spawn(2), strict=True):
            if not count:
                continue
            engine = qmc.Sobol(dim + 1, **{seed: stream})
            points = np.clip(engine.random(1 << (count - 1).bit_length())[:count], _EDGE, 1 - _EDGE)
            normal = special.ndtri(points[:, :dim])
            radii = part.ppf(points[:, dim])
            vectors.append(normal / np.linalg.norm(normal, axis=1, keepdims=True) * radii[:, None])
        return Frequencies(np.concatenate(vectors), signed_weights(measure, counts))


@final
@dataclass(frozen=True)
class Rejection(Sampler):
    """Rejection sampling with uniform proposals of the radius: Section 5 of the paper as printed.

    The paper draws 10,000 proposals in [−10, 10] and keeps those under the curve; by symmetry these are radii in [0, 10]. Mass
    beyond the interval is lost, and if too few radii are accepted, they are drawn again with replacement.

    Parameters
    ----------
    proposals : int, default=10_000
    interval : float, default=10.0
        Half the width of the interval.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    needs_density: ClassVar[bool] = True

    proposals: int = param(10_000, positive_integer)
    interval: float = param(10.0, positive_real)

    @property
    def cut(self) -> float:
        return self.interval

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = self._counts_inside(measure, n)
        radii = np.concatenate([self._radii(part, count, rng) for part, count in paired(measure, counts)])
        weights = signed_weights(measure, counts, inside=self.interval)
        return Frequencies(independent_directions(n, measure.dim, rng) * radii[:, None], weights)

    def _counts_inside(self, measure: SignedMeasure, n: int) -> tuple[int, int]:
        """The allocation, except that a part without mass in the interval gets nothing."""
        inside = [mass_up_to(part, self.interval) for part in (measure.positive, measure.negative)]
        if sum(inside) < _LEAST_INSIDE * measure.mass:
            raise ValueError(
                f"only {sum(inside) / measure.mass:.2g} of the measure's mass lies at radii up to interval={self.interval:g}; use "
                "a larger interval or another sampler"
            )
        up, down = (mass > _NO_MASS * measure.mass for mass in inside)
        return allocate(measure, n, self.allocation) if up and down else (n * up, n * down)

    def _radii(self, part: RadialPart, count: int, rng: np.random.Generator) -> np.ndarray:
        if not count:
            return np.empty(0)
        proposal = rng.uniform(0.0, self.interval, self.proposals)
        height = part.density(proposal)
        peak = float(part.density(np.linspace(0.0, self.interval, _PEAK_GRID)).max())
        accepted = proposal[rng.random(self.proposals) * max(peak, float(height.max())) < height]
        if not accepted.size:
            raise ValueError(
                f"none of {self.proposals} proposals in [0, {self.interval:g}] was accepted: the measure has hardly any mass "
                "there; use a larger interval, more proposals or another sampler"
            )
        return rng.choice(accepted, count, replace=accepted.size < count)


@final
@dataclass(frozen=True)
class Importance(Sampler):
    r"""Gaussian frequencies for each part with weights :math:`\pm\rho_\pm(r)/q_\pm(r)`.

    Each part has its own Gaussian: one for both would be too narrow for the wider part, and its weights would not have a
    finite variance. The weights of a part with tails heavier than any Gaussian (Laplacian, Matérn, Cauchy) never have a finite
    variance; ``"monte_carlo"`` is the better choice for them.

    Parameters
    ----------
    scale : float or None, default=None
        Standard deviation of the Gaussians; None matches the second moment of each part.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    needs_density: ClassVar[bool] = True

    scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is not None:
            positive_real(self.scale, "scale")

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = allocate(measure, n, self.allocation)
        drawn = [
            self._draw(part, count, measure.dim, sign, rng)
            for sign, (part, count) in zip((1.0, -1.0), paired(measure, counts), strict=True)
            if count
        ]
        return Frequencies(np.concatenate([v for v, _ in drawn]), np.concatenate([w for _, w in drawn]))

    def _draw(
        self, part: RadialPart, count: int, dim: int, sign: float, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        scale = float(self.scale) if self.scale is not None else _matching_scale(part, dim)
        vectors = rng.standard_normal((count, dim)) * scale
        r = row_norms(vectors)
        return vectors, sign * part.density(r) / ChiLaw(dim, 1.0 / scale).pdf(r) / count


def _matching_scale(part: RadialPart, dim: int) -> float:
    moment = part.second_moment
    known = _SQUARES[0] < moment < _SQUARES[1]
    length = math.sqrt(moment / part.mass) if known else float(part.ppf(np.array(0.5)))
    return length / math.sqrt(dim)
