"""Errors of a kernel on some rows, for every λ: by leave-one-out where it is unbiased, by folds where it is optimistic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads, quiet_blas
from krein.learning.dual import dual_problem, fold_scores
from krein.learning.path import Regularizer, ridge_path
from krein.learning.ridge_choice import best_candidate
from krein.learning.solve import NEARLY_SINGULAR
from krein.nystroem.spectrum import signed_root, signed_spectrum
from krein.rows.equal import MergedRows

__all__ = ["PathErrors", "path_errors", "path_errors_at", "path_errors_near", "path_errors_of_sections"]

# λ in units of the mean of the centered kernel's diagonal: down to where 4,000 rows are interpolated, one a decade
_GRID = np.geomspace(1e-10, 10.0, 12)
_ROUNDING = 1e-18  # of the targets' variance: a squared error below is rounding
_NEGATIVE = 1e-8  # of the largest eigenvalue: a negative one beyond it is no rounding
_LEFT_OUT = 1000  # rows whose leave-one-out residual is computed beside a Cholesky factor
_STEP = 10.0**0.5  # from one λ to the next
_MOST_STEPS = 6  # factorizations of a walk
_WORTH_A_STEP = 1e-4  # relative: where the error falls by less, rounding must not lead the way
_LEAST_FREEDOM = 1e-12  # 1 − leverage below this has no digits left


@dataclass(frozen=True, eq=False)
class PathErrors:
    """Errors along a path of λ.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        Per unit of weight.
    errors : ndarray of shape (n_lams,)
        Mean squared errors relative to that of a constant; infinity if it cannot be computed.
    indefinite : bool
        Whether the kernel matrix has negative eigenvalues beyond rounding.
    n_rows : int
        Number of distinct rows scored on.
    criterion : {"leave-one-out", "folds"}, default="leave-one-out"
    """

    lams: np.ndarray
    errors: np.ndarray
    indefinite: bool
    n_rows: int
    criterion: str = "leave-one-out"

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


def path_errors(
    gram: np.ndarray,
    rows: MergedRows,
    lams: np.ndarray | None = None,
    *,
    regularizer: Regularizer = "hilbert",
    intercept: bool = True,
    screen: bool = False,
) -> PathErrors:
    r"""Errors of ridge with a kernel for a path of λ, from eigendecompositions.

    One eigendecomposition gives exact leave-one-out errors for all λ where the matrix has no negative eigenvalues, or where
    K itself regularizes (``"krein"``). Otherwise :math:`|K|` of all rows has seen the row that is left out, and five
    folds are held out instead.
    """
    if lams is None:
        lams = _GRID * _size(gram, rows.weight, intercept=intercept)
    problem = dual_problem(gram, "krein", center=intercept, weight=rows.weight)
    values = problem.values
    indefinite = bool(values.size and values.min() < -_NEGATIVE * np.abs(values).max())
    held_out = indefinite and regularizer != "krein" and not screen
    if held_out:
        errors = fold_scores(gram, rows.Y, lams, "hilbert", center=intercept, weight=rows.weight)
        errors = errors + float(rows.scatter.sum()) / rows.total
    else:
        errors = problem.loo_scores(rows.Y, rows.total * lams, rows.left_out, rows.scatter.sum(axis=1))
    criterion = "folds" if held_out else "leave-one-out"
    return PathErrors(lams, _relative(errors, rows), indefinite, len(rows), criterion)


def path_errors_of_sections(
    block: np.ndarray,
    rows: MergedRows,
    lams: np.ndarray | None = None,
    *,
    regularizer: Regularizer = "hilbert",
    intercept: bool = True,
) -> PathErrors:
    r"""Leave-one-out errors of ridge on the features that some landmarks give, for a path of λ.

    The first rows are the landmarks: with :math:`K_{mm} = U \Lambda U^\top` of their matrix, features are
    :math:`k(x, X_m)\, U |\Lambda|^{-1/2}`. One eigendecomposition as large as the landmarks are many serves all λ.
    """
    spectrum = signed_spectrum(block[: block.shape[1]])
    root, signature, _ = signed_root(spectrum, _NEGATIVE)
    weight, Z, Y = rows.weight[:, None], block @ root, rows.Y
    if intercept:
        Z, Y = (values - rows.weight @ values / rows.total for values in (Z, Y))
    gram = Z.T @ (weight * Z)
    if lams is None:
        lams = _GRID * (float(np.trace(gram)) / rows.total or 1.0)
    path = ridge_path(gram, signature, "krein" if regularizer == "krein" else "hilbert")
    inside, cross = Z @ path.basis, path.basis.T @ (Z.T @ (weight * Y))
    mu = rows.total * lams
    shrink = path.gain / (path.values + mu[:, None])
    free = 1.0 - rows.left_out[:, None] * (np.square(inside) @ shrink.T + (1.0 / rows.total if intercept else 0.0))
    scatter = rows.scatter.sum(axis=1)
    errors = np.full(mu.size, np.inf)
    for i in range(mu.size):
        if np.abs(free[:, i]).min() > _LEAST_FREEDOM and path.clearance(float(mu[i])) >= NEARLY_SINGULAR:
            residual = Y - inside @ (shrink[i][:, None] * cross)
            squared = rows.weight * np.square(residual).sum(axis=1) + scatter
            errors[i] = float((squared / np.square(free[:, i])).sum()) / rows.total
    indefinite = bool((spectrum.values < -_NEGATIVE * np.abs(spectrum.values).max(initial=0.0)).any())
    return PathErrors(lams, _relative(errors, rows), indefinite, len(rows))


def path_errors_near(
    gram: np.ndarray, rows: MergedRows, lam: float, *, intercept: bool = True, steps: int = _MOST_STEPS
) -> PathErrors:
    r"""Leave-one-out errors near a λ, walking downhill by half decades, for a matrix without negative eigenvalues.

    Each step is one Cholesky factorization. The residuals of the first rows come with it, if rows are taken in reverse:
    :math:`(M^{-1})_{bb} = L_{bb}^{-T} L_{bb}^{-1}` for the trailing block b. Their mean estimates that over all rows, at a
    cost that hardly exceeds that of the factor.
    """
    errors = {0: _loo_error(gram, rows, lam, intercept=intercept)}
    for direction in (-1, 1):
        at = min(errors, key=errors.__getitem__)
        while len(errors) < steps and at + direction not in errors:
            errors[at + direction] = _loo_error(gram, rows, lam * _STEP ** (at + direction), intercept=intercept)
            if not errors[at + direction] < errors[at] * (1.0 - _WORTH_A_STEP):
                break
            at += direction
    places = sorted(errors)
    lams = lam * _STEP ** np.array(places, dtype=np.float64)
    found = np.array([errors[place] for place in places])
    return PathErrors(lams, _relative(found, rows), False, len(rows))


def path_errors_at(gram: np.ndarray, rows: MergedRows, lams: np.ndarray, *, intercept: bool = True) -> PathErrors:
    """Leave-one-out errors for given λ, each from one Cholesky factorization as in `path_errors_near`."""
    errors = np.array([_loo_error(gram, rows, float(lam), intercept=intercept) for lam in lams])
    return PathErrors(lams, _relative(errors, rows), False, len(rows))


def _loo_error(gram: np.ndarray, rows: MergedRows, lam: float, *, intercept: bool) -> float:
    """Mean squared leave-one-out error of the first rows; infinity where the matrix is not positive definite."""
    n, mu = len(rows), rows.total * lam
    tail = min(n, _LEFT_OUT)
    root = np.sqrt(rows.weight)[::-1, None]
    system = gram[::-1, ::-1].copy() if (root == 1.0).all() else gram[::-1, ::-1] * (root * root.T)
    system[np.diag_indices_from(system)] += mu
    with quiet_blas(), blas_threads(float(n) ** 3 / 3.0):
        try:
            # the transpose is the same matrix in the order that LAPACK wants, so that nothing is copied
            factor = linalg.cholesky(system.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return float("inf")
        solved = linalg.cho_solve((factor, True), np.hstack([root * rows.Y[::-1], root]), check_finite=False)
        inverse, _ = linalg.lapack.dtrtri(factor[-tail:, -tail:], lower=1)
    diagonal = np.einsum("ij,ij->j", inverse, inverse)  # zero above the diagonal, as the factor is
    beta, ones = solved[:, :-1], solved[:, -1]
    if intercept:
        beta = beta - np.multiply.outer(ones, root[:, 0] @ beta / (root[:, 0] @ ones))
        diagonal = diagonal - np.square(ones[-tail:]) / (root[:, 0] @ ones)
    weight, scatter = rows.weight[:tail][::-1], rows.scatter[:tail][::-1].sum(axis=1)
    share = rows.left_out[:tail][::-1] / weight
    free = (1.0 - share) + share * (mu * diagonal)
    if not (np.abs(free) > _LEAST_FREEDOM).all():
        return float("inf")
    squared = np.square(mu * beta[-tail:]).sum(axis=1) + scatter
    return float((squared / np.square(free)).sum() / weight.sum())


def _size(gram: np.ndarray, weight: np.ndarray, *, intercept: bool) -> float:
    """Mean of the diagonal, centered if there is an intercept; that of a matrix with zero diagonal is its mean size."""
    share = weight / weight.sum()
    size = float(share @ np.diagonal(gram)) - (float(share @ gram @ share) if intercept else 0.0)
    return size if size > 0.0 else float(np.abs(gram).mean()) or 1.0


def _relative(errors: np.ndarray, rows: MergedRows) -> np.ndarray:
    return errors / max(rows.variance, np.finfo(np.float64).tiny)
