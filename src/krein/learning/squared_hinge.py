"""Linear support vector machines with squared hinge loss, many at once: Newton's method on dense features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from krein._core.rows import row_blocks

__all__ = ["HingeSolution", "squared_hinge"]

_FORCING = 0.2  # how much of the gradient a step may leave; 0.1 and 0.5 take longer in all
_ROWS = 8192  # rows whose squares are formed at a time, for the diagonal of the Hessian


@dataclass(frozen=True, eq=False)
class HingeSolution:
    """Weights (n_components + 1, n_problems), the last row the intercepts; values on all rows; Newton steps taken."""

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
    r"""Minimise several machines on the same rows together.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + \sum_i C_i \max(0,\, 1 - y_i (z_i^\top w + b))^2

    which is the problem of LibLinear's solvers 1 and 2 [1]_, and so is the stopping rule. All machines (classes, folds)
    advance together, so that the work is products of matrices rather than of a matrix and a vector. Newton systems are
    solved by conjugate gradients, preconditioned by the diagonal of the Hessian because columns of a signed map differ in
    size by orders of magnitude; a system that has not yielded by the time a factorisation would have taken is factorised,
    in whichever of rows and columns is fewer.

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
    dtype = Z.dtype
    signs, cost = signs.astype(dtype, copy=False), cost.astype(dtype, copy=False)
    W = np.zeros((Z.shape[1] + 1, signs.shape[1]), dtype=dtype) if start is None else start.astype(dtype)
    F = _values(Z, W)
    rare = np.minimum(((signs > 0) * (cost > 0)).sum(axis=0), ((signs < 0) * (cost > 0)).sum(axis=0))
    share = np.maximum(rare, 1) / np.maximum((cost > 0).sum(axis=0), 1)
    at_zero = np.linalg.norm(2.0 * _gradient(Z, signs * cost), axis=0)
    settled = np.zeros(W.shape[1], dtype=bool)
    for step in range(max_iter + 1):
        slack = np.maximum(1.0 - signs * F, 0.0)
        objective = _objective(W, slack, cost)
        gradient = W - 2.0 * _gradient(Z, signs * cost * slack)
        size = np.linalg.norm(gradient, axis=0)
        left = np.flatnonzero((size > tol * share * at_zero) & ~settled)
        if not left.size or step == max_iter:
            break
        curvature = 2.0 * cost[:, left] * (slack[:, left] > 0)
        move = _newton_step(Z, curvature, gradient[:, left])
        change = _values(Z, move)
        slope = np.einsum("ij,ij->j", gradient[:, left], move)
        # what a full step promises is below the rounding of the objective: this precision can do no better
        settled[left] = -slope < 32.0 * np.finfo(dtype).eps * objective[left]
        length, gained = _line_search(
            W[:, left], F[:, left], move, change, signs[:, left], cost[:, left], objective[left], slope
        )
        W[:, left] += length * move
        F[:, left] += length * change
        settled[left] |= ~gained
    return HingeSolution(W, F, step, converged=not left.size)


def _values(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    return Z @ W[:-1] + W[-1]


def _gradient(Z: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.concatenate([Z.T @ R, R.sum(axis=0, keepdims=True)])


def _objective(W: np.ndarray, slack: np.ndarray, cost: np.ndarray) -> np.ndarray:
    return 0.5 * np.square(W).sum(axis=0, dtype=np.float64) + (cost * np.square(slack)).sum(axis=0, dtype=np.float64)


def _newton_step(Z: np.ndarray, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve (I + Z̃ᵀ diag(curvature) Z̃) s = −gradient for each column, where Z̃ is Z and a column of ones."""
    n_rows, width = Z.shape
    active_rows = np.count_nonzero(curvature, axis=0).mean()
    small = min(active_rows, width)
    direct_cost = 2.0 * active_rows * width * small + small**3 / 3.0
    patience = int(np.clip(direct_cost / (4.0 * n_rows * width), 5, 2 * width))
    solution, unsolved = _conjugate_gradients(Z, curvature, gradient, patience)
    for column in unsolved:
        solution[:, column] = _factorised(Z, curvature[:, column], gradient[:, column])
    return solution


def _conjugate_gradients(
    Z: np.ndarray, curvature: np.ndarray, gradient: np.ndarray, patience: int
) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the columns whose residual is not a fifth of the gradient after `patience` iterations."""
    diagonal = np.ones_like(gradient)
    for rows in row_blocks(Z.shape[0], _ROWS):
        diagonal[:-1] += np.square(Z[rows]).T @ curvature[rows]
    diagonal[-1] += curvature.sum(axis=0)
    solution = np.zeros_like(gradient)
    residual = -gradient
    scaled = residual / diagonal
    direction = scaled.copy()
    rho = np.einsum("ij,ij->j", residual, scaled)
    goal = _FORCING**2 * rho
    active = np.arange(gradient.shape[1])
    for _ in range(patience):
        d = direction[:, active]
        product = d + _gradient(Z, curvature[:, active] * _values(Z, d))
        alpha = rho[active] / np.einsum("ij,ij->j", d, product)
        solution[:, active] += alpha * d
        residual[:, active] -= alpha * product
        scaled = residual[:, active] / diagonal[:, active]
        new = np.einsum("ij,ij->j", residual[:, active], scaled)
        direction[:, active] = scaled + (new / rho[active]) * d
        rho[active] = new
        active = active[new > goal[active]]
        if not active.size:
            break
    return solution, active


def _factorised(Z: np.ndarray, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """One Newton step by Cholesky, of the size of the columns or of the rows that have curvature."""
    rows = np.flatnonzero(curvature)
    A = np.empty((rows.size, Z.shape[1] + 1), dtype=Z.dtype)
    A[:, :-1] = Z[rows]
    A[:, -1] = 1.0
    A *= np.sqrt(curvature[rows])[:, None]
    wide = rows.size < A.shape[1]
    system = A @ A.T if wide else A.T @ A
    system[np.diag_indices_from(system)] += 1.0
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    if wide:
        return A.T @ linalg.cho_solve(factor, A @ gradient, check_finite=False) - gradient
    return -linalg.cho_solve(factor, gradient, check_finite=False)


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
    for _ in range(30):
        slack = np.maximum(1.0 - signs * (F + length * change), 0.0)
        value = _objective(W + length * move, slack, cost)
        fine = value <= objective + 0.01 * length * slope
        if fine.all():
            break
        length[~fine] *= 0.5
    length[~fine] = 0.0
    return length, fine
