"""Rows to learn from, wherever they are: looked at once for what is chosen, then summed block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, final

import numpy as np

from krein._core.rows import row_blocks
from krein.rows import look as looks
from krein.rows.blocks import finite_rows
from krein.rows.columns import ColumnSummary
from krein.rows.look import Look, LookSums
from krein.rows.sample import sample_numbers
from krein.rows.targets import Targets

__all__ = ["Add", "Block", "ChunkRows", "Dealt", "MatrixRows", "Parts", "RowSource"]

_BLOCK_ENTRIES = 2**23  # of rows that are checked at a time, 64 MB in float64

Block = tuple[Any, Any, "np.ndarray | None"]  # rows, targets and weights
Add = Callable[..., None]  # (sums, start, X, y, weight) -> None
Report = Callable[[int, int], object]
Result = TypeVar("Result")
Sums = TypeVar("Sums")


class Parts(Protocol):
    """Rows that were dealt to parts, each of which can be worked on alone."""

    def map(
        self, work: Callable[[Any], Result], numbers: Sequence[int], *, last: bool = False, report: Report | None = None
    ) -> list[Result]:
        """Results for some parts; `last`: a part is not needed any more."""
        ...


class Dealt(Parts, Protocol):
    """What deals rows: on one machine it keeps the parts itself."""

    n_parts: int

    def cut(self, start: int, X: Any, y: Any, weight: np.ndarray | None) -> list[Any]:
        """The pieces of a block, one for each part."""
        ...

    def joined(self, pieces: list[Any]) -> Any:
        """Pieces of one part as one."""
        ...

    def add(self, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
        """Deal a block."""
        ...


class RowSource(ABC):
    """Rows with targets and weights, checked where they are read: finite, as many targets and weights as rows.

    Attributes
    ----------
    again : bool
        Whether rows can be passed over once more after the look.
    more : bool
        Whether further rows will be learned from in later calls.
    here : bool
        Whether sums are made in this process.
    """

    again = True
    more = False
    here: ClassVar[bool] = True

    @abstractmethod
    def look(self, targets: Targets | None = None, *, with_targets: bool = True, summarize: bool = False) -> Look:
        """One pass before anything is chosen: targets are noted, rows sampled, columns summarized."""

    @abstractmethod
    def reduce(self, sums: Sums, add: Add) -> Sums:
        """Sums to which ``add(sums, start, X, y, weight)`` has added every block."""

    def deal(self, dealt: Dealt) -> Parts:
        """Rows dealt to parts."""
        return self.reduce(dealt, _deal)

    def matrix(self) -> Block | None:
        """All rows at once, where they are in memory."""
        return None


def _deal(dealt: Dealt, start: int, X: Any, y: Any, weight: np.ndarray | None) -> None:
    dealt.add(start, X, y, weight)


@final
class MatrixRows(RowSource):
    """Rows of a matrix, which may be a memory map.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Numbers, not known to be finite yet.
    y : ndarray of n_rows entries, default=None
    weight : ndarray of shape (n_rows,), default=None
    start : int, default=0
        The number of the first row.
    more : bool, default=False
        Whether further rows will be learned from in later calls.
    pairwise : bool, default=False
        Whether rows are similarities to all rows.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        weight: np.ndarray | None = None,
        *,
        start: int = 0,
        more: bool = False,
        pairwise: bool = False,
    ) -> None:
        self.X, self.y, self.weight = X, y, weight
        self.start, self.more, self._pairwise = start, more, pairwise
        self._finite = False  # whether all rows are known to be

    def look(self, targets: Targets | None = None, *, with_targets: bool = True, summarize: bool = False) -> Look:
        n_rows = self.X.shape[0]
        if summarize and n_rows > looks.FEATURE_ROWS:
            sums = LookSums(targets, with_targets=with_targets, summarize=True)
            return self.reduce(sums, LookSums.add).look()
        if targets is not None:
            targets.note(self.y, self.start, self.weight)
        if self._pairwise or n_rows <= looks.FEATURE_ROWS:
            X, y, weight = self.matrix()
            columns = ColumnSummary.of(X, weight) if summarize and isinstance(X, np.ndarray) else None
            return Look(X, y, weight, n_rows, True, columns, self._pairwise)
        some = sample_numbers(n_rows, looks.FEATURE_ROWS)
        sample = finite_rows(self.X[some], some + self.start)
        y, weight = (None if part is None else part[some] for part in (self.y, self.weight))
        return Look(sample, y, weight, n_rows, False)

    def reduce(self, sums: Sums, add: Add) -> Sums:
        for rows in row_blocks(self.X.shape[0], max(1, _BLOCK_ENTRIES // max(1, self.X.shape[1]))):
            start = self.start + rows.start
            y, weight = (None if part is None else part[rows] for part in (self.y, self.weight))
            X = self.X[rows]
            add(sums, start, X if self._finite else finite_rows(X, start), y, weight)
        self._finite = self._finite or self.X.dtype in (np.float32, np.float64)
        return sums

    def matrix(self) -> Block:
        if not self._finite:
            self.X, self._finite = finite_rows(self.X, self.start), True
        return self.X, self.y, self.weight


@final
class ChunkRows(RowSource):
    """Rows in chunks: a collection is read once for each pass, an iterator once.

    The head of an iterator is looked at and kept; with all its rows in the head, it is like a collection.

    Parameters
    ----------
    chunks : iterable of tuples
    check : callable
        ``(chunk, number of its first row) -> X, y, weight``.
    """

    def __init__(self, chunks: Iterable[tuple[Any, ...]], check: Callable[[tuple[Any, ...], int], Block]) -> None:
        self._chunks, self._check = chunks, check
        self._rest: Iterator[tuple[Any, ...]] | None = None
        if iter(chunks) is chunks:
            self._rest = iter(chunks)
        self._head: list[tuple[int, Block]] = []

    def look(self, targets: Targets | None = None, *, with_targets: bool = True, summarize: bool = False) -> Look:
        sums = LookSums(targets, with_targets=with_targets, summarize=summarize)
        for start, block in self._blocks():
            sums.add(start, *block)
            if self._rest is not None:
                self._head.append((start, block))
                if sums.rows >= looks.FEATURE_ROWS:
                    self.again = False
                    break
        return sums.look(complete=self.again)

    def reduce(self, sums: Sums, add: Add) -> Sums:
        found = False
        for start, block in self._blocks():
            add(sums, start, *block)
            found = True
        if not found:
            raise ValueError("chunks gave rows in the first pass and none in the second; pass a list or an iterator")
        return sums

    def _blocks(self) -> Iterator[tuple[int, Block]]:
        """Checked chunks with the number of the first row of each."""
        start = 0
        if self.again:
            for start, block in self._head:
                yield start, block
                start += block[0].shape[0]
        else:
            while self._head:  # let go of what will not be asked for again
                start, block = self._head.pop(0)
                yield start, block
                start += block[0].shape[0]
        for chunk in self._chunks if self._rest is None else self._rest:
            X, y, weight = self._check(chunk, start)
            yield start, (finite_rows(X, start), y, weight)
            start += X.shape[0]
