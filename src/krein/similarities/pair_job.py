"""Pairs of objects to be evaluated, and how they are cut into pieces of work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from krein.similarities.calls import Piece
from krein.similarities.objects import Objects

__all__ = ["Cut", "PairJob"]


@final
@dataclass(frozen=True)
class Cut:
    """Some of the rows by some of the columns of a job."""

    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.shape[0] * self.shape[1])


@final
@dataclass(frozen=True, eq=False)
class PairJob:
    """All pairs of some objects on the left and some on the right, column after column; or, zipped, each with its counterpart.

    Parameters
    ----------
    left, right : Objects
    rows, columns : ndarray of int
        Which of them.
    zipped : bool, default=False
        Whether the first on the left is paired with the first on the right only, and so on: one column.
    """

    left: Objects
    right: Objects
    rows: np.ndarray
    columns: np.ndarray
    zipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix of values."""
        return self.rows.size, 1 if self.zipped else self.columns.size

    def cut(self, done: int, pairs: int) -> Cut:
        """About so many pairs from the first that is not done: some whole lines, or part of one.

        Lines are the rows, or the columns where those are fewer: few pairs need few objects then, which matters where the
        objects are sent to another process.
        """
        height, width = self.shape
        across = height < width
        lines, length = (width, height) if across else (height, width)
        line, at = divmod(done, length)
        if at or pairs < length:
            some, part = slice(line, line + 1), slice(at, min(length, at + pairs))
        else:
            some, part = slice(line, min(lines, line + pairs // length)), slice(0, length)
        return Cut(part, some) if across else Cut(some, part)

    def whole_lines(self, pairs: int) -> int:
        """So many pairs, or some more, that a cut of them is whole lines and no pairs are left over for one cut more."""
        length = min(self.shape)
        return -(-pairs // length) * length

    def cuts(self, pairs: int, done: int = 0) -> Iterator[Cut]:
        """The job, or what is left of it, in pieces of about so many pairs."""
        size = self.shape[0] * self.shape[1]
        while done < size:
            piece = self.cut(done, pairs)
            yield piece
            done += piece.size

    def piece(self, cut: Cut, *, blocks: bool) -> Piece:
        """The objects of a cut, as calls want them."""
        columns = cut.rows if self.zipped else cut.columns
        here, there = self.left[self.rows[cut.rows]], self.right[self.columns[columns]]
        if not blocks:
            return Piece(here.one_by_one(), there.one_by_one(), (len(here), len(there)), self.zipped)
        if not self.zipped:
            return Piece(here.data, there.data, (len(here), len(there)))
        singles = [[one[i : i + 1].data for i in range(len(one))] for one in (here, there)]
        return Piece(singles[0], singles[1], (1, 1), zipped=True)

    def numbers(self, cut: Cut) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the objects of each pair of a cut, in the order of evaluation."""
        rows = self.rows[cut.rows]
        if self.zipped:
            return rows, self.columns[cut.rows]
        columns = self.columns[cut.columns]
        return np.tile(rows, columns.size), np.repeat(columns, rows.size)
