"""Signed weights refitted to the data: least squares on pairs of rows, the ridge chosen on other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.threads import n_threads, share
from krein.features.choice import first_nearly_best
from krein.features.feature_map import FeatureMap
from krein.features.held_out import Gram, held_out_gram, relative_error, relative_to
from krein.features.row_pairs import NormalEquations, RowPairs, own_weights
from krein.measures import Head

__all__ = ["Calibration", "GOOD_ENOUGH", "RIDGES", "calibrate"]

GOOD_ENOUGH = 1e-8  # relative error from which on nothing is to be gained
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)  # relative to the diagonal, the strongest first
_PARTNERS = (128, 1024)  # rows that all others are paired with: as many as weights, within these bounds
_WORTH_THREADS = 200  # weights: smaller systems are solved before a thread has started
_SOLVE_BYTES = 1 << 28  # of matrices that are factorized at the same time


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
    basis = unbiased.basis.with_head(Head(tuple(head)))
    return replace(unbiased, basis=basis, head_weights=basis.weights, wave_weights=waves)
