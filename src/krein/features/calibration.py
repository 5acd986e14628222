r"""Signed weights refitted to the data: least squares on all pairs of a sample of rows.

With base columns :math:`b_c(x)` grouped into weights :math:`a_w` (a frequency's cosine and sine share one), the best
:math:`K \approx \sum_w a_w \sum_{c\in w} b_cb_c^T` over all :math:`m^2` pairs needs only the :math:`c\times c` matrix
:math:`B^TB`, because :math:`\langle b_cb_c^T, b_eb_e^T\rangle = (b_c\cdot b_e)^2`: m rows cost :math:`O(mc^2 + m^2c)` instead of
:math:`O(m^2c^2)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import linalg

from krein.features.feature_map import FeatureMap

__all__ = ["Calibration", "calibrate", "relative_error"]

Gram = Callable[..., np.ndarray]

RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


@final
@dataclass(frozen=True, eq=False)
class Calibration:
    """What a fit of weights gave.

    Parameters
    ----------
    feature_map : FeatureMap
        With the chosen weights.
    ridge : float
        Pull towards the unbiased weights, relative to the diagonal of the normal equations; ``inf`` if these were kept.
    error : float
        Relative error on the rows that chose the ridge.
    """

    feature_map: FeatureMap
    ridge: float
    error: float


def calibrate(unbiased: FeatureMap, fit_rows: np.ndarray, check_rows: np.ndarray, gram: Gram) -> Calibration:
    """Refit the weights of a map on one sample of rows, the ridge chosen on another; never worse there than unbiased.

    Parameters
    ----------
    unbiased : FeatureMap
        Without projection.
    fit_rows, check_rows : ndarray of shape (m, dim)
        Rows on the kernel's domain.
    gram : callable
        Exact kernel matrix of rows.
    """
    exact = gram(check_rows)
    best = Calibration(unbiased, np.inf, relative_error(unbiased, check_rows, exact))
    system = _NormalEquations.of(unbiased, fit_rows, gram(fit_rows))
    base = _base_map(unbiased)
    columns = base.columns(check_rows)
    for ridge in RIDGES:
        weights = system.solve(ridge)
        if weights is None:
            break
        spread = system.spread(weights)
        error = _relative((columns * spread) @ columns.T, exact)
        if error < best.error:
            h = unbiased.basis.n_columns
            chosen = replace(unbiased, head_weights=weights[:h], wave_weights=weights[h:])
            best = Calibration(chosen, ridge, error)
    return best


def relative_error(feature_map: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> float:
    """Relative Frobenius error of the map's kernel matrix on some rows."""
    features = np.empty((rows.shape[0], feature_map.n_outputs), dtype=rows.dtype)
    feature_map.write(rows, features)
    return _relative((features * feature_map.signature.astype(rows.dtype)) @ features.T, exact)


def _relative(estimate: np.ndarray, exact: np.ndarray) -> float:
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(estimate - exact)) / (size if size > 0 else 1.0)


def _base_map(unbiased: FeatureMap) -> FeatureMap:
    """The same columns with weight one."""
    return replace(
        unbiased,
        head_weights=np.ones(unbiased.basis.n_columns),
        wave_weights=np.ones(len(unbiased.frequencies)),
        padding=0,
    )


@dataclass(frozen=True, eq=False)
class _NormalEquations:
    matrix: np.ndarray
    target: np.ndarray
    prior: np.ndarray
    n_head: int

    @classmethod
    def of(cls, unbiased: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> _NormalEquations:
        columns = _base_map(unbiased).columns(rows)
        h, s = unbiased.basis.n_columns, len(unbiased.frequencies)
        squares = np.square(columns.T @ columns)
        linear = np.einsum("ij,ij->j", columns, exact @ columns)
        prior = np.concatenate([unbiased.head_weights, unbiased.wave_weights])
        return cls(_fold(_fold(squares, h, s).T, h, s), _fold(linear[:, None], h, s)[:, 0], prior, h)

    def solve(self, ridge: float) -> np.ndarray | None:
        diagonal = np.maximum(np.diagonal(self.matrix), 1e-12 * float(np.max(np.diagonal(self.matrix))))
        scale = 1.0 / np.sqrt(diagonal)
        system = self.matrix * scale * scale[:, None]
        system[np.diag_indices_from(system)] += ridge
        right = scale * (self.target - self.matrix @ self.prior)
        try:
            step = linalg.solve(system, right, assume_a="pos", check_finite=False)
        except (linalg.LinAlgError, np.linalg.LinAlgError):
            return None
        return self.prior + scale * step

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Weights of the groups, one per column."""
        waves = weights[self.n_head :]
        return np.concatenate([weights[: self.n_head], waves, waves])


def _fold(matrix: np.ndarray, h: int, s: int) -> np.ndarray:
    """Add the row of each sine to that of its cosine."""
    return np.concatenate([matrix[:h], matrix[h : h + s] + matrix[h + s : h + 2 * s]])
