"""What makes an answer right without another one to compare it with: gradients, gaps and backward errors, with their rounding.

Another optimizer stops somewhere near the minimum, and elsewhere on another machine. A minimum has certificates of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

__all__ = ["Minimum", "assert_solves", "hinge_minimum", "logistic_minimum", "machine_gap", "pair_machines"]


@dataclass(frozen=True, eq=False)
class Minimum:
    """A point that claims to minimize ½‖w‖² + C Σ price · loss.

    The penalty makes the objective strongly convex with modulus 1 in all that it covers, so the point lies within ‖gradient‖ of the
    minimum, and the objective within ‖gradient‖² / 2, whatever the condition of the rows.

    Parameters
    ----------
    value : ndarray of shape (n_problems,)
        Objective of each problem.
    gradient : ndarray of shape (n_columns + 1, n_problems)
    rounding : ndarray of shape (n_problems,)
        Norm of what the gradient itself may be off by, computed as it is.
    flat : ndarray of shape (n_problems,)
        √(2 L δ): a point whose objective is the least but for its rounding δ = n ε · objective may have this gradient, L being
        the largest curvature. No line search sees further.
    at_zero : ndarray of shape (n_problems,)
        Norm of the gradient at weights of zero.
    """

    value: np.ndarray
    gradient: np.ndarray
    rounding: np.ndarray
    flat: np.ndarray
    at_zero: np.ndarray

    @property
    def distance(self) -> np.ndarray:
        """Bound on the distance to the minimum, for each problem."""
        return np.linalg.norm(self.gradient, axis=0) + self.rounding

    def assert_stationary(self, tol: float) -> None:
        """The gradient is the share of that at zero at which the solver was told to stop, or rounding."""
        left = np.linalg.norm(self.gradient, axis=0)
        np.testing.assert_array_less(left, 2.0 * tol * np.linalg.norm(self.at_zero) + self.flat + 2.0 * self.rounding)

    def assert_not_above(self, other: Minimum) -> None:
        """The objective is not above another's but for what the gradient leaves."""
        slack = 0.5 * self.distance.sum() ** 2 + 1e-13 * np.abs(self.value).sum()
        assert self.value.sum() <= other.value.sum() + slack


def _minimum(
    Z: np.ndarray,
    W: np.ndarray,
    values: np.ndarray,
    slopes: np.ndarray,
    bends: np.ndarray,
    zero: np.ndarray,
    free: bool,
) -> Minimum:
    """From the losses, their slopes, bounds on their curvature and their slopes at zero, row by row, prices included."""
    A = np.concatenate([Z, np.ones((Z.shape[0], 1))], axis=1)
    kept = W.copy()
    if free:
        kept[-1] = 0.0
    unit = np.finfo(np.float64).eps * (A.shape[0] + A.shape[1])
    errors = np.abs(A).T @ (np.abs(slopes) + bends * (1.0 + np.abs(A) @ np.abs(W))) + np.abs(kept)
    value = 0.5 * np.square(kept).sum(axis=0) + values.sum(axis=0)
    curvature = 1.0 + np.array([np.linalg.eigvalsh((A.T * bend) @ A)[-1] for bend in bends.T])
    return Minimum(
        value,
        kept + A.T @ slopes,
        unit * np.linalg.norm(errors, axis=0),
        np.sqrt(2.0 * curvature * len(Z) * np.finfo(np.float64).eps * value.sum()),
        np.linalg.norm(A.T @ zero, axis=0),
    )


def _weights(coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    return np.concatenate([np.atleast_2d(coef).T, np.atleast_1d(intercept)[None]]).astype(np.float64)


def hinge_minimum(
    Z: np.ndarray, member: np.ndarray, price: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> Minimum:
    """The machine of LibLinear: Σ price · max(0, 1 − s f)², a column of `member` for each class, a penalty on the intercept."""
    W = _weights(coef, intercept)
    signs = np.where(member.reshape(len(Z), -1), 1.0, -1.0)
    price = np.broadcast_to(np.asarray(price, dtype=float).reshape(-1, 1), (len(Z), 1))
    short = np.maximum(1.0 - signs * (Z @ W[:-1] + W[-1]), 0.0)
    bends = np.broadcast_to(2.0 * price, short.shape)
    return _minimum(Z, W, price * short**2, -2.0 * price * signs * short, bends, -2.0 * price * signs, free=False)


def logistic_minimum(
    Z: np.ndarray, codes: np.ndarray, price: np.ndarray, coef: np.ndarray, intercept: np.ndarray
) -> Minimum:
    """Logistic regression with a free intercept: binomial for one row of coefficients, else multinomial."""
    W = _weights(coef, intercept)
    price = np.broadcast_to(np.asarray(price, dtype=float), len(Z))[:, None]
    F = Z @ W[:-1] + W[-1]
    if F.shape[1] == 1:
        F = np.concatenate([np.zeros_like(F), F], axis=1)
    codes = codes.astype(int)
    total = np.logaddexp.reduce(F, axis=1, keepdims=True)
    chances = np.exp(F - total)
    truth = np.eye(F.shape[1])[codes]
    slopes = price * (chances - truth)
    zero = price * (1.0 / F.shape[1] - truth)
    values = price * (total - np.take_along_axis(F, codes[:, None], axis=1))
    drop = F.shape[1] - W.shape[1]  # binomial: the first class has no weights
    shared = np.concatenate([values, np.zeros((len(Z), W.shape[1] - 1))], axis=1)
    return _minimum(
        Z, W, shared, slopes[:, drop:], np.broadcast_to(price, (len(Z), W.shape[1])), zero[:, drop:], free=True
    )


def machine_gap(K: np.ndarray, signs: np.ndarray, price: np.ndarray, alpha: np.ndarray, intercept: float) -> float:
    """Primal less dual objective of ½ αᵀKα + Σ price · max(0, 1 − y f): zero at the solution, and never less.

    Where libsvm stops, no pair of rows promises more than tol, so it is at most tol Σ price, and the machine is a function of
    norm at most √(2 gap) away from the best one.

    Parameters
    ----------
    alpha : ndarray of shape (n_samples,)
        Signed: the dual coefficients times the labels.
    """
    f = K @ alpha + intercept
    short = np.maximum(1.0 - signs * f, 0.0)
    quadratic = alpha @ K @ alpha
    return float(quadratic + (price * short).sum() - (signs * alpha).sum())


def pair_machines(model: Any, codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, float]]:
    """For each two classes the rows of both, their signs, the signed dual coefficients of all rows and the intercept.

    As scikit-learn lays them out: support vectors class by class, a machine's coefficients in the line of the other class. Of
    three classes and more a positive value is for the first of the two, of two classes for the second.
    """
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    sign = 1.0 if len(model.classes_) > 2 else -1.0
    for number, (i, j) in enumerate(combinations(range(len(model.classes_)), 2)):
        alpha = np.zeros(len(codes))
        for one, line in ((i, j - 1), (j, i)):
            own = slice(ends[one], ends[one + 1])
            alpha[model.support_[own]] = model.dual_coef_[line, own]
        kept = np.flatnonzero((codes == i) | (codes == j))
        yield kept, np.where(codes[kept] == i, sign, -sign), alpha, float(model.intercept_[number])


def assert_solves(A: np.ndarray, X: np.ndarray, B: np.ndarray, *, factor: float = 10.0) -> None:
    """Backward stable: X solves a system that is A but for rounding."""
    residual = np.linalg.norm(A @ X - B)
    size = np.linalg.norm(A) * np.linalg.norm(X) + np.linalg.norm(B)
    assert residual <= factor * len(A) * np.finfo(np.float64).eps * size
