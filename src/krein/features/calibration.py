r"""Signed weights refitted to the data: least squares on pairs of rows, one from a sample, one from a part of it.

With base columns :math:`b_c(x)` grouped into weights :math:`a_w` (a frequency's cosine and sine share one), the best
:math:`K \approx \sum_w a_w \sum_{c\in w} b_cb_c'^T` over all :math:`mp` pairs of m rows and p others needs only the
:math:`c\times c` matrices of inner products among columns, because
:math:`\langle b_cb_c'^T, b_eb_e'^T\rangle = (b_c\cdot b_e)(b_c'\cdot b_e')`: it costs :math:`O(mc^2 + mpc)` instead of
:math:`O(mpc^2)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads, n_threads, share
from krein.features.choice import first_nearly_best
from krein.features.feature_map import FeatureMap
from krein.measures import Head

__all__ = ["Calibration", "GOOD_ENOUGH", "Gram", "RIDGES", "calibrate", "held_out_gram", "relative_error"]

Gram = Callable[..., np.ndarray]

GOOD_ENOUGH = 1e-8  # relative error from which on nothing is to be gained
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)  # relative to the diagonal, the strongest first
_PARTNERS = (128, 1024)  # rows that all others are paired with: as many as weights, within these bounds
_JUDGES = 128  # rows that all held-out rows are paired with
_WORTH_THREADS = 200  # weights: smaller systems are solved before a thread has started
_SOLVE_BYTES = 1 << 28  # of matrices that are factorized at the same time
_LEAST_DIAGONAL = 1e-12  # of the largest: a column that is as good as zero on these rows


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
    """Refit the weights of a map on one sample of rows, the ridge chosen on another.

    On the sphere every head column gets a weight of its own. Off it the head's columns only work together, so its
    coefficients c_q are refitted instead. Candidates are the unbiased weights, then the ridges from the strongest to the
    weakest; `krein.features.choice` has the rule. The result is never worse on the check rows than the unbiased weights.

    Parameters
    ----------
    unbiased : FeatureMap
        Without projection.
    fit_rows, check_rows : ndarray of shape (m, dim)
        Placed rows.
    gram : callable
        ``gram(A, B)`` is the exact kernel matrix of placed rows.

    Returns
    -------
    Calibration
    """
    exact = held_out_gram(check_rows, gram)
    start = Calibration(unbiased, np.inf, relative_error(unbiased, check_rows, exact))
    n_weights = _prior(unbiased).size
    if start.error < GOOD_ENOUGH or not n_weights:
        return start
    partners = fit_rows[: int(np.clip(n_weights, *_PARTNERS))]
    system = _NormalEquations.of(unbiased, fit_rows, gram(fit_rows, partners))
    solutions: dict[float, np.ndarray] = {}

    def solve(ridge: float) -> None:
        weights = system.solve(ridge)
        if weights is not None:
            solutions[ridge] = weights

    # One ridge for each thread, as a factorization of this size gains nothing from several; and two copies of the matrix.
    at_once = min(n_threads(), max(1, _SOLVE_BYTES // (2 * system.matrix.nbytes)))
    share(solve, RIDGES, threads=at_once if n_weights >= _WORTH_THREADS else 1)
    candidates = [start]
    for ridge in (ridge for ridge in RIDGES if ridge in solutions):
        refitted = _with_weights(unbiased, solutions[ridge])
        candidates.append(Calibration(refitted, ridge, relative_error(refitted, check_rows, exact)))
    return candidates[first_nearly_best([candidate.error for candidate in candidates])]


def _prior(unbiased: FeatureMap) -> np.ndarray:
    """The unbiased weights, in the order of the normal equations."""
    head = unbiased.head_weights if unbiased.basis.sphere else np.asarray(unbiased.basis.coefficients)
    return np.concatenate([head, unbiased.wave_weights])


def _with_weights(unbiased: FeatureMap, weights: np.ndarray) -> FeatureMap:
    s = len(unbiased.frequencies)
    head, waves = weights[: weights.size - s], weights[weights.size - s :]
    if unbiased.basis.sphere:
        return replace(unbiased, head_weights=head, wave_weights=waves)
    basis = unbiased.basis.with_head(Head(tuple(head)))
    return replace(unbiased, basis=basis, head_weights=basis.weights, wave_weights=waves)


def held_out_gram(rows: np.ndarray, gram: Gram) -> np.ndarray:
    """Exact values to judge a map by: all rows with the first of them.

    Equal rows have the same share of these pairs as of all, so they cost a fraction and mean the same.

    Parameters
    ----------
    rows : ndarray of shape (m, dim)
        Placed rows.
    gram : callable

    Returns
    -------
    ndarray of shape (m, at most 128)
    """
    return gram(rows, rows[:_JUDGES])


def relative_error(feature_map: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> float:
    """Relative Frobenius error of the map's kernel matrix of some rows, or of its first columns, as many as `exact` has.

    Parameters
    ----------
    feature_map : FeatureMap
    rows : ndarray of shape (m, dim)
        Placed rows.
    exact : ndarray of shape (m, some)

    Returns
    -------
    float
    """
    features = np.empty((rows.shape[0], feature_map.n_outputs), dtype=rows.dtype)
    feature_map.write(rows, features)
    others = features[: exact.shape[1]] * feature_map.signature.astype(rows.dtype)
    return _relative(features @ others.T, exact)


def _relative(estimate: np.ndarray, exact: np.ndarray) -> float:
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(estimate - exact)) / (size if size > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class _NormalEquations:
    """``‖K − Σ_w a_w B_w‖² = ‖K‖² − 2 target·a + a·matrix·a``, and the weights to start from."""

    matrix: np.ndarray
    target: np.ndarray
    prior: np.ndarray

    @classmethod
    def of(cls, unbiased: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> _NormalEquations:
        """For pairs of a row and one of the first rows, as many as `exact` has columns."""
        s, basis = len(unbiased.frequencies), unbiased.basis
        base = replace(unbiased, head_weights=np.ones(basis.n_columns), wave_weights=np.ones(s), padding=0)
        columns = base.columns(rows)
        others = columns[: exact.shape[1]]
        h = basis.n_columns if basis.sphere else 0
        if not basis.sphere:  # the head's columns only work together, as powers of the distance
            columns, others = columns[:, basis.n_columns :], others[:, basis.n_columns :]
        with blas_threads(columns.size * columns.shape[1]):
            inner = columns.T @ columns
            inner *= inner if len(others) == len(columns) else others.T @ others
        matrix = _fold(_fold(inner, h, s).T, h, s)
        target = _bilinear(columns, exact, others, h, s)
        if not basis.sphere:
            powers = _distance_powers(rows, rows[: exact.shape[1]], basis.degree)
            mixed = np.array([_bilinear(columns, power, others, h, s) for power in powers]).reshape(len(powers), s)
            heads = np.array([[float(np.vdot(a, b)) for b in powers] for a in powers]).reshape(len(powers), len(powers))
            matrix = np.block([[heads, mixed], [mixed.T, matrix]])
            target = np.concatenate([[float(np.vdot(power, exact)) for power in powers], target])
        return cls(matrix, target, _prior(unbiased))

    def solve(self, ridge: float) -> np.ndarray | None:
        """The weights, or None where rounding leaves no positive definite matrix."""
        diagonal = np.diagonal(self.matrix)
        diagonal = np.maximum(diagonal, _LEAST_DIAGONAL * float(np.max(diagonal)))
        scale = 1.0 / np.sqrt(diagonal)
        system = self.matrix * scale * scale[:, None]
        system[np.diag_indices_from(system)] += ridge
        right = scale * (self.target - self.matrix @ self.prior)
        try:
            factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            step = linalg.cho_solve(factor, right, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(self.prior + scale * step)


def _distance_powers(rows: np.ndarray, partners: np.ndarray, degree: int) -> list[np.ndarray]:
    """The matrices z^{2q}, q = 0 … degree, of all pairs."""
    if degree < 0:
        return []
    origin = rows.mean(axis=0)
    left, right = rows - origin, partners - origin
    here, there = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    distance = np.maximum(here[:, None] + there - 2 * (left @ right.T), 0.0)
    return [distance**q for q in range(degree + 1)]


def _bilinear(columns: np.ndarray, matrix: np.ndarray, others: np.ndarray, h: int, s: int) -> np.ndarray:
    """⟨matrix, b_cb_c'ᵀ⟩ for each weight."""
    return _fold(np.einsum("ij,ij->j", columns, matrix @ others)[:, None], h, s)[:, 0]


def _fold(matrix: np.ndarray, h: int, s: int) -> np.ndarray:
    """Add the row of each sine to that of its cosine."""
    return np.concatenate([matrix[:h], matrix[h : h + s] + matrix[h + s : h + 2 * s]])
