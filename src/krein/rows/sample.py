"""A bounded sample of a stream of rows that does not depend on how the stream is cut into blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["RowSample", "row_keys", "sample_numbers", "stack_rows"]

_SALT = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio, as in SplitMix64
_KEYS_AT_A_TIME = 2**20  # row numbers hashed at once, 8 MiB of keys


def row_keys(numbers: np.ndarray) -> np.ndarray:
    """Pseudo-random keys in [0, 1) of the rows of a stream with these numbers.

    A key depends on nothing but the number of its row. Whoever reads a row, in whatever block, on whatever machine,
    gives it the same key, so samples drawn by key agree between one machine and many.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.rows.sample import row_keys
    >>> bool((row_keys(np.arange(10))[4:] == row_keys(np.arange(4, 10))).all())
    True
    """
    key = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * _SALT
    # the finalizer of SplitMix64 (Steele, Lea and Flood, 2014): every input bit reaches every output bit
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    key ^= key >> np.uint64(31)
    keys: np.ndarray = (key >> np.uint64(11)) * 2.0**-53
    return keys


def sample_numbers(n_rows: int, limit: int) -> np.ndarray:
    """The numbers of the `limit` rows of smallest key among rows 0 to n_rows − 1, ascending; all of them if there are fewer."""
    if n_rows <= limit:
        return np.arange(n_rows)
    sample = RowSample(limit)
    for start in range(0, n_rows, _KEYS_AT_A_TIME):  # never all keys at once: a billion of them are 8 GB
        numbers = np.arange(start, min(start + _KEYS_AT_A_TIME, n_rows))
        sample.add(numbers, numbers)
    found: np.ndarray = sample.columns()[0]
    return found


class RowSample:
    """The rows of smallest key seen so far, at most `limit` of them, with whatever travels beside each row.

    Parameters
    ----------
    limit : int
        Most rows to keep. A stream of no more rows is kept whole.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.rows.sample import RowSample
    >>> whole, left, right = RowSample(3), RowSample(3), RowSample(3)
    >>> X = np.arange(10.0)[:, None]
    >>> number = np.arange(10)
    >>> whole.add(number, X); left.add(number[:7], X[:7]); right.add(number[7:], X[7:])
    >>> left.merge(right)
    >>> bool((whole.columns()[0] == left.columns()[0]).all())
    True
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._index = np.empty(0, dtype=np.int64)
        self._keys = np.empty(0)
        self._columns: list[list[Any]] | None = None

    def __len__(self) -> int:
        return min(self.limit, self._keys.size)

    def add(self, numbers: np.ndarray, *columns: Any) -> None:
        """Offer a block of rows."""
        keys = row_keys(numbers)
        if self._keys.size >= self.limit:
            rows = np.flatnonzero(keys < np.partition(self._keys, self.limit - 1)[self.limit - 1])
        elif keys.size > self.limit:  # no more of one block: what will be thrown away need not be copied
            rows = np.sort(np.argpartition(keys, self.limit - 1)[: self.limit])
        else:
            rows = np.arange(keys.size)
        # fancy indexing copies: the block itself may be a view of a file or of a buffer to be used again
        self._append(numbers[rows], keys[rows], [column[rows] for column in columns])

    def merge(self, other: RowSample) -> None:
        """Take over what another sample of the same stream has kept."""
        if other._columns is not None:
            self._append(other._index, other._keys, [stack_rows(column) for column in other._columns])

    def columns(self) -> list[Any]:
        """What was kept, column by column, in the order of the stream."""
        self._compact()
        if self._columns is None:
            return []
        if (np.diff(self._index) > 0).all():
            return [stack_rows(column) for column in self._columns]
        order = np.argsort(self._index, kind="stable")
        return [stack_rows(column)[order] for column in self._columns]

    def _append(self, index: np.ndarray, keys: np.ndarray, columns: list[Any]) -> None:
        if not index.size:
            return
        self._index = np.concatenate([self._index, index])
        self._keys = np.concatenate([self._keys, keys])
        if self._columns is None:
            self._columns = [[] for _ in columns]
        for kept, new in zip(self._columns, columns, strict=True):
            kept.append(new)
        if self._keys.size > 2 * self.limit:  # seldom, so that the cost per row stays constant
            self._compact()

    def _compact(self) -> None:
        if self._keys.size <= self.limit or self._columns is None:
            return
        keep = np.argpartition(self._keys, self.limit - 1)[: self.limit]
        self._index, self._keys = self._index[keep], self._keys[keep]
        self._columns = [[stack_rows(column)[keep]] for column in self._columns]


def stack_rows(parts: list[Any]) -> Any:
    """One matrix or vector out of several with the same columns."""
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    return np.concatenate(parts)
