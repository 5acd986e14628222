"""The choice of λ among candidates, and the solution there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning

from krein._core.checks import one_of
from krein._core.errors import SingularSystemError
from krein.learning.path import Regularizer, RidgePath, ridge_path
from krein.learning.ridge_sums import RidgeSums
from krein.learning.selection import default_grid, gcv_scores, held_out_scores, loo_scores
from krein.learning.solve import NEARLY_SINGULAR, SINGULAR, clear_of_singularity, solve_definite
from krein.learning.sums import CenteredSums
from krein.rows.feature_blocks import Features
from krein.rows.targets import Targets

__all__ = ["RidgeOptions", "RidgeSolution", "best_candidate", "by_ratio", "check_lam", "solve_ridge", "with_ratios"]

_RATIOS = (1e-2, 1.0, 1e2)  # of λ₋ to λ₊ under "auto"
_LARGEST = 1e150  # λ: its square is still a number
_REGULARIZERS = ("hilbert", "two", "krein")
_SELECTIONS = ("loo", "validation", "gcv")
_MARGIN = 1e-3  # relative: scores that differ by less are equal, and the stronger λ is taken
# A squared error below this share of the targets' variance is rounding: solutions have nine digits, see `KreinRidge`.
_ROUNDING = 1e-18
_SAME_RATIO = 1e-9  # relative: quotients of λ that differ by less share a factorization


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

    def new_sums(
        self, targets: Targets, first: np.ndarray, width: int, *, shift: np.ndarray | None, n_rows: int | None = None
    ) -> RidgeSums:
        """Sums with nothing in them."""
        choose = self.candidates is None or len(self.candidates) > 1
        kept = self.loo_rows if choose and self.selection == "loo" else 0
        most = kept if n_rows is None else min(kept, n_rows)
        return RidgeSums(
            shift if self.intercept else np.zeros(width),
            targets.shift(first, intercept=self.intercept),
            targets.late_shift,
            kept_rows=kept,
            keep_features=shift is None and RidgeSums.features_fit(most, width),
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


def check_lam(lam: Any, regularizer: Any, selection: Any = "loo") -> np.ndarray | None:
    """Candidates for λ, checked."""
    one_of(regularizer, "regularizer", _REGULARIZERS)
    one_of(selection, "selection", _SELECTIONS)
    if isinstance(lam, str):
        one_of(lam, "lam", ("auto",), otherwise=", a positive number or several of them")
        return None
    try:
        values = np.array(lam, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"lam must be 'auto', a positive number or several of them, got {lam!r}") from error
    if not values.size or not (values <= _LARGEST).all() or (values <= 0.0).any():
        raise ValueError(
            f"lam must be positive and at most {_LARGEST:.0e}, got {lam!r}; for almost no regularization use a small number "
            "such as 1e-10"
        )
    if regularizer == "two":
        if values.ndim == 0:
            values = np.full(2, values)
        values = values.reshape(1, -1) if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(f"lam must be a pair (λ₊, λ₋) or a list of pairs for regularizer='two', got {lam!r}")
        return values
    if values.ndim > 1:
        raise ValueError(f"lam must be a number or a list of numbers for regularizer={regularizer!r}, got {lam!r}")
    return np.repeat(values.reshape(-1, 1), 2, axis=1)


def solve_ridge(sums: RidgeSums, targets: Targets, features: Features, options: RidgeOptions) -> RidgeSolution:
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


def with_ratios(grid: np.ndarray, regularizer: Regularizer) -> np.ndarray:
    """Candidates from values of λ₊: with λ₋ a hundredth of it, the same and a hundred times as much for ``"two"``."""
    ratios = _RATIOS if regularizer == "two" else (1.0,)
    return np.concatenate([np.stack([grid, ratio * grid], axis=1) for ratio in ratios])


def by_ratio(candidates: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Candidates of one ratio together, since they share a factorization."""
    logarithms = np.log(candidates[:, 1]) - np.log(candidates[:, 0])
    order = np.argsort(logarithms, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(logarithms[order]) > _SAME_RATIO) + 1):
        first = rows.min()
        yield float(candidates[first, 1] / candidates[first, 0]), np.sort(rows)


def _kept_rows(sums: RidgeSums, targets: Targets, features: Features) -> _KeptRows | None:
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
        scores[rows[[path.clearance(m) < NEARLY_SINGULAR for m in mu]]] = np.inf
        best = best_candidate(candidates, scores, _ROUNDING * variance)
        if best in rows:
            best_path, best_rows = path, rows
    # a late ratio may bring back a candidate of an earlier one, whose path is no longer there
    path_of_all = best_path if trained is whole and best in best_rows else None
    return _solve_one(whole, signature, options.regularizer, candidates, best, scores, path_of_all)


def best_candidate(lam: np.ndarray, scores: np.ndarray, rounding: float = 0.0) -> int:
    """The strongest regularization whose score is the best but for a thousandth; of equally strong ones the first.

    Where less regularization gains nothing, as when the features interpolate, it costs digits. The margin is far above the
    rounding of a score, so that the choice does not hang on the processor or on the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.ridge_choice import best_candidate
    >>> best_candidate(np.array([1e-3, 1e-2, 1e-1]), np.array([0.5, 0.5001, 0.9]))
    1
    """
    strength = lam if lam.ndim == 1 else lam[:, 0] * lam[:, 1]
    known = np.isfinite(scores)
    if not known.any() or np.isnan(rounding):  # nothing can be told: the strongest is the safe one
        return int(np.argmax(strength))
    good = np.flatnonzero(known & (scores <= scores[known].min() * (1.0 + _MARGIN) + rounding))
    # a product of two λ has an error in its last digit, which must not decide between equals
    strongest = good[strength[good] >= strength[good].max() * (1.0 - 1e-9)]
    return int(strongest[0])


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
        _check_clearance(path, plus, mu)
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


def _check_clearance(path: RidgePath, lam: float, mu: float) -> None:
    clearance = path.clearance(mu)
    if clearance >= NEARLY_SINGULAR:
        return
    better = lam * clear_of_singularity(path, mu) / mu
    where = (
        f"at lam={lam:.6g}: an eigenvalue of the kernel matrix equals -n*lam to a relative {clearance:.1e}; "
        f"lam={better:.6g} avoids it, and so does regularizer='hilbert'"
    )
    if clearance < SINGULAR:
        raise SingularSystemError(f"the Kreĭn system is singular {where}")
    warnings.warn(f"the Kreĭn system is nearly singular {where}", LinAlgWarning, stacklevel=2)
