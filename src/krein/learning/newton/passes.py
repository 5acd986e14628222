"""Rows whose features are never kept: every evaluation in Newton's method is a pass over blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import numpy as np

from krein.features import RowMap
from krein.learning.newton.labeled import class_codes
from krein.learning.newton.losses import Problems
from krein.learning.newton.machines import Preparation
from krein.learning.newton.rows import MemoryRows, Moments, NewtonRows, Point, Solve, cholesky_solver
from krein.rows.blocks import feature_blocks
from krein.rows.source import RowSource
from krein.rows.targets import LabelTargets

__all__ = ["PassRows", "RowTask", "Totals", "prepared_passes"]

_HESSIAN_BYTES = 2**28  # of the Hessians that one pass adds up


@final
class Totals:
    """Some arrays to add to, one for each quantity."""

    def __init__(self, shapes: Sequence[tuple[int, ...]]) -> None:
        self.parts = [np.zeros(shape) for shape in shapes]

    def add(self, *parts: np.ndarray | float) -> None:
        """Add to all of them."""
        for total, part in zip(self.parts, parts, strict=True):
            total += part

    def merge(self, other: Totals) -> None:
        """Add the totals of other rows."""
        self.add(*other.parts)


@dataclass(frozen=True, eq=False)
class RowTask:
    """What it takes to turn a block of rows into rows of Newton's method; travels to where the blocks are.

    Parameters
    ----------
    features : RowMap
    targets : LabelTargets
    preparation : Preparation
    """

    features: RowMap
    targets: LabelTargets
    preparation: Preparation = field(default_factory=Preparation)

    @property
    def classes(self) -> np.ndarray:
        """Sorted."""
        return self.targets.sorted_classes()[0]

    def blocks(self, start: int, X: Any, y: Any, weight: np.ndarray | None) -> Iterator[MemoryRows]:
        """Rows of positive weight, ready for products."""
        for block in feature_blocks(self.features, X, y, self.targets.weigh(y, weight), start=start):
            yield MemoryRows(self.preparation(block.Z), class_codes(block.y, self.classes), block.weight)


def _add_moments(task: RowTask, totals: Totals, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
    for rows in task.blocks(start, X, y, weight):
        found = rows.moments()
        classes = np.zeros(task.classes.size)
        classes[: found.class_weight.size] = found.class_weight
        totals.add(found.gram * classes.sum(), classes, float(found.n_rows))


def _add_point(
    task: RowTask, W: np.ndarray, problems: Problems, totals: Totals, start: int, X: Any, y: Any, weight: Any
) -> None:
    for rows in task.blocks(start, X, y, weight):
        point = rows.at(W, problems)
        totals.add(point.total, point.gradient, point.summed)


def _add_product(
    task: RowTask,
    W: np.ndarray,
    problems: Problems,
    V: np.ndarray,
    totals: Totals,
    start: int,
    X: Any,
    y: Any,
    weight: Any,
) -> None:
    every = np.arange(problems.strength.size)
    for rows in task.blocks(start, X, y, weight):
        totals.add(rows.at(W, problems).product(V.astype(rows.dtype), every))


def _add_hessians(
    task: RowTask,
    W: np.ndarray,
    problems: Problems,
    columns: np.ndarray,
    totals: Totals,
    start: int,
    X: Any,
    y: Any,
    weight: Any,
) -> None:
    for rows in task.blocks(start, X, y, weight):
        totals.add(rows.at(W, problems).hessians(columns))


@final
class PassRows(NewtonRows):
    """Rows that are passed over for every question."""

    def __init__(self, rows: RowSource, task: RowTask) -> None:
        self.source, self.task = rows, task
        self.width = int(task.features.signature.shape[0])
        self.dtype = np.dtype(np.float64)

    def moments(self) -> Moments:
        size = self.width + 1
        add = partial(_add_moments, self.task)
        gram, classes, n_rows = self.source.reduce(Totals([(size, size), self.task.classes.shape, ()]), add).parts
        return Moments(gram / classes.sum(), classes, int(n_rows))

    def at(self, W: np.ndarray, problems: Problems) -> Point:
        size = problems.loss.size
        empty = Totals([problems.strength.shape, W.shape, (problems.strength.size, size, size)])
        found = self.source.reduce(empty, partial(_add_point, self.task, W, problems))
        return _PassPoint(self, W, problems, *found.parts)


@final
class _PassPoint(Point):
    """Problems at coefficients, of which nothing is kept but sums."""

    def __init__(
        self,
        rows: PassRows,
        W: np.ndarray,
        problems: Problems,
        total: np.ndarray,
        gradient: np.ndarray,
        summed: np.ndarray,
    ) -> None:
        self._rows, self._W, self.problems = rows, W, problems
        self.total, self.gradient, self.summed = total, gradient, summed

    def product(self, V: np.ndarray, some: np.ndarray) -> np.ndarray:
        W = self._W[:, self.problems.columns(some)]
        add = partial(_add_product, self._rows.task, W, self.problems.some(some), V)
        product: np.ndarray = self._rows.source.reduce(Totals([V.shape]), add).parts[0]
        return product

    def solvers(self, columns: np.ndarray, penalty: np.ndarray) -> list[Solve]:
        found: list[Solve] = []
        at_once = max(1, _HESSIAN_BYTES // (8 * penalty.size**2))
        for first in range(0, columns.size, at_once):
            some = columns[first : first + at_once]
            problems, places = np.unique(some // self.problems.loss.size, return_inverse=True)
            W = self._W[:, self.problems.columns(problems)]
            inside = places * self.problems.loss.size + some % self.problems.loss.size
            add = partial(_add_hessians, self._rows.task, W, self.problems.some(problems), inside)
            sums = self._rows.source.reduce(Totals([(some.size, penalty.size, penalty.size)]), add).parts[0]
            found.extend(cholesky_solver(one + np.diag(penalty)) for one in sums)
        return found


def prepared_passes(rows: RowSource, task: RowTask, *, center: bool) -> tuple[PassRows, Moments]:
    """Rows with their moments, from one pass; about the weighted mean of the features if the intercept is free."""
    passes = PassRows(rows, task)
    moments = passes.moments()
    if not center:
        return passes, moments
    mean, factor = moments.gram[-1, :-1], task.preparation.factor
    gram = moments.gram - np.multiply.outer(moments.gram[-1], moments.gram[-1])
    gram[-1, -1] = 1.0
    shifted = replace(task.preparation, shift=mean if factor is None else mean / factor)
    return PassRows(rows, replace(task, preparation=shifted)), replace(moments, gram=gram)
