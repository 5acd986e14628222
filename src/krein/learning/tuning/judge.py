"""How good a kernel is on some rows, for every λ: leave-one-out where it is honest, folds where it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads, quiet_blas
from krein.learning.dual import dual_problem, fold_scores
from krein.learning.path import Regularizer
from krein.learning.ridge_choice import best_candidate
from krein.learning.tuning.merged_rows import MergedRows

__all__ = ["Judgement", "judge", "judge_near"]

# λ in units of the mean of the centered kernel's diagonal: down to where 4,000 rows are interpolated, one a decade
_GRID = np.geomspace(1e-10, 10.0, 12)
_ROUNDING = 1e-18  # of the targets' variance: a squared error below is rounding
_NEGATIVE = 1e-8  # of the largest eigenvalue: a negative one beyond it is no rounding
_LEFT_OUT = 1000  # rows whose leave-one-out residual is computed beside a Cholesky factor


@dataclass(frozen=True, eq=False)
class Judgement:
    """Errors along a path of λ.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        Per unit of weight.
    errors : ndarray of shape (n_lams,)
        Mean squared errors in units of that of a constant; infinity where nothing can be said.
    indefinite : bool
        Whether the kernel matrix has negative eigenvalues beyond rounding.
    n_rows : int
        Distinct rows judged on.
    """

    lams: np.ndarray
    errors: np.ndarray
    indefinite: bool
    n_rows: int

    @property
    def best(self) -> int:
        """The strongest λ that is nearly best."""
        return best_candidate(self.lams, self.errors, _ROUNDING)

    @property
    def lam(self) -> float:
        """The λ of the best."""
        return float(self.lams[self.best])

    @property
    def error(self) -> float:
        """The error there."""
        return float(self.errors[self.best])


def judge(
    gram: np.ndarray,
    rows: MergedRows,
    lams: np.ndarray | None = None,
    *,
    regularizer: Regularizer = "hilbert",
    intercept: bool = True,
) -> Judgement:
    r"""Errors of ridge with a kernel for a path of λ, from eigendecompositions.

    One eigendecomposition gives exact leave-one-out errors for all λ where the matrix has no negative eigenvalues, or where
    K itself regularizes (``"krein"``). Otherwise :math:`|K|` of all rows has seen the row that is left out, and five
    folds are held out instead.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
    rows : MergedRows
    lams : ndarray of shape (n_lams,), default=None
        None: one a decade from :math:`10^{-10}` to 10 times the mean of the centered matrix's diagonal.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
    intercept : bool, default=True

    Returns
    -------
    Judgement
    """
    if lams is None:
        lams = _GRID * _size(gram, rows.weight, intercept=intercept)
    problem = dual_problem(gram, "krein", center=intercept, weight=rows.weight)
    values = problem.values
    indefinite = bool(values.size and values.min() < -_NEGATIVE * np.abs(values).max())
    if indefinite and regularizer != "krein":
        errors = fold_scores(gram, rows.Y, lams, "hilbert", center=intercept, weight=rows.weight)
        errors = errors + float(rows.scatter.sum()) / rows.total
    else:
        errors = problem.loo_scores(rows.Y, rows.total * lams, rows.left_out, rows.scatter.sum(axis=1))
    return Judgement(lams, _relative(errors, rows), indefinite, len(rows))


def judge_near(
    gram: np.ndarray, rows: MergedRows, lams: np.ndarray, *, intercept: bool = True, left_out: int = _LEFT_OUT
) -> Judgement:
    r"""Leave-one-out errors for a few λ, each from one Cholesky factorization, for a matrix without negative eigenvalues.

    The residuals of the last rows come with the factor: :math:`(M^{-1})_{bb} = L_{bb}^{-T} L_{bb}^{-1}` for the trailing block b.
    Their mean estimates that over all rows, at a cost that hardly exceeds that of the factor.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
    rows : MergedRows
    lams : ndarray of shape (n_lams,)
    intercept : bool, default=True
    left_out : int, default=1000
        Most rows to leave out.

    Returns
    -------
    Judgement
        With infinity where the matrix is not positive definite at a λ.
    """
    root = np.sqrt(rows.weight)[:, None]
    scaled = gram * (root * root.T)
    right = np.hstack([root * rows.Y, root])
    tail = slice(max(0, len(rows) - left_out), len(rows))
    share = rows.left_out[tail] / rows.weight[tail]
    errors = np.full(lams.size, np.inf)
    for i, mu in enumerate(rows.total * lams):
        system = scaled.copy()
        system[np.diag_indices_from(system)] += mu
        try:
            with quiet_blas(), blas_threads(float(len(rows)) ** 3 / 3.0):
                factor = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        solved = linalg.cho_solve((factor, True), right, check_finite=False)
        inverse = linalg.solve_triangular(factor[tail, tail], np.eye(tail.stop - tail.start), lower=True)
        diagonal = np.square(inverse).sum(axis=0)
        beta, ones = solved[:, :-1], solved[:, -1]
        if intercept:
            beta = beta - np.multiply.outer(ones, root[:, 0] @ beta / (root[:, 0] @ ones))
            diagonal = diagonal - np.square(ones[tail]) / (root[:, 0] @ ones)
        free = (1.0 - share) + share * (mu * diagonal)
        squared = np.square(mu * beta[tail]).sum(axis=1) + rows.scatter[tail].sum(axis=1)
        errors[i] = float((squared / np.square(free)).sum() / rows.weight[tail].sum())
    return Judgement(lams, _relative(errors, rows), False, len(rows))


def _size(gram: np.ndarray, weight: np.ndarray, *, intercept: bool) -> float:
    """Mean of the diagonal, centered if there is an intercept; that of a matrix with zero diagonal is its mean size."""
    share = weight / weight.sum()
    size = float(share @ np.diagonal(gram)) - (float(share @ gram @ share) if intercept else 0.0)
    return size if size > 0.0 else float(np.abs(gram).mean()) or 1.0


def _relative(errors: np.ndarray, rows: MergedRows) -> np.ndarray:
    return errors / max(rows.variance, np.finfo(np.float64).tiny)
