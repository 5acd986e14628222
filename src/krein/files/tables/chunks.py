"""The table in a file, and its rows as chunks of features and targets, each value checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from krein._core.checks import positive_integer
from krein._core.errors import TableError
from krein.files.tables.binary_tables import NpzTable, ParquetTable
from krein.files.tables.csv_table import CsvTable
from krein.files.tables.table import Column, Progress, Table

__all__ = ["TableChunks", "open_table"]

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
_SAFE_DIGITS = 18  # a whole number of so many digits fits into 64 bits
_INT64 = np.iinfo(np.int64)


class TableChunks:
    """A table as chunks ``(X, y)`` that can be iterated repeatedly, as `KreinRidge.fit_chunks` needs.

    Parameters
    ----------
    table : Table
    columns : sequence of str
        Columns of X, in this order; all must hold numbers.
    target : str or None
        Column of y; None for chunks ``(X,)``.
    kind : {"number", "label"}, default="number"
        Kind of the target. Labels that are all whole numbers in the first chunk are integers, else text.
    chunk_rows : int, default=50000
        Largest number of rows of a chunk.
    progress : callable, default=None
        Called with the share of the file that has been read.
    blanks : bool, default=False
        Whether targets may be missing, as they are in rows to predict: a missing number is NaN, a missing label an empty text.

    Raises
    ------
    TableError
        For columns that are missing, when it is made; for values that are not numbers or labels, when they are reached.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[str],
        target: str | None = None,
        *,
        kind: Literal["number", "label"] = "number",
        chunk_rows: int = 50_000,
        progress: Progress | None = None,
        blanks: bool = False,
    ) -> None:
        table.check_columns([*columns, *([target] if target is not None else [])])
        if not columns:
            raise TableError(f"{table.path} has no columns to learn from besides the target")
        if "" in columns:
            raise TableError(
                f"column {columns.index('') + 1} of {table.path} has no name (some programs write row numbers so); "
                "name it or leave it out"
            )
        self.table, self.columns, self.target, self.kind = table, tuple(columns), target, kind
        self.blanks = blanks
        self.chunk_rows = positive_integer(chunk_rows, "chunk_rows")
        self.progress = progress if progress is not None else lambda share: None

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        names = [*self.columns, *([self.target] if self.target is not None else [])]
        text = [self.target] if self.target is not None and self.kind == "label" else []
        start, integers = 0, None
        for chunk in self.table.read(names, text, self.chunk_rows, self.progress):
            # one matrix at a time: columns may come as views of a matrix that is about to go
            X = [self._numbers(chunk[name], name, start) for name in self.columns]
            rows = np.stack(X, axis=1)
            if not rows.shape[0]:
                continue
            if self.target is None:
                yield (rows,)
            elif self.kind == "number":
                numbers = self._numbers(chunk[self.target], self.target, start, blanks=self.blanks)
                yield rows, numbers.astype(np.float64)
            elif self.blanks:
                missing = _missing(np.asarray(chunk[self.target]))
                yield rows, np.where(missing, "", np.asarray(chunk[self.target]).astype(str))
            else:
                labels, integers = self._labels(chunk[self.target], start, integers)
                yield rows, labels
            start += rows.shape[0]
        if not start:
            raise TableError(f"{self.table.path} has no rows")

    def _numbers(self, column: Column, name: str, start: int, *, blanks: bool = False) -> np.ndarray:
        values = np.asarray(column)
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            values = self._parse(column, name, start)
        values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        bad = np.isinf(values) if blanks else ~np.isfinite(values)
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            what = "is empty" if np.isnan(values[i]) else f"is {values[i]}"
            raise TableError(
                f"{self._place(name, start + i)} {what}, not a finite number; fill it in or leave the row out"
            )
        return values

    def _parse(self, column: Column, name: str, start: int) -> np.ndarray:
        parsed = np.empty(len(column))
        for i, value in enumerate(column):
            try:
                parsed[i] = np.nan if value is None or value != value else float(value)
            except (TypeError, ValueError, OverflowError):
                raise TableError(
                    f"{self._place(name, start + i)} is {_shortened(repr(value))}, not a number; leave the column out (--drop) or "
                    "turn it into numbers first"
                ) from None
        return parsed

    def _labels(self, column: Column, start: int, integers: bool | None) -> tuple[np.ndarray, bool]:
        values = np.asarray(column)
        if values.dtype.kind in "biu":
            return values, True
        missing = _missing(values)
        if missing.any():
            where = self._place(self.target or "", start + int(np.flatnonzero(missing)[0]))
            raise TableError(f"{where} is empty, and a missing label is not a class; fill it in or leave the row out")
        if values.dtype.kind == "f":
            return values, False
        text = values.astype(str)
        if integers is None:
            integers = all(_is_integer(label) for label in np.unique(text))
        if not integers:
            return text, False
        for i, label in enumerate(text):
            if not _is_integer(label):
                raise TableError(
                    f"{self._place(self.target or '', start + i)} is {str(label)!r}, while all labels before are whole numbers; "
                    "correct it, or write all labels as text"
                )
            if len(label) > _SAFE_DIGITS and _beyond_64_bits(label):
                raise TableError(
                    f"{self._place(self.target or '', start + i)} is {_shortened(label)}, a whole number beyond 64 bits; put a "
                    "letter before such labels, or ask for regression if they are quantities"
                )
        return text.astype(np.int64), True

    def _place(self, name: str, row: int) -> str:
        return f"{self.table.path}, row {row + 1}, column {name!r}"


def _missing(values: np.ndarray) -> np.ndarray:
    """Which labels are not there."""
    if values.dtype.kind in "biu":
        return np.zeros(values.shape, dtype=bool)
    return np.array([v is None or v != v or v == "" for v in values.tolist()], dtype=bool)


def _is_integer(label: str) -> bool:
    return _INTEGER.fullmatch(label) is not None


def _beyond_64_bits(label: str) -> bool:
    digits = label.strip().lstrip("+-").lstrip("0")
    if len(digits) > _SAFE_DIGITS + 1:  # Python itself refuses to read numbers of some thousand digits
        return True
    return int(digits or 0) > (_INT64.max if "-" not in label else -int(_INT64.min))


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}…{text[-10:]}"


_TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_BINARY: dict[str, Callable[[Path], Table]] = {".npz": NpzTable, ".parquet": ParquetTable, ".pq": ParquetTable}


def open_table(path: str | os.PathLike[str], *, sep: str | None = None, decimal: str = ".") -> Table:
    """The table in a file, by the ending of its name: ``.csv``, ``.tsv`` (also with ``.gz``), ``.npz``, ``.parquet``.

    Parameters
    ----------
    path : str or path
    sep : str, default=None
        What separates the fields of a text file; None for tabs in ``.tsv`` and commas in ``.csv``.
    decimal : str, default="."
        Decimal mark of a text file.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If there is no such file, or it is not a table.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from krein.files.tables import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.npz")
    ...     np.savez(path, X=np.zeros((5, 2)), y=np.arange(5))
    ...     open_table(path).columns
    ('X0', 'X1', 'y')
    """
    path = Path(path)
    ending = next((ending for ending in (*_TEXT, *_BINARY) if path.name.lower().endswith(ending)), None)
    if ending is None:
        known = ", ".join((*_TEXT, *_BINARY))
        raise TableError(f"the format of {path} is unknown; the name of a table must end in {known}")
    if ending in _BINARY and (sep is not None or decimal != "."):
        raise TableError(f"{path} is no text file, so it has neither a separator nor a decimal mark; leave them out")
    if path.is_dir():
        raise TableError(f"{path} is a folder; give one file")
    if not path.exists():
        raise TableError(f"there is no file {path}")
    if not path.is_file():
        raise TableError(f"{path} is a device or a pipe; a table is read more than once, so save it to a file first")
    return _BINARY[ending](path) if ending in _BINARY else CsvTable(path, sep, decimal)
