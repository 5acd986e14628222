"""Samplers: from a signed measure to frequencies with signed weights, each unbiased for the measure's tail."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.directions import independent_directions, orthogonal_directions
from krein._core.hadamard import hadamard_order, structured_rows
from krein.measures import Density, LawPart, Mixture, RadialPart, SignedMeasure
from krein.sampling.allocation import ALLOCATIONS, allocate
from krein.sampling.frequencies import Frequencies, Structure
from krein.sampling.sharing import sharing_helps

__all__ = [
    "Hadamard",
    "Importance",
    "MonteCarlo",
    "Orthogonal",
    "QuasiMonteCarlo",
    "Rejection",
    "Sampler",
]

_LEAST_INSIDE = 1e-3  # of the mass: with less than this inside, the rejection sampler would estimate nothing
_SIGNS = np.array([-1, 1], dtype=np.int8)


class Sampler(ABC):
    """Draws frequencies from a measure. `sample` checks, `_sample` draws."""

    @property
    def needs_density(self) -> bool:
        """Whether only measures with a density will do."""
        return False

    @property
    def orthogonal(self) -> bool:
        """Whether directions are orthogonal in blocks, which lowers the variance."""
        return False

    def sample(
        self,
        measure: SignedMeasure,
        n_frequencies: int,
        rng: np.random.Generator,
        *,
        allocation: str = "mass",
        rows: np.ndarray | None = None,
    ) -> Frequencies:
        """Draw frequencies.

        Parameters
        ----------
        measure : SignedMeasure
        n_frequencies : int
            At least one; two if the measure has two signs.
        rng : numpy.random.Generator
        allocation : {"mass", "neyman", "equal"}, default="mass"
            How frequencies are shared between the parts.
        rows : ndarray of shape (n_rows, dim), default=None
            Rows of the data, for samplers that look at them.

        Returns
        -------
        Frequencies
        """
        if not isinstance(n_frequencies, Integral) or isinstance(n_frequencies, bool) or n_frequencies < 0:
            raise ValueError(f"the number of frequencies must be an integer of at least 0, got {n_frequencies!r}")
        if allocation not in ALLOCATIONS:
            raise ValueError(f"allocation must be one of {', '.join(ALLOCATIONS)}, got {allocation!r}")
        n_frequencies = int(n_frequencies)
        if n_frequencies == 0 or measure.mass == 0.0:
            return Frequencies(np.zeros((n_frequencies, measure.dim)), np.zeros(n_frequencies))
        if self.needs_density and not (_has_density(measure.positive) and _has_density(measure.negative)):
            raise ValueError(
                f"{type(self).__name__} needs a measure with a density, and this one has atoms; build it with "
                "method='closed_form' or method='fourier' (with truncate=), or use another sampler"
            )
        return self._sample(measure, n_frequencies, rng, allocation, rows)

    @abstractmethod
    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies: ...


@final
@dataclass(frozen=True)
class MonteCarlo(Sampler):
    """Independent frequencies: radii by the inverse distribution function, uniform directions."""

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        counts = allocate(measure, n, allocation)
        radii = [part.ppf(rng.random(count)) if count else np.empty(0) for part, count in _parts(measure, counts)]
        return Frequencies(
            independent_directions(n, measure.dim, rng) * np.concatenate(radii)[:, None], _weights(measure, counts)
        )


@final
@dataclass(frozen=True)
class Orthogonal(Sampler):
    """Directions orthogonal in blocks, radii stratified: one from each of s slices of equal mass.

    Parameters
    ----------
    share : bool or "auto", default="auto"
        Give the j-th frequency of both parts the same direction. Where the parts overlap, their errors then cancel in the
        difference; ``"auto"`` does so where it lowers the predicted variance.
    """

    share: bool | str = "auto"

    @property
    def orthogonal(self) -> bool:
        return True

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        counts = allocate(measure, n, allocation)
        return Frequencies(
            *_stratified(measure, counts, orthogonal_directions, rng, share=_decide(self.share, measure, counts))
        )


@final
@dataclass(frozen=True)
class Hadamard(Sampler):
    r"""Structured orthogonal directions :math:`HD_3HD_2HD_1` applied by the fast Walsh--Hadamard transform.

    A transform costs O(d log d) per d frequencies instead of O(d²). Directions are orthogonal in blocks but only close to
    uniform: with the three random sign diagonals, :math:`E\cos(\omega\cdot\Delta)` differs from :math:`\Omega_d` by O(1/d)
    (Yu et al. 2016), so the estimate is unbiased only up to that. Radii are stratified and norms exact.

    References
    ----------
    .. [1] F. X. Yu et al. "Orthogonal random features". NeurIPS, 2016.
    """

    @property
    def orthogonal(self) -> bool:
        return True

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        counts = allocate(measure, n, allocation)
        radii = np.concatenate([_strata(part, count, rng) for part, count in _parts(measure, counts)])
        p = hadamard_order(measure.dim)
        signs = rng.choice(_SIGNS, size=(-(-n // p), 3, p))
        unit = structured_rows(signs, n, measure.dim)
        norms = np.linalg.norm(unit, axis=1)
        while (lost := np.unique(np.flatnonzero(norms < 1e-6) // p)).size:
            # In low dimension a row may lie wholly in the coordinates that are cut off, and has no direction left.
            signs[lost] = rng.choice(_SIGNS, size=(lost.size, 3, p))
            unit = structured_rows(signs, n, measure.dim)
            norms = np.linalg.norm(unit, axis=1)
        scale = radii / norms
        weights = _weights(measure, counts)
        return Frequencies(unit * scale[:, None], weights, Structure(signs, scale * _structure_scale(measure.dim, p)))


def _structure_scale(dim: int, p: int) -> float:
    """Radii as the fast transform takes them: it multiplies the rows by √(p/d) so that their mean square norm is 1."""
    return math.sqrt(dim / p)


@final
@dataclass(frozen=True)
class QuasiMonteCarlo(Sampler):
    """A scrambled Sobol sequence in d + 1 dimensions: d for the direction, one for the radius."""

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        from scipy.stats import qmc  # a heavy import that only this sampler needs

        dim = measure.dim
        if dim + 1 > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"the Sobol sequence ends at dimension {qmc.Sobol.MAXDIM - 1}, got {dim}; use 'orthogonal'"
            )
        counts = allocate(measure, n, allocation)
        vectors = []
        for (part, count), stream in zip(_parts(measure, counts), rng.spawn(2), strict=True):
            if not count:
                continue
            points = qmc.Sobol(dim + 1, **{_seed_name(qmc.Sobol): stream}).random(1 << (count - 1).bit_length())[:count]
            points = np.clip(points, 1e-12, 1 - 1e-12)
            normal = special.ndtri(points[:, :dim])
            radii = part.ppf(points[:, dim])
            vectors.append(normal / np.linalg.norm(normal, axis=1, keepdims=True) * radii[:, None])
        return Frequencies(np.concatenate(vectors), _weights(measure, counts))


@final
@dataclass(frozen=True)
class Rejection(Sampler):
    """Uniform proposals of the radius, accepted under the density: Section 5 of the paper as printed.

    The paper draws 10,000 proposals in [−10, 10] and keeps those under the curve; by symmetry radii in [0, 10]. Mass beyond
    the interval is lost, and when fewer radii are accepted than asked for they are drawn again with replacement.

    Parameters
    ----------
    proposals : int, default=10_000
    interval : float, default=10.0
        Half the width of the interval.
    """

    proposals: int = 10_000
    interval: float = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.proposals, Integral) or isinstance(self.proposals, bool) or self.proposals < 1:
            raise ValueError(f"proposals must be an integer of at least 1, got {self.proposals!r}")
        check_positive(self.interval, "interval")

    @property
    def needs_density(self) -> bool:
        return True

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        counts = self._counts(measure, n, allocation)
        radii = np.concatenate([self._radii(part, count, rng) for part, count in _parts(measure, counts)])
        weights = _weights(measure, counts, inside=self.interval)
        return Frequencies(independent_directions(n, measure.dim, rng) * radii[:, None], weights)

    def _counts(self, measure: SignedMeasure, n: int, allocation: str) -> tuple[int, int]:
        """The allocation, except that a part without mass in the interval gets nothing."""
        inside = [_mass_up_to(part, self.interval) for part in (measure.positive, measure.negative)]
        if sum(inside) < _LEAST_INSIDE * measure.mass:
            raise ValueError(
                f"only {sum(inside) / measure.mass:.2g} of the measure's mass lies at radii up to interval={self.interval:g}; use "
                "a larger interval or another sampler"
            )
        up, down = (mass > 1e-9 * measure.mass for mass in inside)
        return allocate(measure, n, allocation) if up and down else (n * up, n * down)

    def _radii(self, part: RadialPart, count: int, rng: np.random.Generator) -> np.ndarray:
        if not count:
            return np.empty(0)
        proposal = rng.uniform(0.0, self.interval, self.proposals)
        height = _density(part, proposal)
        peak = float(_density(part, np.linspace(0.0, self.interval, 4001)).max())
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

    Each part has a Gaussian of its own: one for both would be too narrow for the wider part, and its weights would have no
    finite variance. The weights of a part with tails heavier than any Gaussian (Laplacian, Matérn, Cauchy) have none anyhow;
    ``"monte_carlo"`` is the better choice there.

    Parameters
    ----------
    scale : float or None, default=None
        Standard deviation of the Gaussians; None matches the second moment of each part.
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            check_positive(self.scale, "scale")

    @property
    def needs_density(self) -> bool:
        return True

    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, allocation: str, rows: np.ndarray | None
    ) -> Frequencies:
        counts = allocate(measure, n, allocation)
        drawn = [
            self._draw(part, count, measure.dim, sign, rng)
            for sign, (part, count) in zip((1.0, -1.0), _parts(measure, counts), strict=True)
            if count
        ]
        return Frequencies(np.concatenate([v for v, _ in drawn]), np.concatenate([w for _, w in drawn]))

    def _draw(
        self, part: RadialPart, count: int, dim: int, sign: float, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        scale = float(self.scale) if self.scale is not None else _matching_scale(part, dim)
        vectors = rng.standard_normal((count, dim)) * scale
        r = np.linalg.norm(vectors, axis=1)
        return vectors, sign * _density(part, r) / gaussian_radius_density(r, scale, dim) / count


def gaussian_radius_density(r: np.ndarray, scale: float, dim: int) -> np.ndarray:
    """Density of the length of a Gaussian vector with independent entries of standard deviation `scale`."""
    x = r / scale
    log = special.xlogy(dim - 1, x) - x * x / 2 - (dim / 2 - 1) * math.log(2) - special.gammaln(dim / 2)
    return np.exp(log) / scale


def _matching_scale(part: RadialPart, dim: int) -> float:
    moment = part.second_moment
    length = math.sqrt(moment / part.mass) if math.isfinite(moment) else float(part.ppf(np.array(0.5)))
    return length / math.sqrt(dim)


def check_positive(value: Any, name: str) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")


def _seed_name(engine: Any) -> str:
    """SciPy renamed the parameter that takes a generator in 1.15."""
    return "rng" if "rng" in inspect.signature(engine).parameters else "seed"


def _parts(measure: SignedMeasure, counts: tuple[int, int]) -> list[tuple[RadialPart, int]]:
    return [(measure.positive, counts[0]), (measure.negative, counts[1])]


def _weights(measure: SignedMeasure, counts: tuple[int, int], inside: float = math.inf) -> np.ndarray:
    """±mass/count for each part, only the mass at radii up to `inside` counted."""
    weights = []
    for sign, (part, count) in zip((1.0, -1.0), _parts(measure, counts), strict=True):
        if count:
            weights.append(np.full(count, sign * _mass_up_to(part, inside) / count))
    return np.concatenate(weights)


def _mass_up_to(part: RadialPart, radius: float) -> float:
    if part.mass == 0.0 or math.isinf(radius):
        return part.mass
    return part.mass * float(part.cdf(np.array(radius)))


def _strata(part: RadialPart, count: int, rng: np.random.Generator) -> np.ndarray:
    """One radius from each of `count` slices of equal mass, ascending.

    Frequencies of one block then have nearly the same length, which takes up to half the variance off a random order: on a
    common sphere orthogonal directions are at their most complementary.
    """
    if not count:
        return np.empty(0)
    return part.ppf((np.arange(count) + rng.random(count)) / count)


def _stratified(
    measure: SignedMeasure, counts: tuple[int, int], directions: Any, rng: np.random.Generator, *, share: bool
) -> tuple[np.ndarray, np.ndarray]:
    if share:
        # Radii ascend, so that a direction has about the same quantile of both parts; the shorter one skips some directions.
        common = directions(max(counts), measure.dim, rng)
        vectors = []
        for part, count in _parts(measure, counts):
            at = ((np.arange(count) + 0.5) * (max(counts) / count)).astype(np.intp)
            vectors.append(common[at] * _strata(part, count, rng)[:, None])
        return np.concatenate(vectors), _weights(measure, counts)
    radii = np.concatenate([_strata(part, count, rng) for part, count in _parts(measure, counts)])
    return directions(radii.size, measure.dim, rng) * radii[:, None], _weights(measure, counts)


def _decide(share: bool | str, measure: SignedMeasure, counts: tuple[int, int]) -> bool:
    if share == "auto":
        return bool(min(counts)) and sharing_helps(measure)
    if not isinstance(share, bool):
        raise ValueError(f"share must be True, False or 'auto', got {share!r}")
    return share and bool(min(counts))


def _has_density(part: RadialPart) -> bool:
    if isinstance(part, Mixture):
        return all(_has_density(inner) for inner in part.parts)
    return isinstance(part, (Density, LawPart)) or part.mass == 0.0


def _density(part: RadialPart, r: np.ndarray) -> np.ndarray:
    """Density of a part at radii r, zero outside its panels."""
    if isinstance(part, Mixture):
        return np.sum([_density(inner, r) for inner in part.parts], axis=0)
    if isinstance(part, LawPart):
        return part.mass * part.law.pdf(r)
    if isinstance(part, Density):
        return part.density(r)
    return np.zeros_like(r)
