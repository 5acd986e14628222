"""Newton's method for many regularized problems on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein._core.threads import quiet_blas
from krein.learning.newton.losses import Problems
from krein.learning.newton.rows import Moments, NewtonRows, Point
from krein.learning.newton.system import Preconditioner, newton_steps, preconditioner

__all__ = ["Minimum", "minimize"]

_HALVINGS = 30  # of a step: 1e-9 of a Newton step is none
_DECREASE = 0.01  # share of what the slope promises that a step must bring
_UNITS = 32.0  # of rounding of the objective, below which a step promises nothing


@dataclass(frozen=True, eq=False)
class Minimum:
    """What was found.

    Parameters
    ----------
    weights : ndarray of shape (n_components + 1, n_columns)
        The last row holds the intercepts.
    n_iter : int
        Newton steps taken.
    converged : bool
    before : Preconditioner
        For further problems on the same rows.
    """

    weights: np.ndarray
    n_iter: int
    converged: bool
    before: Preconditioner


def minimize(
    rows: NewtonRows,
    problems: Problems,
    moments: Moments,
    *,
    free_intercept: bool = False,
    start: np.ndarray | None = None,
    before: Preconditioner | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
) -> Minimum:
    r"""Minimize several problems on the same rows together.

    .. math:: \min_{w, b}\ \tfrac12 (\|w\|^2 + b^2) + \sum_i c_i\, \ell_i(z_i^\top w + b)

    with :math:`b^2` left out if the intercept is free. All problems (classes, folds) advance together, so that the work is
    products of matrices rather than of a matrix and a vector. Newton systems are solved by conjugate gradients,
    preconditioned by the eigenvectors of all rows, which all problems share; where that takes as long as a factorization,
    the system (of a softmax: the blocks of its classes, as a better preconditioner) is factorized. The stopping rule is
    that of LibLinear's primal solvers [1]_.

    References
    ----------
    .. [1] R.-E. Fan et al. "LIBLINEAR: a library for large linear classification". JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.newton.losses import Problems, SquaredHinge
    >>> from krein.learning.newton.rows import MemoryRows
    >>> rows = MemoryRows(np.array([[2.0], [1.0], [-1.0], [-2.0]]), np.array([1, 1, 0, 0]))
    >>> machine = Problems(SquaredHinge(), np.array([1]), np.array([-1]), np.array([10.0]))
    >>> minimize(rows, machine, rows.moments()).weights.ravel().round(3)
    array([0.976, 0.   ])
    """
    with quiet_blas():  # the threads are ours: those of a BLAS library wait for each other at products this thin
        if before is None:
            before = preconditioner(moments, free_intercept=free_intercept, dtype=rows.dtype)
        return _minimize(rows, problems, moments.class_weight, start, before, tol, max_iter)


def _minimize(
    rows: NewtonRows,
    problems: Problems,
    class_weight: np.ndarray,
    start: np.ndarray | None,
    before: Preconditioner,
    tol: float,
    max_iter: int,
) -> Minimum:
    size, penalty = problems.loss.size, before.penalty[:, None].astype(rows.dtype)
    W = np.zeros((rows.width + 1, problems.n_columns), dtype=rows.dtype)
    point = rows.at(W, problems)
    at_zero = _norms(point.gradient, size)
    goal = tol * _rare_share(problems, class_weight) * at_zero
    if start is not None:
        W = start.astype(rows.dtype)
        point = rows.at(W, problems)
    # What the point is of; those that have arrived are left out of the next
    evaluated = np.arange(problems.strength.size)
    settled = np.zeros(evaluated.size, dtype=bool)
    for n_iter in range(max_iter + 1):
        mine = W[:, problems.columns(evaluated)]
        gradient = penalty * mine + point.gradient
        length = _norms(gradient, size)
        far = np.flatnonzero((length > goal[evaluated]) & ~settled[evaluated])
        if not far.size or n_iter == max_iter:
            break
        columns, left = problems.columns(far), evaluated[far]
        mine, gradient = mine[:, columns], gradient[:, columns]
        objective = _penalties(mine, penalty, size) + point.total[far]
        share = length[far] / np.maximum(at_zero[left], length[far])  # all of it from a start that is worse than zero
        move = newton_steps(point, before, gradient, far, share)
        slope = _products(gradient, move, size)
        # what a full step promises is below the rounding of the objective: this precision can do no better
        settled[left] = -slope < _UNITS * np.finfo(rows.dtype).eps * objective
        trial = _Trial(rows, problems.some(left), mine, move, objective, slope, penalty)
        W[:, problems.columns(left)], point, gained = trial.search()
        settled[left] |= ~gained
        evaluated = left
    return Minimum(W, n_iter, not far.size, before)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Steps that are halved, each by itself, until the objective falls by a hundredth of what its slope promises."""

    rows: NewtonRows
    problems: Problems
    W: np.ndarray
    move: np.ndarray
    objective: np.ndarray
    slope: np.ndarray
    penalty: np.ndarray

    def search(self) -> tuple[np.ndarray, Point, np.ndarray]:
        """New coefficients, the problems there, and which of them gained."""
        size = self.problems.loss.size
        length = np.ones(self.objective.shape)
        where = self.W + self.move
        point = self.rows.at(where, self.problems)
        bad = self._too_high(np.arange(length.size), length, point)
        if not bad.size:
            return where, point, np.ones(length.shape, dtype=bool)
        for _ in range(_HALVINGS):
            length[bad] *= 0.5
            some = self.problems.some(bad)
            bad = bad[self._too_high(bad, length[bad], self.rows.at(self._at(bad, length), some))]
            if not bad.size:
                break
        length[bad] = 0.0
        where = self.W + np.repeat(length, size).astype(self.W.dtype) * self.move
        return where, self.rows.at(where, self.problems), length > 0.0

    def _at(self, problems: np.ndarray, length: np.ndarray) -> np.ndarray:
        columns, size = self.problems.columns(problems), self.problems.loss.size
        steps = np.repeat(length[problems], size).astype(self.W.dtype) * self.move[:, columns]
        return np.asarray(self.W[:, columns] + steps)

    def _too_high(self, problems: np.ndarray, length: np.ndarray, point: Point) -> np.ndarray:
        """Places among some problems."""
        full = np.ones(self.objective.shape)
        full[problems] = length
        value = _penalties(self._at(problems, full), self.penalty, self.problems.loss.size) + point.total
        fine = value <= self.objective[problems] + _DECREASE * length * self.slope[problems]
        return np.flatnonzero(~fine)


def _products(left: np.ndarray, right: np.ndarray, size: int) -> np.ndarray:
    each = np.einsum("ij,ij->j", left, right, dtype=np.float64)
    total: np.ndarray = each.reshape(-1, size).sum(axis=1)
    return total


def _norms(gradient: np.ndarray, size: int) -> np.ndarray:
    return np.asarray(np.sqrt(_products(gradient, gradient, size)))


def _penalties(W: np.ndarray, penalty: np.ndarray, size: int) -> np.ndarray:
    return 0.5 * _products(penalty * W, W, size)


def _rare_share(problems: Problems, class_weight: np.ndarray) -> np.ndarray:
    """The weight of the rarer side of each problem in that of all rows; all of it where all classes are in one problem."""
    total = class_weight.sum()
    if problems.loss.size > 1:
        return np.ones(problems.strength.size)
    ours = class_weight[problems.positive]
    rare = np.minimum(ours, total - ours)
    return np.asarray(np.where(rare > 0.0, rare, total) / total)
