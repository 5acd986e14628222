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
from krein.measures import Head

__all__ = ["Calibration", "calibrate", "relative_error"]

Gram = Callable[..., np.ndarray]

GOOD_ENOUGH = 1e-4  # little to be gained, and waves beside an exact head would be lost to models that want them
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

    On the sphere every head column gets a weight of its own. Off it the head's columns only work together, so its
    coefficients c_q are refitted instead.

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
    if best.error < GOOD_ENOUGH:
        return best
    system = _NormalEquations.of(unbiased, fit_rows, gram(fit_rows))
    for ridge in RIDGES:
        weights = system.solve(ridge)
        if weights is None:
            break
        candidate = _with_weights(unbiased, weights)
        error = relative_error(candidate, check_rows, exact)
        if error < best.error:
            best = Calibration(candidate, ridge, error)
    return best


def _with_weights(unbiased: FeatureMap, weights: np.ndarray) -> FeatureMap:
    s = len(unbiased.frequencies)
    head, waves = weights[: weights.size - s], weights[weights.size - s :]
    if unbiased.basis.sphere:
        return replace(unbiased, head_weights=head, wave_weights=waves)
    basis = unbiased.basis.with_head(Head(tuple(head)))
    return replace(unbiased, basis=basis, head_weights=basis.weights, wave_weights=waves)


def relative_error(feature_map: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> float:
    """Relative Frobenius error of the map's kernel matrix on some rows."""
    features = np.empty((rows.shape[0], feature_map.n_outputs), dtype=rows.dtype)
    feature_map.write(rows, features)
    return _relative((features * feature_map.signature.astype(rows.dtype)) @ features.T, exact)


def _relative(estimate: np.ndarray, exact: np.ndarray) -> float:
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(estimate - exact)) / (size if size > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class _NormalEquations:
    matrix: np.ndarray
    target: np.ndarray
    prior: np.ndarray

    @classmethod
    def of(cls, unbiased: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> _NormalEquations:
        s, basis = len(unbiased.frequencies), unbiased.basis
        base = replace(unbiased, head_weights=np.ones(basis.n_columns), wave_weights=np.ones(s), padding=0)
        columns = base.columns(rows)
        if basis.sphere:
            h = basis.n_columns
            squares = np.square(columns.T @ columns)
            linear = np.einsum("ij,ij->j", columns, exact @ columns)
            prior = np.concatenate([unbiased.head_weights, unbiased.wave_weights])
            return cls(_fold(_fold(squares, h, s).T, h, s), _fold(linear[:, None], h, s)[:, 0], prior)
        waves = columns[:, basis.n_columns :]
        powers = _distance_powers(rows, basis.degree)
        h = len(powers)
        inner = _fold(_fold(np.square(waves.T @ waves), 0, s).T, 0, s)
        mixed = np.stack([*(_quadratic(waves, power, s) for power in powers), _quadratic(waves, exact, s)])
        heads = np.array([[float(np.vdot(a, b)) for b in powers] for a in powers]).reshape(h, h)
        matrix = np.block([[heads, mixed[:h]], [mixed[:h].T, inner]])
        target = np.concatenate([[float(np.vdot(power, exact)) for power in powers], mixed[h]])
        return cls(matrix, target, np.concatenate([basis.coefficients, unbiased.wave_weights]))

    def solve(self, ridge: float) -> np.ndarray | None:
        if not self.prior.size:
            return None
        diagonal = np.maximum(np.diagonal(self.matrix), 1e-12 * float(np.max(np.diagonal(self.matrix))))
        scale = 1.0 / np.sqrt(diagonal)
        system = self.matrix * scale * scale[:, None]
        system[np.diag_indices_from(system)] += ridge
        right = scale * (self.target - self.matrix @ self.prior)
        try:
            factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            step = linalg.cho_solve(factor, right, check_finite=False)
        except (linalg.LinAlgError, np.linalg.LinAlgError):
            return None
        return self.prior + scale * step


def _distance_powers(rows: np.ndarray, degree: int) -> list[np.ndarray]:
    """The matrices z^{2q}, q = 0 … degree, of all pairs."""
    if degree < 0:
        return []
    centred = rows - rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", centred, centred)
    distance = np.maximum(squares[:, None] + squares - 2 * (centred @ centred.T), 0.0)
    return [distance**q for q in range(degree + 1)]


def _quadratic(waves: np.ndarray, matrix: np.ndarray, s: int) -> np.ndarray:
    """⟨matrix, b_cb_cᵀ⟩ for each frequency."""
    return _fold(np.einsum("ij,ij->j", waves, matrix @ waves)[:, None], 0, s)[:, 0]


def _fold(matrix: np.ndarray, h: int, s: int) -> np.ndarray:
    """Add the row of each sine to that of its cosine."""
    return np.concatenate([matrix[:h], matrix[h : h + s] + matrix[h + s : h + 2 * s]])
