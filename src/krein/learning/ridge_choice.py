"""The choice of λ among candidates, and the solution there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from krein.features import RowMap
from krein.learning.leave_one_out import loo_scores
from krein.learning.limits import MARGINS
from krein.learning.path import Regularizer, RidgePath, check_clearance, clearance, ridge_path
from krein.learning.ridge_sums import RidgeSums
from krein.learning.solve import solve_definite
from krein.learning.strengths import GRID, best_candidate, by_ratio, with_ratios
from krein.learning.sums import CenteredSums
from krein.rows.targets import Targets

__all__ = ["RidgeOptions", "RidgeSolution", "default_grid", "gcv_scores", "held_out_scores", "solve_ridge"]


@dataclass(frozen=True, eq=False)
class RidgeOptions:
    """What ridge problem to solve, and how to choose λ.

    Parameters
    ----------
    regularizer : {"hilbert", "two", "krein"}
    candidates : ndarray of shape (n_candidates, 2) or None
        (λ₊, λ₋) to choose from, None for the default grid; see `check_lam`.
    selection : {"loo", "validation", "gcv"}
    intercept : bool
    loo_rows : int
        Most rows whose leave-one-out residual is computed.
    validation_fraction : float
        Share of the rows to hold out for ``"validation"``.
    least : float, default=0.0
        Where the default grid begins, in units of the mean square length of a feature row.
    """

    regularizer: Regularizer
    candidates: np.ndarray | None
    selection: str
    intercept: bool
    loo_rows: int
    validation_fraction: float
    least: float = 0.0

    def new_sums(self, targets: Targets, width: int, *, n_rows: int | None, here: bool = True) -> RidgeSums:
        """Sums with nothing in them; `here`: they are made in one process, which may keep features beside them."""
        choose = self.candidates is None or len(self.candidates) > 1
        kept = self.loo_rows if choose and self.selection == "loo" else 0
        most = kept if n_rows is None else min(kept, n_rows)
        return RidgeSums(
            None if self.intercept else np.zeros(width),
            targets.shift(intercept=self.intercept),
            targets.late_shift,
            kept_rows=kept,
            keep_features=here and RidgeSums.features_fit(most, width),
            held_fraction=self.validation_fraction if choose and self.selection == "validation" else 0.0,
        )


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """A solution, and how its λ was found.

    Parameters
    ----------
    coefficients : ndarray of shape (n_components, n_targets)
    offset : ndarray of shape (n_targets,)
    lam : pair of float
        (λ₊, λ₋).
    candidates : ndarray of shape (n_candidates, 2)
    scores : ndarray of shape (n_candidates,) or None
    """

    coefficients: np.ndarray
    offset: np.ndarray
    lam: tuple[float, float]
    candidates: np.ndarray
    scores: np.ndarray | None


@dataclass(frozen=True, eq=False)
class _KeptRows:
    """Rows to leave out one by one: features, target columns and weights."""

    Z: np.ndarray
    Y: np.ndarray
    weight: np.ndarray


def solve_ridge(sums: RidgeSums, targets: Targets, features: RowMap, options: RidgeOptions) -> RidgeSolution:
    """Choose among the candidates and solve on all rows."""
    everything = sums.everything()
    if not everything.weight:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    targets.check_complete()
    whole = everything.centered(intercept=options.intercept)
    candidates = options.candidates
    if candidates is None:
        candidates = with_ratios(default_grid(whole, options.least), options.regularizer)
    if len(candidates) == 1:
        return _solve_one(whole, features.signature, options.regularizer, candidates, 0, None, None)
    return _choose(sums, whole, features.signature, options, candidates, _kept_rows(sums, targets, features))


def _kept_rows(sums: RidgeSums, targets: Targets, features: RowMap) -> _KeptRows | None:
    kept = sums.kept_features(features)
    if kept is None:
        return None
    Z, codes, weight = kept
    return _KeptRows(Z, targets.columns(codes), weight)


def _choose(
    sums: RidgeSums,
    whole: CenteredSums,
    signature: np.ndarray,
    options: RidgeOptions,
    candidates: np.ndarray,
    kept: _KeptRows | None,
) -> RidgeSolution:
    trained, held = whole, None
    if (options.selection == "loo" and kept is None) or (options.selection == "validation" and sums.held is None):
        raise ValueError(
            f"selection={options.selection!r} needs rows that were set aside from the first call on; fit a new model after a "
            "change of lam or selection"
        )
    if options.selection == "validation" and sums.held is not None:
        if not sums.train.weight or not sums.held.weight:
            raise ValueError(
                f"a validation fold of n_samples={sums.rows} leaves one side empty; use selection='loo' or more rows"
            )
        trained = sums.train.centered(intercept=options.intercept)
        held = sums.held.centered(intercept=options.intercept)
    scores = np.full(len(candidates), np.inf)
    variance = float(whole.square.sum()) / whole.weight
    best, best_path, best_rows = 0, None, np.empty(0, dtype=int)
    for ratio, rows in by_ratio(candidates):
        path = ridge_path(trained.gram, signature, options.regularizer, ratio)
        mu = trained.weight * candidates[rows, 0]
        if options.selection == "gcv":
            scores[rows] = gcv_scores(path, trained, mu)
        elif held is not None:
            solutions = [path.coefficients(trained.cross, m) for m in mu]
            scores[rows] = held_out_scores(solutions, trained, held)
        elif kept is not None:
            scores[rows] = loo_scores(path, trained, mu, kept.Z, kept.Y, kept.weight)
        scores[rows[[path.clearance(m) < MARGINS.nearly_singular for m in mu]]] = np.inf
        best = best_candidate(candidates, scores, MARGINS.rounding * variance)
        if best in rows:
            best_path, best_rows = path, rows
    # a late ratio may bring back a candidate of an earlier one, whose path is no longer there
    path_of_all = best_path if trained is whole and best in best_rows else None
    return _solve_one(whole, signature, options.regularizer, candidates, best, scores, path_of_all)


def _solve_one(
    sums: CenteredSums,
    signature: np.ndarray,
    regularizer: Regularizer,
    candidates: np.ndarray,
    best: int,
    scores: np.ndarray | None,
    path: RidgePath | None,
) -> RidgeSolution:
    plus, minus = (float(v) for v in candidates[best])
    mu = sums.weight * plus
    if regularizer == "krein":
        path = ridge_path(sums.gram, signature, "krein") if path is None else path
        if clearance(path.values, mu) < MARGINS.nearly_singular:
            better = plus * path.clear_of_singularity(mu) / mu
            way_out = f"lam={better:.6g} avoids it, and so does regularizer='hilbert'"
            check_clearance(path.values, mu, f"at lam={plus:.6g}", way_out)
    if path is not None:
        solution = path.coefficients(sums.cross, mu)
    else:
        penalty = sums.weight * np.where(signature > 0, plus, minus)
        try:
            solution = solve_definite(sums.gram, penalty, sums.cross)
        except LinAlgError:  # λ below rounding: the eigenvalues can be cut at zero, a Cholesky factor cannot
            solution = ridge_path(sums.gram, signature, regularizer, minus / plus).coefficients(sums.cross, mu)
    offset = sums.y_mean - sums.mean @ solution
    return RidgeSolution(solution, offset, (plus, minus), candidates, scores)


def default_grid(sums: CenteredSums, least: float = 0.0) -> np.ndarray:
    """λ in units of the mean square length of a (centered) feature row, from the least that is wanted on."""
    scale = float(np.trace(sums.gram)) / sums.weight
    return GRID[least <= GRID] * (scale if scale > 0.0 else 1.0)


def gcv_scores(path: RidgePath, sums: CenteredSums, mu: np.ndarray) -> np.ndarray:
    r"""Generalized cross-validation :math:`\frac{\mathrm{RSS}/W}{(1 - \mathrm{tr} H / n)^2}` from the sums alone.

    Infinity where the fit has as many degrees of freedom as there are rows.
    """
    mu = np.atleast_1d(mu)
    shrink = path.gain / (path.values + mu[:, None])
    power = np.square(path.basis.T @ sums.cross).sum(axis=1)
    square = sums.square.sum()
    # a difference of nearly equal numbers where the fit is nearly perfect: below this it is rounding
    rss = np.maximum(square - (2.0 * shrink - shrink**2 * path.energy) @ power, 1e-12 * square)
    free = 1.0 - (path.degrees_of_freedom(mu) + float(sums.intercept)) / sums.effective_rows
    scores = np.full(mu.size, np.inf)
    known = free > MARGINS.freedom_of_sums
    scores[known] = rss[known] / sums.weight / free[known] ** 2
    return scores


def held_out_scores(coefficients: list[np.ndarray], trained: CenteredSums, held: CenteredSums) -> np.ndarray:
    """Mean squared error of each solution on held-out rows, from the sums of those rows alone."""
    scores = []
    for w in coefficients:
        offset = held.y_mean - trained.y_mean - (held.mean - trained.mean) @ w
        spread = held.square - 2.0 * np.einsum("ij,ij->j", w, held.cross) + np.einsum("ij,ij->j", w, held.gram @ w)
        # below zero by rounding only; a NaN, of squares beyond what a float can hold, stays one
        scores.append(max(float((spread / held.weight + offset**2).sum()), 0.0))
    return np.array(scores)
