"""Ridge-leverage importance sampling of frequencies (Avron et al. 2017), for signed measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.checks import param, positive_integer, positive_real
from krein.measures import SignedMeasure
from krein.sampling.orthogonal import Orthogonal
from krein.sampling.sampler import Frequencies, Sampler

__all__ = ["Leverage"]

_MAX_ROWS = 1000  # rows whose matrix is inverted: a fraction of a second
_FLOOR = 1e-3  # of the mean leverage, added to each, so that no weight can exceed 1000 times the mean


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
