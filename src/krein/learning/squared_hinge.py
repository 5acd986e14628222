"""Linear support vector machines with squared hinge loss, many at once: Newton's method on dense features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein._core.threads import quiet_blas
from krein.learning.newton_system import DenseRows, newton_steps, preconditioner

__all__ = ["HingeSolution", "squared_hinge"]

_HALVINGS = 30  # of a step: 1e-9 of a Newton step is none
_DECREASE = 0.01  # share of what the slope promises that a step must bring
_UNITS = 32.0  # of rounding of the objective, below which a step promises nothing


@dataclass(frozen=True, eq=False)
class HingeSolution:
    """The machines that were found.

    Parameters
    ----------
    weights : ndarray of shape (n_components + 1, n_problems)
        The last row holds the intercepts.
    values : ndarray of shape (n_rows, n_problems)
        On all rows.
    n_iter : int
        Newton steps taken.
    converged : bool
    """

    weights: np.ndarray
    values: np.ndarray
    n_iter: int
    converged: bool


def squared_hinge(
    Z: np.ndarray,
    signs: np.ndarray,
    cost: np.ndarray,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
) -> HingeSolution:
    r"""Minimize several machines on the same rows together.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + \sum_i C_i \max(0,\, 1 - y_i (z_i^\top w + b))^2

    which is the problem of LibLinear's solvers 1 and 2 [1]_, and so is the stopping rule. All machines (classes, folds)
    advance together, so that the work is products of matrices rather than of a matrix and a vector. Newton systems are
    solved by conjugate gradients, preconditioned by the eigenvectors of all rows, which all machines share; a system that
    has not yielded by the time a factorization would have taken is factorized, in whichever of rows and columns is fewer.
    Rows are shared among threads in fixed blocks, so that their number does not change the result.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    signs : ndarray of shape (n_rows, n_problems)
        ±1.
    cost : ndarray of shape (n_rows, n_problems)
        :math:`C_i \ge 0` for each row and problem; zero leaves the row out.
    start : ndarray of shape (n_components + 1, n_problems), default=None
    tol : float, default=1e-4
        Relative size of the gradient at which to stop.
    max_iter : int, default=100
        Most Newton steps.

    Returns
    -------
    HingeSolution

    References
    ----------
    .. [1] R.-E. Fan et al. "LIBLINEAR: a library for large linear classification". JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.squared_hinge import squared_hinge
    >>> Z = np.array([[2.0], [1.0], [-1.0], [-2.0]])
    >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> squared_hinge(Z, y, np.full((4, 1), 10.0)).weights.ravel().round(3)
    array([0.976, 0.   ])
    """
    with quiet_blas():  # the threads are ours: those of a BLAS library wait for each other at products this thin
        return _minimize(DenseRows(Z), signs, cost, start, tol, max_iter)


def _minimize(
    rows: DenseRows, signs: np.ndarray, cost: np.ndarray, start: np.ndarray | None, tol: float, max_iter: int
) -> HingeSolution:
    dtype, width = rows.Z.dtype, rows.Z.shape[1]
    signs, cost = signs.astype(dtype, copy=False), cost.astype(dtype, copy=False)
    W = np.zeros((width + 1, signs.shape[1]), dtype=dtype) if start is None else start.astype(dtype)
    F = rows.values(W)
    rare = np.minimum(((signs > 0) * (cost > 0)).sum(axis=0), ((signs < 0) * (cost > 0)).sum(axis=0))
    share = np.maximum(rare, 1) / np.maximum((cost > 0).sum(axis=0), 1)
    at_zero = np.linalg.norm(2.0 * rows.gradient(signs * cost), axis=0)
    before = preconditioner(rows)
    settled = np.zeros(W.shape[1], dtype=bool)
    for step in range(max_iter + 1):
        slack = np.maximum(1.0 - signs * F, 0.0)
        objective = _objective(W, slack, cost)
        gradient = W - 2.0 * rows.gradient(signs * cost * slack)
        size = np.linalg.norm(gradient, axis=0)
        left = np.flatnonzero((size > tol * share * at_zero) & ~settled)
        if not left.size or step == max_iter:
            break
        curvature = 2.0 * cost[:, left] * (slack[:, left] > 0)
        move = newton_steps(rows, before, curvature, gradient[:, left])
        change = rows.values(move)
        slope = np.einsum("ij,ij->j", gradient[:, left], move)
        # what a full step promises is below the rounding of the objective: this precision can do no better
        settled[left] = -slope < _UNITS * np.finfo(dtype).eps * objective[left]
        length, gained = _line_search(
            W[:, left], F[:, left], move, change, signs[:, left], cost[:, left], objective[left], slope
        )
        W[:, left] += length * move
        F[:, left] += length * change
        settled[left] |= ~gained
    return HingeSolution(W, F, step, converged=not left.size)


def _objective(W: np.ndarray, slack: np.ndarray, cost: np.ndarray) -> np.ndarray:
    penalty = 0.5 * np.square(W).sum(axis=0, dtype=np.float64)
    objective: np.ndarray = penalty + (cost * np.square(slack)).sum(axis=0, dtype=np.float64)
    return objective


def _line_search(
    W: np.ndarray,
    F: np.ndarray,
    move: np.ndarray,
    change: np.ndarray,
    signs: np.ndarray,
    cost: np.ndarray,
    objective: np.ndarray,
    slope: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Halve each step until the objective falls by a hundredth of what the slope promises."""
    length = np.ones(objective.shape, dtype=W.dtype)
    fine = np.zeros(objective.shape, dtype=bool)
    for _ in range(_HALVINGS):
        slack = np.maximum(1.0 - signs * (F + length * change), 0.0)
        value = _objective(W + length * move, slack, cost)
        fine = value <= objective + _DECREASE * length * slope
        if fine.all():
            break
        length[~fine] *= 0.5
    length[~fine] = 0.0
    return length, fine
