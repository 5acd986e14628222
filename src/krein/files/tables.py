"""The rows of a table as chunks of features and targets, each value checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from krein._core.checks import positive_integer
from krein._core.errors import TableError
from krein.files.table_formats import Column, Progress, Table, open_table

__all__ = ["Table", "TableChunks", "TableError", "open_table"]

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
_SAFE_DIGITS = 18  # a whole number of so many digits fits into 64 bits


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
        progress: Progress = lambda share: None,
        blanks: bool = False,
    ) -> None:
        self.table, self.columns, self.target, self.kind, self.blanks = table, tuple(columns), target, kind, blanks
        self._names = [*columns, *([] if target is None else [target])]
        table.check_columns(self._names)
        if not columns:
            raise TableError(f"{table.path} has no columns to learn from besides the target")
        if "" in columns:
            raise TableError(
                f"column {table.columns.index('') + 1} of {table.path} has no name (some programs write row numbers so); "
                "name it or leave it out"
            )
        self.chunk_rows = positive_integer(chunk_rows, "chunk_rows")
        self.progress = progress

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        text = [self.target] if self.target is not None and self.kind == "label" else []
        start, integers = 0, None
        for chunk in self.table.read(self._names, text, self.chunk_rows, self.progress):
            # one matrix at a time: columns may come as views of a matrix that is about to go
            rows = np.stack([self._numbers(chunk[name], name, start) for name in self.columns], axis=1)
            if not rows.shape[0]:
                continue
            if self.target is None:
                yield (rows,)
            elif self.kind == "number":
                yield rows, self._numbers(chunk[self.target], self.target, start, blanks=self.blanks).astype(np.float64)
            else:
                labels, integers = self._labels(np.asarray(chunk[self.target]), start, integers)
                yield rows, labels
            start += rows.shape[0]
        if not start:
            raise TableError(f"{self.table.path} has no rows")

    def _numbers(self, column: Column, name: str, start: int, *, blanks: bool = False) -> np.ndarray:
        values = np.asarray(column)
        if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            values = np.array(
                [self._number(value, name, start + i) for i, value in enumerate(column)], dtype=np.float64
            )
        values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        bad = np.isinf(values) if blanks else ~np.isfinite(values)
        if bad.any():
            i = int(bad.argmax())
            what = "is empty" if np.isnan(values[i]) else f"is {values[i]}"
            raise TableError(
                f"{self._at(name, start + i)} {what}, not a finite number; fill it in or leave the row out"
            )
        return values

    def _number(self, value: object, name: str, row: int) -> float:
        if value is None or value != value:
            return np.nan
        try:
            return float(value.replace(self.table.decimal, ".") if isinstance(value, str) else value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise TableError(
                f"{self._at(name, row)} is {_shortened(repr(value))}, not a number; leave the column out (--drop) or turn it "
                "into numbers first"
            ) from None

    def _labels(self, values: np.ndarray, start: int, integers: bool | None) -> tuple[np.ndarray, bool]:
        """Labels of a chunk, and whether they are whole numbers, which those of the chunks before decide if there were any."""
        if values.dtype.kind in "biu":
            return (values.astype(str), False) if self.blanks else (values, True)
        missing = np.array([value is None or value != value or value == "" for value in values.tolist()], dtype=bool)
        if self.blanks:
            return np.where(missing, "", values.astype(str)), False
        name = self.target or ""
        if missing.any():
            where = self._at(name, start + int(missing.argmax()))
            raise TableError(f"{where} is empty, and a missing label is not a class; fill it in or leave the row out")
        if values.dtype.kind == "f":
            return values, False
        text = values.astype(str)
        if integers is None:
            integers = all(map(_INTEGER.fullmatch, np.unique(text)))
        if not integers:
            return text, False
        for i, label in enumerate(text):
            if not _INTEGER.fullmatch(label):
                raise TableError(
                    f"{self._at(name, start + i)} is {str(label)!r}, while all labels before are whole numbers; correct it, or "
                    "write all labels as text"
                )
            if len(label) > _SAFE_DIGITS and _beyond_64_bits(label):
                raise TableError(
                    f"{self._at(name, start + i)} is {_shortened(label)}, a whole number beyond 64 bits; put a letter before "
                    "such labels, or ask for regression if they are quantities"
                )
        return text.astype(np.int64), True

    def _at(self, name: str, row: int) -> str:
        return f"{self.table.path}, row {row + 1}, column {name!r}"


def _beyond_64_bits(label: str) -> bool:
    # Python itself refuses to read numbers of some thousand digits
    return len(label.strip().lstrip("+-0")) > _SAFE_DIGITS + 1 or not -(2**63) <= int(label) < 2**63


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}…{text[-10:]}"
