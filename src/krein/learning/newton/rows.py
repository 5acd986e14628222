"""The interface of rows for Newton's method, wherever they are stored; and rows whose features are in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from krein._core.rows import row_blocks
from krein._core.threads import n_threads, share
from krein.learning.newton.losses import Evaluated, Problems

__all__ = ["MemoryPoint", "MemoryRows", "Moments", "NewtonRows", "Point", "Solve", "cholesky_solver"]

_ROWS = 1024  # rows of a product that one thread forms at a time; fixed, so that results do not depend on their number

Solve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Moments:
    """What is known of the rows before the first step.

    Parameters
    ----------
    gram : ndarray of shape (n_components + 1, n_components + 1)
        Weighted mean of z̃ z̃ᵀ, float64, where z̃ is a row of features and a one.
    class_weight : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    n_rows : int
        Rows of positive weight.
    """

    gram: np.ndarray
    class_weight: np.ndarray
    n_rows: int


class Point(ABC):
    """Some problems at some coefficients.

    Attributes
    ----------
    problems : Problems
    total : ndarray of shape (n_problems,)
        Sums of losses.
    gradient : ndarray of shape (n_components + 1, n_columns)
        Of those.
    summed : ndarray of shape (n_problems, size, size)
        Sums over rows of the second derivatives by the values.
    """

    problems: Problems
    total: np.ndarray
    gradient: np.ndarray
    summed: np.ndarray

    @abstractmethod
    def product(self, V: np.ndarray, some: np.ndarray) -> np.ndarray:
        """The Hessian of the losses of some problems times V."""

    @abstractmethod
    def solvers(self, columns: np.ndarray, penalty: np.ndarray) -> list[Solve]:
        """For each of some columns, the inverse of its own block of the Hessian with the penalty on its diagonal."""


class NewtonRows(ABC):
    """Rows of features with a one at the end, their classes and weights.

    Attributes
    ----------
    width : int
        Number of features, without the one.
    dtype : dtype
        Of coefficients and products.
    """

    width: int
    dtype: np.dtype[np.floating]

    @abstractmethod
    def moments(self) -> Moments:
        """What is known of the rows before the first step."""

    @abstractmethod
    def at(self, W: np.ndarray, problems: Problems) -> Point:
        """The problems at some coefficients."""


def cholesky_solver(system: np.ndarray) -> Solve:
    """The inverse of a positive definite matrix, which is overwritten."""
    # a direction in which no row has any curvature left has a pivot of rounding
    system[np.diag_indices_from(system)] += np.finfo(np.float64).eps * np.trace(system)
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return lambda right: np.asarray(linalg.cho_solve(factor, right, check_finite=False))


@final
class MemoryRows(NewtonRows):
    """Features in memory; blocks of rows are shared among threads.

    The blocks and the order in which they are added up are fixed: any number of threads gives the same digits.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    codes : ndarray of shape (n_rows,)
        The class of each row, counted from zero.
    weight : ndarray of shape (n_rows,) or None, default=None
    fold : ndarray of shape (n_rows,) or None, default=None
        The fold of each row, -1 for none.
    """

    def __init__(
        self, Z: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None, fold: np.ndarray | None = None
    ) -> None:
        self.Z = Z
        self.codes = codes
        self.weight = np.ones(Z.shape[0]) if weight is None else weight
        self.fold = fold
        self.width, self.dtype = Z.shape[1], Z.dtype
        self.blocks = list(row_blocks(Z.shape[0], _ROWS))
        self.threads = max(1, min(n_threads(), len(self.blocks)))

    def values(self, W: np.ndarray) -> np.ndarray:
        """Values of linear functions on all rows."""
        out = np.empty((self.Z.shape[0], W.shape[1]), dtype=self.dtype)
        inner = np.ascontiguousarray(W[:-1])

        def work(rows: slice) -> None:
            np.matmul(self.Z[rows], inner, out=out[rows])
            out[rows] += W[-1]

        share(work, self.blocks, threads=self.threads)
        return out

    def moments(self) -> Moments:
        gram = np.zeros((self.width + 1, self.width + 1))
        for rows in self.blocks:
            root = np.sqrt(self.weight[rows])
            block = self.Z[rows] * root[:, None]
            gram[:-1, :-1] += block.T @ block  # a matrix and its own transpose: half the work
            gram[-1, :-1] += root @ block
        total = self.weight.sum()
        gram[:-1, -1] = gram[-1, :-1]
        gram[-1, -1] = total
        gram /= total
        return Moments(gram, np.bincount(self.codes, self.weight), int(np.count_nonzero(self.weight)))

    def at(self, W: np.ndarray, problems: Problems) -> MemoryPoint:
        W = W.astype(self.dtype, copy=False)
        inner, offset = np.ascontiguousarray(W[:-1]), W[-1]
        found: list[Evaluated | None] = [None] * len(self.blocks)
        parts = np.empty((len(self.blocks), self.width + 1, W.shape[1]), dtype=self.dtype)

        def work(i: int) -> None:
            rows = self.blocks[i]
            Z = self.Z[rows]
            values = Z @ inner
            values += offset
            fold = None if self.fold is None else self.fold[rows]
            evaluated = problems.evaluate(values, self.codes[rows], problems.cost(self.weight[rows], fold, self.dtype))
            np.matmul(Z.T, evaluated.slope, out=parts[i, :-1])
            parts[i, -1] = evaluated.slope.sum(axis=0)
            found[i] = evaluated

        share(work, range(len(self.blocks)), threads=self.threads)
        return MemoryPoint(self, problems, [one for one in found if one is not None], parts.sum(axis=0))


@final
class MemoryPoint(Point):
    """Problems at coefficients, with the curvature of every row.

    Parameters
    ----------
    rows : MemoryRows
    problems : Problems
    blocks : list of Evaluated
        One for each block of the rows.
    gradient : ndarray of shape (n_components + 1, n_columns)
    """

    def __init__(self, rows: MemoryRows, problems: Problems, blocks: list[Evaluated], gradient: np.ndarray) -> None:
        self._rows = rows
        self.problems = problems
        self._curvature = [block.curvature for block in blocks]
        self.gradient = gradient
        self.total = np.sum([block.total for block in blocks], axis=0)
        self.summed = np.sum([problems.loss.summed(block.curvature) for block in blocks], axis=0)

    def product(self, V: np.ndarray, some: np.ndarray) -> np.ndarray:
        rows, loss = self._rows, self.problems.loss
        every = some.size == self.problems.strength.size
        inner, offset = np.ascontiguousarray(V[:-1]), V[-1]
        parts = np.empty((len(rows.blocks), *V.shape), dtype=rows.dtype)

        def work(i: int) -> None:
            Z, curvature = rows.Z[rows.blocks[i]], self._curvature[i]
            change = Z @ inner
            change += offset
            curved = loss.curve(curvature if every else loss.some(curvature, some), change)
            np.matmul(Z.T, curved, out=parts[i, :-1])
            parts[i, -1] = curved.sum(axis=0)

        share(work, range(len(rows.blocks)), threads=rows.threads)
        total: np.ndarray = parts.sum(axis=0)
        return total

    def hessians(self, columns: np.ndarray) -> np.ndarray:
        """Each column's own block of the Hessian."""
        diagonal = self._diagonal(columns)
        found = np.empty((columns.size, self._rows.width + 1, self._rows.width + 1))

        def work(i: int) -> None:
            found[i] = _block_hessian(self._rows.Z, diagonal[:, i])

        share(work, range(columns.size), threads=max(1, min(n_threads(), columns.size)))
        return found

    def _diagonal(self, columns: np.ndarray) -> np.ndarray:
        return np.concatenate([self.problems.loss.diagonal(one)[:, columns] for one in self._curvature])

    def solvers(self, columns: np.ndarray, penalty: np.ndarray) -> list[Solve]:
        diagonal = self._diagonal(columns)
        found: list[Solve | None] = [None] * columns.size

        def work(i: int) -> None:
            found[i] = _block_solver(self._rows.Z, diagonal[:, i], penalty)

        share(work, range(columns.size), threads=max(1, min(n_threads(), columns.size)))
        return [one for one in found if one is not None]


def _block_solver(Z: np.ndarray, curvature: np.ndarray, penalty: np.ndarray) -> Solve:
    """Inverse of diag(penalty) + Z̃ᵀ diag(curvature) Z̃, of the size of the columns or of the rows that have curvature."""
    rows = np.flatnonzero(curvature)
    width = Z.shape[1]
    if rows.size < width and penalty.all():
        A = np.empty((rows.size, width + 1))
        A[:, :-1] = Z[rows]
        A[:, -1] = 1.0
        A *= np.sqrt(curvature[rows], dtype=np.float64)[:, None]
        system = (A / penalty) @ A.T
        system[np.diag_indices_from(system)] += 1.0
        inner = cholesky_solver(system)

        def solve(right: np.ndarray) -> np.ndarray:
            scaled = right / penalty
            step: np.ndarray = scaled - (A.T @ inner(A @ scaled)) / penalty
            return step

        return solve
    return cholesky_solver(_block_hessian(Z, curvature) + np.diag(penalty))


def _block_hessian(Z: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Z̃ᵀ diag(curvature) Z̃."""
    rows = np.flatnonzero(curvature)
    system = np.zeros((Z.shape[1] + 1, Z.shape[1] + 1))
    for block in row_blocks(rows.size, _ROWS):
        mine = rows[block]
        root = np.sqrt(curvature[mine], dtype=np.float64)
        some = Z[mine] * root[:, None]
        system[:-1, :-1] += some.T @ some  # a matrix and its own transpose: half the work
        system[-1, :-1] += root @ some
        system[-1, -1] += root @ root
    system[:-1, -1] = system[-1, :-1]
    return system
