"""Kreĭn ridge on the whole kernel matrix: the choice of λ, and the solution there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads, quiet_blas
from krein.learning.folds import fold_scores
from krein.learning.leave_one_out import spectrum_scores
from krein.learning.limits import MARGINS
from krein.learning.path import DualProblem, Regularizer, check_clearance, clearance, dual_problem
from krein.learning.strengths import GRID, best_candidate, by_ratio, with_ratios

__all__ = ["ExactRidgeSolution", "fit_exact_ridge"]

_LEAST = 1e-300  # a smaller λ, and what is divided by it, are no longer numbers of full precision


@final
@dataclass(frozen=True, eq=False)
class ExactRidgeSolution:
    """Coefficients of the kernel's columns, and how λ was found.

    Parameters
    ----------
    dual : ndarray of shape (n_samples, n_targets)
    offset : ndarray of shape (n_targets,)
    lam : pair of float
        λ₊ and λ₋.
    """

    dual: np.ndarray
    offset: np.ndarray
    lam: tuple[float, float]


def fit_exact_ridge(
    gram: np.ndarray,
    targets: np.ndarray,
    *,
    regularizer: Regularizer,
    candidates: np.ndarray | None = None,
    intercept: bool = True,
    weight: np.ndarray | None = None,
) -> ExactRidgeSolution:
    r"""Choose among candidates and solve on all rows.

    Candidates are compared by leave-one-out for ``"krein"`` and by five-fold cross-validation for the others, because
    :math:`|K|` of all rows has seen the row that is left out.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[1.0, 2.0], [2.0, 1.0]])   # eigenvalues 3 and -1
    >>> one = np.array([[1e-9, 1e-9]])
    >>> found = fit_exact_ridge(K, np.array([[1.0], [-1.0]]), regularizer="hilbert", candidates=one, intercept=False)
    >>> (K @ found.dual).ravel().round(6)
    array([ 1., -1.])
    """
    with quiet_blas(), blas_threads(float(gram.shape[0]) ** 3):
        weight = np.ones(gram.shape[0]) if weight is None else weight
        return _fit(gram, targets, regularizer, candidates, intercept, weight)


def _fit(
    gram: np.ndarray,
    targets: np.ndarray,
    regularizer: Regularizer,
    candidates: np.ndarray | None,
    intercept: bool,
    weight: np.ndarray,
) -> ExactRidgeSolution:
    if candidates is None:
        candidates = _default_candidates(gram, regularizer)
    total = float(weight.sum())
    problem: DualProblem | None = None
    best = 0
    if regularizer == "krein":
        problem = dual_problem(gram, regularizer, center=intercept, weight=weight)
        if len(candidates) > 1:
            mu = total * candidates[:, 0]
            clear = np.array([clearance(problem.values, m) >= MARGINS.nearly_singular for m in mu])
            scores = np.full(mu.size, np.inf)
            scores[clear] = spectrum_scores(problem, targets, mu[clear])
            best = best_candidate(candidates, scores)
    elif len(candidates) > 1:
        best = best_candidate(candidates, _fold_scores(gram, targets, candidates, regularizer, intercept, weight))
    plus, minus = (float(v) for v in candidates[best])
    if problem is None:
        problem = dual_problem(gram, regularizer, minus / plus, center=intercept, weight=weight)
    else:
        way_out = "use another lam or regularizer='hilbert'"
        check_clearance(problem.values, total * plus, f"at lam={plus:.6g}", way_out)
    with np.errstate(over="ignore", invalid="ignore"):
        dual = problem.coefficients(targets, total * plus)
        offset = weight @ (targets - gram @ dual) / total if intercept else np.zeros(targets.shape[1])
    if not (np.isfinite(dual).all() and np.isfinite(offset).all()):
        raise ValueError(
            f"the coefficients for y, which reaches {np.abs(targets).max():.3g}, are too large for a float; divide y by that "
            "value, or use a larger lam"
        )
    return ExactRidgeSolution(dual, offset, (plus, minus))


def _default_candidates(gram: np.ndarray, regularizer: Regularizer) -> np.ndarray:
    # the trace of |K|, since that of K may vanish
    scale = float(np.abs(linalg.eigvalsh(gram, check_finite=False)).mean())
    if scale * GRID.min() < _LEAST:  # as good as zero, which any λ fits
        scale = 1.0
    return with_ratios(scale * GRID, regularizer)


def _fold_scores(
    gram: np.ndarray,
    targets: np.ndarray,
    candidates: np.ndarray,
    regularizer: Regularizer,
    intercept: bool,
    weight: np.ndarray,
) -> np.ndarray:
    """Scores of all candidates; those of one ratio share their decompositions."""
    scores = np.full(len(candidates), np.inf)
    for ratio, rows in by_ratio(candidates):
        lam = candidates[rows, 0]
        scores[rows] = fold_scores(gram, targets, lam, regularizer, ratio, center=intercept, weight=weight)
    return scores
