"""Frequencies in directions orthogonal in blocks, radii stratified; and those drawn from a pool of them by their leverage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, final

import numpy as np

from krein._core.checks import param, positive_integer, positive_real, truth_value, unless_auto
from krein._core.directions import hadamard_order, orthogonal_directions, structured_rows
from krein.measures import SignedMeasure, omega
from krein.measures.error_prediction import allocate
from krein.sampling.sampler import Frequencies, Sampler, Structure, paired, signed_weights, strata

__all__ = ["Hadamard", "Leverage", "Orthogonal", "shared_covariance", "sharing_helps"]

# Of cosines, at most 1: rounding decides the sign of less than this, and sharing gains nothing there
_NO_COVARIANCE = 1e-9
_SIGNS = np.array([-1, 1], dtype=np.int8)
_LOST = 1e-6  # length below which a unit vector has lost its direction with the coordinates that were cut off
_MAX_ROWS = 1000  # rows whose matrix is inverted: a fraction of a second
_FLOOR = 1e-3  # of the mean leverage, added to each, so that no weight can exceed 1000 times the mean


@final
@dataclass(frozen=True)
class Orthogonal(Sampler):
    """Directions orthogonal in blocks, radii stratified: one from each of s slices of equal mass.

    Parameters
    ----------
    share : bool or "auto", default="auto"
        Whether the j-th frequencies of both parts have the same direction. If the parts overlap, their errors then cancel in
        the difference. ``"auto"``: if that lowers the predicted variance.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    orthogonal: ClassVar[bool] = True

    share: bool | str = param("auto", partial(unless_auto, truth_value, otherwise=", True or False"))

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = allocate(measure, n, self.allocation)
        weights = signed_weights(measure, counts)
        if min(counts) and (sharing_helps(measure) if isinstance(self.share, str) else self.share):
            return Frequencies(_shared(measure, counts, rng), weights)
        radii = np.concatenate([strata(part, count, rng) for part, count in paired(measure, counts)])
        return Frequencies(orthogonal_directions(n, measure.dim, rng) * radii[:, None], weights)


def _shared(measure: SignedMeasure, counts: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Radii ascend, so that a direction has about the same quantile of both parts; the shorter one skips some directions."""
    common = orthogonal_directions(max(counts), measure.dim, rng)
    vectors = []
    for part, count in paired(measure, counts):
        at = ((np.arange(count) + 0.5) * (max(counts) / count)).astype(np.intp)
        vectors.append(common[at] * strata(part, count, rng)[:, None])
    return np.concatenate(vectors)


def shared_covariance(measure: SignedMeasure, z: np.ndarray, n_pairs: int = 32) -> np.ndarray:
    r"""Covariance of :math:`\cos(r_+\theta\cdot\Delta)` and :math:`\cos(r_-\theta\cdot\Delta)` for one random direction θ.

    .. math:: \tfrac12[\Omega_d((r_+ + r_-)z) + \Omega_d(|r_+ - r_-|z)] - \Omega_d(r_+z)\,\Omega_d(r_-z)

    averaged over radii paired by quantile, at distances z.
    """
    u = (np.arange(n_pairs) + 0.5) / n_pairs
    up, down = measure.positive.ppf(u), measure.negative.ppf(u)
    at = [omega(measure.dim, np.multiply.outer(z, r)) for r in (up + down, np.abs(up - down), up, down)]
    return np.asarray(np.mean((at[0] + at[1]) / 2 - at[2] * at[3], axis=1))


def sharing_helps(measure: SignedMeasure) -> bool:
    """True where the difference of the parts has less variance with shared directions: their covariance is positive."""
    if not (measure.positive.mass > 0 and measure.negative.mass > 0):
        return False
    typical = float(measure.positive.ppf(np.array(0.5)))
    radius = measure.radius if math.isfinite(measure.radius) else 2 * math.sqrt(measure.dim) / max(typical, 1e-300)
    return float(np.mean(shared_covariance(measure, np.linspace(0.0, radius, 33)))) > _NO_COVARIANCE


@final
@dataclass(frozen=True)
class Hadamard(Sampler):
    r"""Structured orthogonal directions :math:`HD_3HD_2HD_1` applied by the fast Walsh--Hadamard transform.

    A transform costs O(d log d) per d frequencies instead of O(d²). Directions are orthogonal in blocks but only close to
    uniform: with the three random sign diagonals, :math:`E\cos(\omega\cdot\Delta)` differs from :math:`\Omega_d` by O(1/d)
    (Yu et al. 2016), so the estimate is unbiased only up to that. Radii are stratified and norms exact.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.

    References
    ----------
    .. [1] F. X. Yu et al. "Orthogonal random features". NeurIPS, 2016.
    """

    orthogonal: ClassVar[bool] = True

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = allocate(measure, n, self.allocation)
        radii = np.concatenate([strata(part, count, rng) for part, count in paired(measure, counts)])
        p = hadamard_order(measure.dim)
        signs = rng.choice(_SIGNS, size=(-(-n // p), 3, p))
        unit = structured_rows(signs, n, measure.dim)
        norms = np.linalg.norm(unit, axis=1)
        while (lost := np.unique(np.flatnonzero(norms < _LOST) // p)).size:
            # In low dimension a row may lie wholly in the coordinates that are cut off, and has no direction left.
            signs[lost] = rng.choice(_SIGNS, size=(lost.size, 3, p))
            unit = structured_rows(signs, n, measure.dim)
            norms = np.linalg.norm(unit, axis=1)
        scale = radii / norms
        # The fast transform multiplies the rows by √(p/d), so that their mean square norm is 1.
        structure = Structure(signs, scale * math.sqrt(measure.dim / p))
        return Frequencies(unit * scale[:, None], signed_weights(measure, counts), structure)


@final
@dataclass(frozen=True)
class Leverage(Sampler):
    r"""Frequencies drawn from a pool in proportion to their ridge leverage on the data.

    A pool of ``pool`` times as many frequencies is drawn (orthogonally) from the measure, with features
    :math:`\Phi = [\sqrt{|a_j|}\cos, \sqrt{|a_j|}\sin]`. The leverage of a frequency is the sum over its two columns of the
    diagonal of :math:`\Phi^T\Phi(\Phi^T\Phi + n\lambda I)^{-1}`; frequencies are drawn from it with replacement and weighted
    by the inverse probability, so the estimate stays unbiased whatever the data.

    Parameters
    ----------
    ridge : float, default=1e-3
        λ, relative to the mean diagonal of the majorant kernel.
    pool : int, default=4
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies of the pool are divided between the parts.

    References
    ----------
    .. [1] H. Avron et al. "Random Fourier features for kernel ridge regression: approximation bounds and statistical
       guarantees". ICML, 2017.
    """

    ridge: float = param(1e-3, positive_real)
    pool: int = param(4, positive_integer)

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        if rows is None or not len(rows):
            raise ValueError(
                "the leverage sampler needs the data: pass rows, or use another sampler such as 'orthogonal'"
            )
        if rows.ndim != 2 or rows.shape[1] != measure.dim:
            raise ValueError(
                f"rows must have the {measure.dim} columns the measure is made for, got shape {rows.shape}"
            )
        pool_rng, choice_rng = rng.spawn(2)
        pool = Orthogonal(share=False, allocation=self.allocation).sample(measure, self.pool * n, pool_rng)
        probability = self._leverage(pool, np.asarray(rows[:_MAX_ROWS], dtype=np.float64), measure.mass)
        chosen = choice_rng.choice(len(pool), n, p=probability)
        return Frequencies(pool.vectors[chosen], pool.weights[chosen] / (n * probability[chosen]))

    def _leverage(self, pool: Frequencies, rows: np.ndarray, mass: float) -> np.ndarray:
        angles = rows @ pool.vectors.T
        size = np.sqrt(np.abs(pool.weights))
        features = np.concatenate([np.cos(angles) * size, np.sin(angles) * size], axis=1)
        ridge = rows.shape[0] * self.ridge * mass
        # diag ΦᵀΦ(ΦᵀΦ + nλ)⁻¹ = diag Φᵀ(ΦΦᵀ + nλ)⁻¹Φ: the smaller system of the two.
        gram = features @ features.T
        gram[np.diag_indices_from(gram)] += ridge
        scores = np.einsum("ij,ij->j", features, np.linalg.solve(gram, features))
        total = scores[: len(pool)] + scores[len(pool) :]
        total += _FLOOR * total.mean()
        return np.asarray(total / total.sum())
