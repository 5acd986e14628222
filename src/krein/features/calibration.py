r"""Signed weights refitted to the data: least squares on pairs of rows, the ridge chosen on other rows.

One row of a pair is from a sample, the other from a part of it.

With base columns :math:`b_c(x)` grouped into weights :math:`a_w` (a frequency's cosine and sine share one), the best
:math:`K \approx \sum_w a_w \sum_{c\in w} b_cb_c'^T` over all :math:`mp` pairs of m rows and p others needs only the
:math:`c\times c` matrices of inner products among columns, because
:math:`\langle b_cb_c'^T, b_eb_e'^T\rangle = (b_c\cdot b_e)(b_c'\cdot b_e')`: it costs :math:`O(mc^2 + mpc)` instead of
:math:`O(mpc^2)`. Off the sphere the head's columns only work together, and its weights are the coefficients of the powers
:math:`z^{2q}` of the distance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads, n_threads, share
from krein.features.feature_map import FeatureMap
from krein.features.head import head_basis
from krein.features.held_out import Gram, first_nearly_best, held_out_gram, relative_error, relative_to
from krein.measures import Head

__all__ = ["NormalEquations", "RowPairs", "own_weights", "Calibration", "GOOD_ENOUGH", "RIDGES", "calibrate"]

_LEAST_DIAGONAL = 1e-12  # of the largest: a column that is as good as zero on these rows
GOOD_ENOUGH = 1e-8  # relative error from which on nothing is to be gained
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)  # relative to the diagonal, the strongest first
_PARTNERS = (128, 1024)  # rows that all others are paired with: as many as weights, within these bounds
_WORTH_THREADS = 200  # weights: smaller systems are solved before a thread has started
_SOLVE_BYTES = 1 << 28  # of matrices that are factorized at the same time


def own_weights(feature_map: FeatureMap) -> np.ndarray:
    """The weights a map has, in the order of the normal equations: head or its coefficients, then waves."""
    basis = feature_map.basis
    head = feature_map.head_weights if basis.sphere else np.asarray(basis.coefficients)
    return np.concatenate([head, feature_map.wave_weights])


@final
@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs of a row and one of the first rows: their base columns, and the kernel to be approximated.

    Parameters
    ----------
    columns : ndarray of shape (m, n_head + 2 * n_waves)
        Base columns without weights; the head's on the sphere only.
    powers : list of ndarray of shape (m, p)
        Powers of the squared distance, off the sphere.
    n_waves : int
    exact : ndarray of shape (m, p)
    """

    columns: np.ndarray
    powers: list[np.ndarray]
    n_waves: int
    exact: np.ndarray

    @classmethod
    def of(cls, feature_map: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> Self:
        """The pairs of some rows with the first of them, as many as `exact` has columns."""
        s, basis = len(feature_map.frequencies), feature_map.basis
        base = replace(feature_map, head_weights=np.ones(basis.n_columns), wave_weights=np.ones(s), padding=0)
        columns = base.columns(rows)
        if basis.sphere:
            return cls(columns, [], s, exact)
        powers = _distance_powers(rows, rows[: exact.shape[1]], basis.degree)
        return cls(columns[:, basis.n_columns :], powers, s, exact)

    @property
    def others(self) -> np.ndarray:
        """Columns of the rows that all are paired with."""
        return self.columns[: self.exact.shape[1]]

    def estimate(self, weights: np.ndarray) -> np.ndarray:
        """The approximation that some weights give."""
        head = weights[len(self.powers) : weights.size - self.n_waves]
        of_columns = np.concatenate([head, np.tile(weights[weights.size - self.n_waves :], 2)])
        total = (self.columns * of_columns) @ self.others.T
        for weight, power in zip(weights, self.powers, strict=False):
            total += weight * power
        return np.asarray(total)

    def inner(self, matrix: np.ndarray) -> np.ndarray:
        """⟨matrix, b_cb_c'ᵀ⟩ for each weight that belongs to columns."""
        return self._fold(np.einsum("ij,ij->j", self.columns, matrix @ self.others)[:, None])[:, 0]

    def gram(self) -> np.ndarray:
        """Inner products among the rank-one matrices of all weights that belong to columns."""
        with blas_threads(self.columns.size * self.columns.shape[1]):
            inner = self.columns.T @ self.columns
            inner *= inner if len(self.others) == len(self.columns) else self.others.T @ self.others
        return self._fold(self._fold(inner).T)

    def _fold(self, matrix: np.ndarray) -> np.ndarray:
        """Add the row of each sine to that of its cosine."""
        s = self.n_waves
        h = matrix.shape[0] - 2 * s
        return np.concatenate([matrix[:h], matrix[h : h + s] + matrix[h + s :]])


@final
@dataclass(frozen=True, eq=False)
class NormalEquations:
    """``‖K − Σ_w a_w B_w‖² = ‖K‖² − 2 target·a + a·matrix·a``, and the weights to start from."""

    matrix: np.ndarray
    target: np.ndarray
    prior: np.ndarray

    @classmethod
    def of(cls, pairs: RowPairs, prior: np.ndarray) -> Self:
        """The equations of some pairs."""
        matrix, target, powers = pairs.gram(), pairs.inner(pairs.exact), pairs.powers
        if powers:
            mixed = np.array([pairs.inner(power) for power in powers])
            heads = np.array([[float(np.vdot(a, b)) for b in powers] for a in powers])
            matrix = np.block([[heads, mixed], [mixed.T, matrix]])
            target = np.concatenate([[float(np.vdot(power, pairs.exact)) for power in powers], target])
        return cls(matrix, target, prior)

    def solve(self, ridge: float) -> np.ndarray | None:
        """The weights with a pull towards the prior."""
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
    weakest; `krein.features.held_out` has the rule. The result is never worse on the check rows than the unbiased weights.
    """
    exact = held_out_gram(check_rows, gram)
    unbiased_error = relative_error(unbiased, check_rows, exact)
    n_weights = own_weights(unbiased).size
    if unbiased_error < GOOD_ENOUGH or not n_weights:
        return Calibration(unbiased, np.inf, unbiased_error)
    partners = fit_rows[: int(np.clip(n_weights, *_PARTNERS))]
    system = NormalEquations.of(RowPairs.of(unbiased, fit_rows, gram(fit_rows, partners)), own_weights(unbiased))
    check = RowPairs.of(unbiased, check_rows, exact)
    found: dict[float, tuple[np.ndarray, float]] = {}

    def solve(ridge: float) -> None:
        weights = system.solve(ridge)
        if weights is not None:
            found[ridge] = weights, relative_to(check.estimate(weights), exact)

    # One ridge for each thread, as a factorization of this size gains nothing from several; and two copies of the matrix.
    at_once = min(n_threads(), max(1, _SOLVE_BYTES // (2 * system.matrix.nbytes)))
    share(solve, RIDGES, threads=at_once if n_weights >= _WORTH_THREADS else 1)
    ridges = [ridge for ridge in RIDGES if ridge in found]
    chosen = first_nearly_best([unbiased_error, *(found[ridge][1] for ridge in ridges)])
    if chosen == 0:
        return Calibration(unbiased, np.inf, unbiased_error)
    weights, error = found[ridges[chosen - 1]]
    return Calibration(_with_weights(unbiased, weights), ridges[chosen - 1], error)


def _with_weights(unbiased: FeatureMap, weights: np.ndarray) -> FeatureMap:
    s = len(unbiased.frequencies)
    head, waves = weights[: weights.size - s], weights[weights.size - s :]
    if unbiased.basis.sphere:
        return replace(unbiased, head_weights=head, wave_weights=waves)
    old = unbiased.basis
    basis = head_basis(Head(tuple(head)), old.dim, sphere=False, center=old.center, scale=old.scale)
    return replace(unbiased, basis=basis, head_weights=basis.weights, wave_weights=waves)
