"""Losses of linear functions of a row: value, slope and curvature, for many problems on the same rows at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

__all__ = ["BinaryLogistic", "Evaluated", "Loss", "Problems", "Softmax", "SquaredHinge"]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A loss on some rows, at some values of the linear functions.

    Parameters
    ----------
    total : ndarray of shape (n_problems,)
        Sums over the rows.
    slope : ndarray of shape (n_rows, n_columns)
        Derivatives by the values.
    curvature : tuple of ndarray
        What `Loss.curve` needs, each with one row per row.
    """

    total: np.ndarray
    slope: np.ndarray
    curvature: tuple[np.ndarray, ...]


class Loss(ABC):
    """A convex loss of the values of the `size` linear functions of a problem.

    Arrays over rows have one column for each function of each problem, those of a problem next to each other.

    Attributes
    ----------
    size : int
        Linear functions of a problem.
    flat_curvature : float or None
        The curvature of a row, where all rows that have any have the same.
    """

    size: int
    flat_curvature: float | None = None

    @abstractmethod
    def evaluate(self, values: np.ndarray, codes: np.ndarray, cost: np.ndarray, positive: np.ndarray) -> Evaluated:
        """The loss and its derivatives."""

    @abstractmethod
    def curve(self, curvature: tuple[np.ndarray, ...], change: np.ndarray) -> np.ndarray:
        """Second derivatives times a change of the values, shape (n_rows, n_columns)."""

    @abstractmethod
    def some(self, curvature: tuple[np.ndarray, ...], problems: np.ndarray) -> tuple[np.ndarray, ...]:
        """The curvature of some of the problems."""

    @abstractmethod
    def diagonal(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        """Second derivatives by one function at a time, shape (n_rows, n_columns)."""

    @abstractmethod
    def summed(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        """Sums over rows of the matrices of second derivatives, shape (n_problems, size, size)."""


class _OneFunction(Loss):
    """What losses of one function have in common: a sign for each row and problem, and a curvature that is a number."""

    size = 1

    def curve(self, curvature: tuple[np.ndarray, ...], change: np.ndarray) -> np.ndarray:
        curved: np.ndarray = curvature[0] * change
        return curved

    def some(self, curvature: tuple[np.ndarray, ...], problems: np.ndarray) -> tuple[np.ndarray, ...]:
        return (curvature[0][:, problems],)

    def diagonal(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        return curvature[0]

    def summed(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        return np.asarray(curvature[0].sum(axis=0, dtype=np.float64)[:, None, None])


def _signs(codes: np.ndarray, positive: np.ndarray, dtype: Any) -> np.ndarray:
    return np.where(codes[:, None] == positive, 1.0, -1.0).astype(dtype)


@final
class SquaredHinge(_OneFunction):
    r""":math:`\max(0, 1 - s f)^2` with :math:`s = \pm 1`."""

    flat_curvature = 2.0

    def evaluate(self, values: np.ndarray, codes: np.ndarray, cost: np.ndarray, positive: np.ndarray) -> Evaluated:
        signs = _signs(codes, positive, values.dtype)
        slack = np.maximum(1.0 - signs * values, 0.0)
        priced = cost * slack
        total = np.einsum("ij,ij->j", priced, slack, dtype=np.float64)
        return Evaluated(total, -2.0 * signs * priced, (self.flat_curvature * cost * (slack > 0),))


@final
class BinaryLogistic(_OneFunction):
    r""":math:`\log(1 + e^{-s f})` with :math:`s = \pm 1`."""

    def evaluate(self, values: np.ndarray, codes: np.ndarray, cost: np.ndarray, positive: np.ndarray) -> Evaluated:
        signs = _signs(codes, positive, values.dtype)
        margin = signs * values
        small = np.exp(-np.abs(margin))
        wrong = np.where(margin > 0, small, 1.0) / (1.0 + small)  # the probability of the other class
        loss = np.maximum(-margin, 0.0) + np.log1p(small)
        total = np.einsum("ij,ij->j", cost, loss, dtype=np.float64)
        return Evaluated(total, -signs * cost * wrong, (cost * small / np.square(1.0 + small),))


@final
class Softmax(Loss):
    r"""Minus the logarithm of the probability of the right class, :math:`p_c \propto e^{f_c}`.

    Parameters
    ----------
    size : int
        Number of classes.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def evaluate(self, values: np.ndarray, codes: np.ndarray, cost: np.ndarray, positive: np.ndarray) -> Evaluated:
        n, problems = cost.shape
        scores = values.reshape(n, problems, self.size)
        scores = scores - scores.max(axis=2, keepdims=True)
        chances = np.exp(scores)
        mass = chances.sum(axis=2, keepdims=True)
        chances /= mass
        rows = np.arange(n)
        loss = np.log(mass[:, :, 0]) - scores[rows, :, codes]
        total = np.einsum("ij,ij->j", cost, loss, dtype=np.float64)
        slope = cost[:, :, None] * chances
        slope[rows, :, codes] -= cost
        return Evaluated(total, slope.reshape(values.shape), (chances, cost))

    def curve(self, curvature: tuple[np.ndarray, ...], change: np.ndarray) -> np.ndarray:
        chances, cost = curvature
        moved = chances * change.reshape(chances.shape)
        moved -= chances * moved.sum(axis=2, keepdims=True)
        moved *= cost[:, :, None]
        return np.asarray(moved.reshape(change.shape))

    def some(self, curvature: tuple[np.ndarray, ...], problems: np.ndarray) -> tuple[np.ndarray, ...]:
        chances, cost = curvature
        return chances[:, problems], cost[:, problems]

    def diagonal(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        chances, cost = curvature
        return np.asarray((cost[:, :, None] * chances * (1.0 - chances)).reshape(chances.shape[0], -1))

    def summed(self, curvature: tuple[np.ndarray, ...]) -> np.ndarray:
        chances, cost = curvature
        priced = np.moveaxis(cost[:, :, None] * chances, 0, 2).astype(np.float64)  # problem, class, row
        sums = -priced @ np.moveaxis(chances, 0, 1).astype(np.float64)
        index = np.arange(self.size)
        sums[:, index, index] += priced.sum(axis=2)
        return np.asarray(sums)


@dataclass(frozen=True, eq=False)
class Problems:
    """Problems on the same rows, which advance together.

    Parameters
    ----------
    loss : Loss
    positive : ndarray of shape (n_problems,)
        The class that each tells from the others, where it has one function.
    left_out : ndarray of shape (n_problems,)
        The fold whose rows each does not see; -1 sees all.
    strength : ndarray of shape (n_problems,)
        The factor of the loss of a row of weight 1.
    """

    loss: Loss
    positive: np.ndarray
    left_out: np.ndarray
    strength: np.ndarray

    @property
    def n_columns(self) -> int:
        """Linear functions of all problems."""
        return int(self.strength.size) * self.loss.size

    def some(self, problems: np.ndarray) -> Problems:
        """Some of them."""
        return replace(
            self,
            positive=self.positive[problems],
            left_out=self.left_out[problems],
            strength=self.strength[problems],
        )

    def columns(self, problems: np.ndarray) -> np.ndarray:
        """The columns of some problems."""
        return (problems[:, None] * self.loss.size + np.arange(self.loss.size)).ravel()

    def cost(self, weight: np.ndarray, fold: np.ndarray | None, dtype: Any) -> np.ndarray:
        """The factor of the loss of each row in each problem."""
        cost = weight[:, None] * self.strength
        if fold is not None:
            cost[(fold[:, None] == self.left_out) & (fold[:, None] >= 0)] = 0.0
        return np.asarray(cost.astype(dtype, copy=False))

    def evaluate(self, values: np.ndarray, codes: np.ndarray, cost: np.ndarray) -> Evaluated:
        """The loss of all problems on some rows."""
        return self.loss.evaluate(values, codes, cost, self.positive)
