r"""Leave-one-out, once: from a spectrum, from a Cholesky factor, from sums over rows, and row by row as they stream.

With :math:`A = (K + \mathrm{diag}\,\mu)^{-1}` and :math:`\mu_i = \mu / w_i` the residual of row i without itself is

.. math:: r_i = \frac{\mu_i \alpha_i}{1 - s_i (1 - \mu_i A_{ii})}, \qquad \alpha = A y,

where :math:`s_i` is the share of the row that is left out: one copy where weights are whole numbers, else all of it. On features,
:math:`1 - \mu_i A_{ii} = h_i = w_i z_i^\top (G + \mu R)^{-1} z_i`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.rows import row_blocks, rows_times
from krein._core.threads import share
from krein.features import RowMap
from krein.learning.folds import fold_scores
from krein.learning.limits import MARGINS
from krein.learning.path import DualProblem, Regularizer, RidgePath, dual_problem, ridge_path
from krein.learning.solve import RidgeFactor, ridge_factor
from krein.learning.strengths import COARSE_GRID, best_candidate
from krein.learning.sums import CenteredSums
from krein.nystroem.spectrum import signed_root, signed_spectrum
from krein.rows.blocks import feature_blocks
from krein.rows.equal import MergedRows

__all__ = [
    *(
        "LeftOutModel",
        "PathErrors",
        "factor_residuals",
        "left_out_model",
        "loo_scores",
        "path_errors",
        "path_errors_at",
    ),
    *("path_errors_near", "path_errors_of_sections"),
]

_LEFT_OUT = 1000  # rows whose leave-one-out residual is computed beside a Cholesky factor
_STEP = 10.0**0.5  # from one λ to the next
_MOST_STEPS = 6  # factorizations of a walk
_WORTH_A_STEP = 1e-4  # relative: where the error falls by less, rounding must not lead the way
_SINGLE = 1e-4  # μ over the largest entry of the diagonal, from which on single precision decides the same
_TOGETHER = 128  # columns of fitted values formed at once: 10 MB for 10,000 rows
_BLOCK = 512  # rows turned at a time; the edges of blocks are the same for any number of threads
_LARGEST_HAT = 1.0 - 1e-6  # of h: where rounding makes it 1, a row still has a prediction


@final
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
        return best_candidate(self.lams, self.errors, MARGINS.rounding)

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
    lams = COARSE_GRID * _size(gram, rows.weight, intercept=intercept) if lams is None else np.asarray(lams)
    problem = dual_problem(gram, "krein", center=intercept, weight=rows.weight)
    indefinite = _beyond_rounding(problem.values)
    held_out = indefinite and regularizer != "krein" and not screen
    if held_out:
        errors = fold_scores(gram, rows.Y, lams, "hilbert", center=intercept, weight=rows.weight)
        errors = errors + float(rows.scatter.sum()) / rows.total
    else:
        errors = spectrum_scores(problem, rows.Y, rows.total * lams, rows.left_out, rows.scatter.sum(axis=1))
    criterion = "folds" if held_out else "leave-one-out"
    return PathErrors(lams, _relative(errors, rows), indefinite, len(rows), criterion)


def spectrum_scores(
    problem: DualProblem,
    y: np.ndarray,
    mu: np.ndarray,
    left_out: np.ndarray | None = None,
    scatter: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Mean squared leave-one-out error for each μ of a problem in the dual; infinity where it cannot be computed."""
    weight = np.square(problem.root[:, 0])
    left = 1.0 if left_out is None else left_out / weight
    rotated = problem.vectors.T @ (problem.root * y)
    squares = np.square(problem.vectors)
    shrinks = 1.0 / (problem.values[:, None] + mu)
    diagonals, sizes = squares @ shrinks, squares @ np.abs(shrinks)
    scores = np.full(mu.size, np.inf)
    for i, m in enumerate(mu):
        # terms of both signs may cancel; with an error of 1e-15 of their sizes, this leaves three digits
        if (np.abs(diagonals[:, i]) > MARGINS.freedom * sizes[:, i]).all():
            residual = m * (problem.vectors @ (shrinks[:, i, None] * rotated))
            free = (1.0 - left) + left * (m * diagonals[:, i])
            squared = (np.square(residual).sum(axis=1) + scatter) / np.square(free)
            scores[i] = float(squared.sum() / weight.sum())
    return scores


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
    root, signature, _ = signed_root(spectrum, MARGINS.negative)
    sums = CenteredSums.of(block @ root, rows.Y, rows.weight, intercept=intercept)
    if lams is None:
        lams = COARSE_GRID * (float(np.trace(sums.gram)) / rows.total or 1.0)
    path = ridge_path(sums.gram, signature, "krein" if regularizer == "krein" else "hilbert")
    errors = loo_scores(
        path, sums, rows.total * lams, block @ root, rows.Y, rows.weight, scatter=rows.scatter.sum(axis=1)
    )
    return PathErrors(lams, _relative(errors, rows), _beyond_rounding(spectrum.values), len(rows))


def loo_scores(
    path: RidgePath,
    sums: CenteredSums,
    mu: np.ndarray,
    Z: np.ndarray,
    Y: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    scatter: np.ndarray | float = 0.0,
) -> np.ndarray:
    r"""Mean squared leave-one-out error for each μ of a model on features, with μ held fixed when a row is left out.

    Rows given here may be a sample of those in the sums: their mean is then an unbiased estimate of the mean over all rows, at a
    cost that does not grow with n.
    """
    weight = np.ones(Z.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    left_out = np.minimum(weight, 1.0) if sums.counts else weight
    target = Y - sums.y_mean
    cross = path.basis.T @ sums.cross
    mu = np.atleast_1d(mu)
    shrink = path.gain / (path.values + mu[:, None])
    inside = np.empty((Z.shape[0], path.basis.shape[1]))
    leverage = np.empty((Z.shape[0], mu.size))

    def turn(rows: slice) -> None:  # what lies between stays in the cache
        np.matmul(np.subtract(Z[rows], sums.mean, dtype=np.float64), path.basis, out=inside[rows])
        np.matmul(np.square(inside[rows]), shrink.T, out=leverage[rows])

    share(turn, row_blocks(Z.shape[0], _BLOCK))
    scores = np.full(mu.size, np.inf)
    for some in row_blocks(mu.size, max(1, _TOGETHER // max(1, target.shape[1]))):
        # several λ in one product: a matrix with few columns keeps no processor busy
        solutions = shrink[some].T[:, :, None] * cross[:, None, :]
        several = solutions.shape[1:]  # λ and targets
        fitted = rows_times(inside, solutions.reshape(inside.shape[1], math.prod(several)))
        fitted = fitted.reshape(Z.shape[0], *several)
        for i in range(some.start, some.stop):
            free = 1.0 - left_out * (leverage[:, i] + (1.0 / sums.weight if sums.intercept else 0.0))
            # with Kreĭn regularization a leverage may pass 1 and even turn round: only its distance from 1 matters
            known = np.abs(free).min() >= MARGINS.freedom_of_sums
            if known and path.clearance(float(mu[i])) >= MARGINS.nearly_singular:
                squares = weight * np.square(target - fitted[:, i - some.start]).sum(axis=1) + scatter
                scores[i] = float((squares / np.square(free)).sum() / weight.sum())
    return scores


def path_errors_near(
    gram: np.ndarray, rows: MergedRows, lam: float, *, intercept: bool = True, steps: int = _MOST_STEPS
) -> PathErrors:
    """Leave-one-out errors near a λ, walking downhill by half decades, for a matrix without negative eigenvalues."""
    errors = {0: _factor_error(gram, rows, lam, intercept=intercept)}
    for direction in (-1, 1):
        at = min(errors, key=errors.__getitem__)
        while len(errors) < steps and at + direction not in errors:
            errors[at + direction] = _factor_error(gram, rows, lam * _STEP ** (at + direction), intercept=intercept)
            if not errors[at + direction] < errors[at] * (1.0 - _WORTH_A_STEP):
                break
            at += direction
    places = sorted(errors)
    lams = lam * _STEP ** np.array(places, dtype=np.float64)
    found = np.array([errors[place] for place in places])
    return PathErrors(lams, _relative(found, rows), False, len(rows))


def path_errors_at(gram: np.ndarray, rows: MergedRows, lams: np.ndarray, *, intercept: bool = True) -> PathErrors:
    """Leave-one-out errors for given λ, each from one Cholesky factorization."""
    errors = np.array([_factor_error(gram, rows, float(lam), intercept=intercept) for lam in lams])
    return PathErrors(lams, _relative(errors, rows), False, len(rows))


def _factor_error(gram: np.ndarray, rows: MergedRows, lam: float, *, intercept: bool) -> float:
    """Mean squared leave-one-out error of the last rows; infinity where the matrix is not positive definite."""
    penalty = rows.total * lam / rows.weight
    precise = penalty.min() < _SINGLE * np.diagonal(gram).max(initial=0.0)
    factor = None if precise else ridge_factor(gram.astype(np.float32), penalty, overwrite=True)
    factor = ridge_factor(gram, penalty) if factor is None else factor
    if factor is None:
        return float("inf")
    count = min(len(rows), _LEFT_OUT)
    tail, kept = slice(len(rows) - count, None), MARGINS.freedom
    residual, free = factor_residuals(factor, penalty, rows.Y, rows.left_out / rows.weight, count, intercept=intercept)
    if not (np.abs(free) > kept).all():
        return float("inf")
    squares = rows.weight[tail] * np.square(residual).sum(axis=1) + rows.scatter[tail].sum(axis=1)
    return float((squares / np.square(free)).sum() / rows.weight[tail].sum())


def factor_residuals(
    factor: RidgeFactor, penalty: np.ndarray, Y: np.ndarray, left: np.ndarray, count: int, *, intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals of the last rows, and by what to divide them so that a share of each is left out.

    The diagonal of the inverse for the last rows alone comes with a factor at a cost that hardly exceeds that of the factor.
    """
    tail = slice(Y.shape[0] - count, None)
    solved = factor.solve(np.column_stack([Y, np.ones(Y.shape[0])])).astype(np.float64)
    beta, ones = solved[:, :-1], solved[:, -1]
    diagonal = factor.inverse_diagonal(count)
    if intercept:
        beta = beta - np.multiply.outer(ones, beta.sum(axis=0) / ones.sum())
        diagonal = diagonal - np.square(ones[tail]) / ones.sum()
    free = (1.0 - left[tail]) + left[tail] * (penalty[tail] * diagonal)
    return penalty[tail, None] * beta[tail], free


@final
@dataclass(frozen=True, eq=False)
class LeftOutModel:
    r"""What a linear model on features says of the rows it was fitted on, had each not been there.

    .. math:: \hat y_{-i} = \frac{\hat y_i - h_i y_i}{1 - h_i}

    Parameters
    ----------
    features : RowMap
    coef : ndarray of shape (n_outputs, n_components)
    intercept : ndarray of shape (n_outputs,)
    factor : RidgeFactor
        Of the system.
    mean : ndarray of shape (n_components,)
    constant : float
        What the intercept adds to h: 1/n, or 0 without one.
    counts : bool
        Whether weights are numbers of copies, of which one is left out.
    """

    features: RowMap
    coef: np.ndarray
    intercept: np.ndarray
    factor: RidgeFactor
    mean: np.ndarray
    constant: float
    counts: bool

    def __call__(self, X: Any, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Predictions of rows that were fitted on, each without itself."""
        out = np.empty(targets.shape)
        for block in feature_blocks(self.features, X):
            Z = block.Z.astype(np.float64, copy=False)
            hat = np.empty(Z.shape[0])

            def fill(rows: slice, Z: np.ndarray = Z, hat: np.ndarray = hat) -> None:
                inner = self.factor.whitened(Z[rows] - self.mean)
                hat[rows] = np.einsum("ij,ij->i", inner, inner) + self.constant

            share(fill, row_blocks(Z.shape[0], _BLOCK))
            if weight is not None and not self.counts:
                hat *= weight[block.numbers]
            hat = np.minimum(hat, _LARGEST_HAT)[:, None]
            fitted = Z @ self.coef.T + self.intercept
            out[block.numbers] = (fitted - hat * targets[block.numbers]) / (1.0 - hat)
        return out


def left_out_model(
    features: RowMap, sums: CenteredSums, lam: tuple[float, float], coef: np.ndarray, intercept: np.ndarray
) -> LeftOutModel:
    """Factorize the system of a fitted ridge model once for all rows."""
    penalty = sums.weight * np.where(features.signature > 0, *lam)
    factor = ridge_factor(sums.gram, penalty)
    if factor is None:  # λ below rounding: eigenvalues can be kept above it
        values, vectors = linalg.eigh(sums.gram + np.diag(penalty))
        least = np.finfo(np.float64).eps * values[-1] * values.size
        upper = linalg.qr(np.sqrt(np.maximum(values, least))[:, None] * vectors.T, mode="r")[0]
        factor = RidgeFactor(np.ascontiguousarray(upper.T))
    constant = 1.0 / sums.weight if sums.intercept else 0.0
    return LeftOutModel(features, coef, intercept, factor, sums.mean, constant, sums.counts)


def _beyond_rounding(values: np.ndarray) -> bool:
    """Whether there are negative eigenvalues that are no rounding."""
    return bool(values.size and values.min() < -MARGINS.negative * np.abs(values).max())


def _size(gram: np.ndarray, weight: np.ndarray, *, intercept: bool) -> float:
    """Mean of the diagonal, centered if there is an intercept; that of a matrix with zero diagonal is its mean size."""
    part = weight / weight.sum()
    size = float(part @ np.diagonal(gram)) - (float(part @ gram @ part) if intercept else 0.0)
    return size if size > 0.0 else float(np.abs(gram).mean()) or 1.0


def _relative(errors: np.ndarray, rows: MergedRows) -> np.ndarray:
    return errors / max(rows.variance, np.finfo(np.float64).tiny)
