"""The interface of a table, independent of its file format."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from krein._core.errors import TableError

__all__ = ["MOST_COLUMNS", "Column", "Progress", "Table", "check_width", "import_reader"]

# More columns than any table of rows and features has; a file turned on its side would take hours before it fails otherwise.
MOST_COLUMNS = 100_000
_SHOWN = 20  # columns named in an error

Progress: TypeAlias = Callable[[float], None]
Column: TypeAlias = Any  # a numpy array or a pandas Series


class Table(ABC):
    """Named columns of equal length, read in chunks.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        At most `MOST_COLUMNS`, no name twice.
    """

    decimal = "."  # the mark in numbers that are read as text

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = tuple(columns)
        self._known = frozenset(self.columns)
        check_width(path, len(self.columns))
        if len(self._known) < len(self.columns):
            twice = next(name for name, count in Counter(self.columns).items() if count > 1)
            raise TableError(f"{path} has more than one column named {twice!r}; rename them")

    @abstractmethod
    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        """Chunks of some columns."""

    def check_columns(self, names: Sequence[str]) -> None:
        """An error that names the first column that is missing, and those there are."""
        missing = [name for name in names if name not in self._known]
        if missing:
            shown = ", ".join(self.columns[:_SHOWN]) + (", …" if len(self.columns) > _SHOWN else "")
            raise TableError(f"{self.path} has no column {missing[0]!r}; its columns are {shown}")


def check_width(path: Path, n_columns: int) -> None:
    """An error if there are more columns than tables have."""
    if n_columns > MOST_COLUMNS:
        raise TableError(
            f"{path} has {n_columns:,} columns, more than the {MOST_COLUMNS:,} that are read; rows must be samples and columns "
            "features, so transpose the table if it is the other way round, or leave columns out"
        )


def import_reader(name: str) -> Any:
    """A package that reads files, or an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"reading this table needs {package}; install it with: pip install {package}, or 'krein[data]'"
        ) from error
