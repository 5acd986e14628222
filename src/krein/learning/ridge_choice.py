"""The choice of λ among candidates, and the solution there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning

from krein.learning import (
    CentredSums,
    Regularizer,
    RidgePath,
    SingularSystemError,
    default_grid,
    gcv_scores,
    held_out_scores,
    loo_scores,
    ridge_path,
    solve_definite,
)
from krein.learning.ledger import RidgeLedger
from krein.learning.solve import NEARLY_SINGULAR, SINGULAR, clear_of_singularity

__all__ = ["KeptRows", "RidgeSolution", "best_candidate", "check_lam", "solve_ridge"]

_RATIOS = (1e-2, 1.0, 1e2)  # of λ₋ to λ₊ under "auto"
_SELECTIONS = ("loo", "validation", "gcv")


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows to leave out one by one: features, target columns, weights, and for labels the column of each row's class."""

    Z: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    classes: np.ndarray | None


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """Coefficients (n_components, n_targets), offsets (n_targets,), and how λ was found."""

    coefficients: np.ndarray
    offset: np.ndarray
    lam: tuple[float, float]
    candidates: np.ndarray
    scores: np.ndarray | None


def check_lam(lam: Any, regularizer: Any, selection: Any) -> np.ndarray | None:
    """Candidates as an array of shape (n_candidates, 2) of (λ₊, λ₋), or None for the default grid."""
    if regularizer not in ("hilbert", "two", "krein"):
        raise ValueError(f"regularizer must be 'hilbert', 'two' or 'krein', got {regularizer!r}")
    if selection not in _SELECTIONS:
        raise ValueError(f"selection must be one of {', '.join(map(repr, _SELECTIONS))}, got {selection!r}")
    if isinstance(lam, str):
        if lam != "auto":
            raise ValueError(f"lam must be 'auto', a positive number or several of them, got {lam!r}")
        return None
    try:
        values = np.array(lam, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"lam must be 'auto', a positive number or several of them, got {lam!r}") from error
    if not values.size or not np.isfinite(values).all() or (values <= 0.0).any():
        raise ValueError(
            f"lam must be positive and finite, got {lam!r}; the regulariser {regularizer!r} is not one otherwise, "
            "use a small number such as 1e-10 for next to no regularisation"
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


def solve_ridge(
    ledger: RidgeLedger,
    signature: np.ndarray,
    *,
    regularizer: Regularizer,
    candidates: np.ndarray | None,
    selection: str,
    intercept: bool,
    kept: KeptRows | None,
) -> RidgeSolution:
    """Choose among the candidates and solve on all rows of the ledger.

    Parameters
    ----------
    ledger : RidgeLedger
    signature : ndarray of shape (n_components,)
    regularizer : {"hilbert", "two", "krein"}
    candidates : ndarray of shape (n_candidates, 2) or None
        From `check_lam`.
    selection : {"loo", "validation", "gcv"}
    intercept : bool
    kept : KeptRows or None
        For ``"loo"``.
    """
    whole = ledger.everything().centred(intercept=intercept)
    if candidates is None:
        grid = default_grid(whole)
        ratios = _RATIOS if regularizer == "two" else (1.0,)
        candidates = np.concatenate([np.stack([grid, ratio * grid], axis=1) for ratio in ratios])
    if len(candidates) == 1:
        return _solve_one(whole, signature, regularizer, candidates, 0, None, None)
    trained = whole
    if selection == "validation" and ledger.held is not None:
        if not ledger.train.weight or not ledger.held.weight:
            raise ValueError(
                f"a validation fold of n_samples={ledger.rows} leaves nothing on one side; use selection='loo' or more rows"
            )
        trained = ledger.train.centred(intercept=intercept)
        held = ledger.held.centred(intercept=intercept)
    scores = np.full(len(candidates), np.inf)
    ratios = candidates[:, 1] / candidates[:, 0]
    best, best_path = 0, None
    for ratio in np.unique(ratios.round(12)):
        rows = np.flatnonzero(np.abs(ratios - ratio) <= 1e-9 * ratio)
        path = ridge_path(trained.gram, signature, regularizer, float(ratio))
        mu = trained.weight * candidates[rows, 0]
        if selection == "gcv":
            scores[rows] = gcv_scores(path, trained, mu)
        elif selection == "validation":
            solutions = [path.coefficients(trained.cross, m) for m in mu]
            scores[rows] = held_out_scores(solutions, trained, held)
        elif kept is not None:
            scores[rows] = loo_scores(path, trained, mu, kept.Z, kept.Y, kept.weight, kept.classes)
        scores[rows[[path.clearance(m) < NEARLY_SINGULAR for m in mu]]] = np.inf
        best = best_candidate(candidates[:, 0], scores)
        best_path = path if best in rows else best_path
    return _solve_one(whole, signature, regularizer, candidates, best, scores, best_path if trained is whole else None)


def best_candidate(lam: np.ndarray, scores: np.ndarray) -> int:
    """The strongest regularisation whose score is the best but for a thousandth.

    Where less regularisation gains nothing, as when the features interpolate, it costs digits.
    """
    known = np.isfinite(scores)
    if not known.any():  # nothing can be told: the strongest is the safe one
        return int(np.argmax(lam))
    good = np.flatnonzero(known & (scores <= scores[known].min() * (1.0 + 1e-3)))
    return int(good[np.argmax(lam[good])])


def _solve_one(
    sums: CentredSums,
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
