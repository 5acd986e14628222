"""Tables in files, a chunk of rows at a time: separated values, NumPy archives and Apache Parquet."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import math
import os
import re
import warnings
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeAlias, final

import numpy as np

from krein._core.errors import TableError

__all__ = ["Column", "Progress", "Table", "import_reader", "open_table"]

# More columns than any table of rows and features has; a file turned on its side would take hours before it fails otherwise.
_MOST_COLUMNS = 100_000
_SHOWN = 20  # columns named in an error
_HEADER_BYTES = 2**26  # looked at for the end of the first line
_TOO_LONG = re.compile(r"Expected \d+ fields in line (\d+), saw (\d+)")  # what pandas says of a line
# What damaged files may raise: zipfile, gzip and numpy have no common ancestor for it.
_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)

Progress: TypeAlias = Callable[[float], None]
Column: TypeAlias = Any  # a numpy array or a pandas Series
Chunks: TypeAlias = Iterator[dict[str, Column]]


class Table(ABC):
    """Named columns of equal length, read in chunks; at most 100,000, no name twice."""

    decimal = "."  # the mark in numbers that are read as text

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path, self.columns = path, tuple(columns)
        _check_width(path, len(self.columns))
        if len(set(self.columns)) < len(self.columns):
            twice = Counter(self.columns).most_common(1)[0][0]
            raise TableError(f"{path} has more than one column named {twice!r}; rename them")

    @abstractmethod
    def read(self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress) -> Chunks:
        """Chunks of some columns."""

    def check_columns(self, names: Sequence[str]) -> None:
        """An error that names the first column that is missing, and those there are."""
        known = frozenset(self.columns)
        missing = [name for name in names if name not in known]
        if missing:
            shown = ", ".join(self.columns[:_SHOWN]) + (", …" if len(self.columns) > _SHOWN else "")
            raise TableError(f"{self.path} has no column {missing[0]!r}; its columns are {shown}")


def _check_width(path: Path, n_columns: int) -> None:
    if n_columns > _MOST_COLUMNS:
        raise TableError(
            f"{path} has {n_columns:,} columns, more than the {_MOST_COLUMNS:,} that are read; rows must be samples and columns "
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


@final
class _CsvTable(Table):
    """Separated values with a header line, read with pandas; commas or, in files called .tsv, tabs if no separator is given."""

    def __init__(self, path: Path, sep: str | None = None, decimal: str = ".") -> None:
        import_reader("pandas")  # an error now, not after the header
        self._sep = sep if sep is not None else "\t" if ".tsv" in path.name.lower() else ","
        self.decimal = decimal
        for name, value in (("sep", self._sep), ("decimal", decimal)):
            if len(value) != 1 or not value.isascii() or value in '"\n\r':
                raise ValueError(f"{name} must be a single character of ASCII, got {value!r}")
        if self._sep == decimal:
            raise ValueError(f"sep and decimal must differ, got {decimal!r} for both; use sep=';' with decimal=','")
        try:
            with ExitStack() as stack:
                stream = _opened(path, stack)[1]
                _check_width(path, stream.readline(_HEADER_BYTES).count(self._sep.encode()) + 1)
                stream.seek(0)
                lines = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=self._sep)
                header = next((line for line in lines if line), None)
        except TableError:
            raise
        except (csv.Error, *_DAMAGE) as error:
            raise TableError(f"cannot read the header of {path}: {error}") from error
        if not header:
            raise TableError(f"{path} is empty; a table needs a line with the names of its columns")
        other = next((mark for mark in ";\t," if mark in header[0]), None) if len(header) == 1 else None
        if other is not None:
            raise TableError(
                f"{path} has one column, {header[0][:80]!r}; if that is a list of columns, say what separates them, "
                f"--sep {other!r} or in Python sep={other!r}"
            )
        super().__init__(path, header)

    def read(self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress) -> Chunks:
        """Chunks of some columns; a line with more fields than the header is refused, not shifted or cut by pandas."""
        pandas = import_reader("pandas")
        size = max(1, self.path.stat().st_size)
        try:
            with ExitStack() as stack:
                raw, stream = _opened(self.path, stack)
                reader = stack.enter_context(
                    pandas.read_csv(
                        stream,
                        sep=self._sep,
                        decimal=self.decimal,
                        header=0,
                        names=list(self.columns),
                        index_col=False,
                        dtype=dict.fromkeys(text, str),
                        chunksize=chunk_rows,
                        low_memory=False,
                    )
                )
                while True:
                    with warnings.catch_warnings():
                        warnings.simplefilter("error", pandas.errors.ParserWarning)
                        frame = next(reader, None)
                    if frame is None:
                        return
                    progress(min(1.0, raw.tell() / size))
                    yield {name: frame[name] for name in columns}
        except pandas.errors.ParserWarning:
            raise self._ragged("the first row has too many fields, as") from None
        except (pandas.errors.ParserError, *_DAMAGE) as error:
            found = _TOO_LONG.search(str(error))
            if found is None:
                raise TableError(f"cannot read {self.path}: {error}") from error
            raise self._ragged(f"line {found[1]} has {found[2]} fields, but") from None

    def _ragged(self, what: str) -> TableError:
        return TableError(
            f"{self.path}, {what} the header has {len(self.columns)}; quote fields with separators in them, or correct the line"
        )


def _opened(path: Path, stack: ExitStack) -> tuple[Any, Any]:
    """The file, and its content uncompressed; both are closed with the stack."""
    raw = stack.enter_context(path.open("rb"))
    compressed = path.name.lower().endswith(".gz")
    return raw, stack.enter_context(gzip.GzipFile(fileobj=raw)) if compressed else raw


@final
class _NpzTable(Table):
    """Arrays of equal length in a NumPy archive: a vector is a column, a matrix ``X`` is the columns X0, X1, …

    Rows are read from the archive as they are needed, so that a large array is never in memory whole.
    """

    def __init__(self, path: Path) -> None:
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._where: dict[str, tuple[str, int | None]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    self._enter(archive, member, path)
        except TableError:
            raise
        except _DAMAGE as error:
            raise TableError(f"{path} is not an NPZ archive, or was cut short: {error}") from error
        lengths = {name: shape[0] for name, shape in self._shapes.items()}
        if len(set(lengths.values())) != 1:
            raise TableError(f"the arrays in {path} must have the same number of rows, got {lengths or 'none'}")
        self.n_rows = next(iter(lengths.values()))
        super().__init__(path, list(self._where))

    def _enter(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
        """The columns that are in an array, or an error that says why it has none."""
        name = member.filename.removesuffix(".npy")
        if name == member.filename:
            raise TableError(f"{path} has a member {name!r}, which is not an array; write the table with numpy.savez")
        if name in self._shapes:
            raise TableError(f"{path} has two arrays named {name!r}; write the table again")
        with archive.open(member) as stream:
            shape, by_columns, dtype = _npy_header(stream)
        if dtype.hasobject:
            raise TableError(f"the array {name!r} in {path} holds Python objects, which are not read; use str")
        if dtype.kind == "c":
            raise TableError(f"the array {name!r} in {path} is complex; save its real and its imaginary part")
        if len(shape) not in (1, 2) or (by_columns and len(shape) == 2 and min(shape) > 1):
            raise TableError(
                f"the array {name!r} in {path} must be a vector or a matrix stored by rows, got shape {shape}"
                f"{' stored by columns; save np.ascontiguousarray of it' if by_columns else ''}"
            )
        self._shapes[name] = shape
        _check_width(path, len(self._where) + math.prod(shape[1:]))
        for j in range(shape[1]) if len(shape) == 2 else (None,):
            self._where[name if j is None else f"{name}{j}"] = (name, j)

    def read(self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress) -> Chunks:
        """Chunks of some columns."""
        done = 0
        try:
            with ExitStack() as stack:
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                needed = {self._where[name][0] for name in columns}
                streams = {name: stack.enter_context(archive.open(f"{name}.npy")) for name in needed}
                dtypes = {name: _npy_header(stream)[2] for name, stream in streams.items()}
                while done < self.n_rows:
                    count = min(chunk_rows, self.n_rows - done)
                    blocks = {}
                    for name, stream in streams.items():
                        shape = (count, *self._shapes[name][1:])
                        data = stream.read(math.prod(shape) * dtypes[name].itemsize)
                        blocks[name] = np.frombuffer(data, dtype=dtypes[name]).reshape(shape)
                    done += count
                    progress(done / max(1, self.n_rows))
                    places = {name: self._where[name] for name in columns}
                    yield {name: blocks[a] if j is None else blocks[a][:, j] for name, (a, j) in places.items()}
        except _DAMAGE as error:
            raise TableError(f"{self.path} is damaged after row {done}: {error}") from error


def _npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it is stored by columns, and dtype."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


@final
class _ParquetTable(Table):
    """Apache Parquet, read batch by batch with pyarrow."""

    def __init__(self, path: Path) -> None:
        with self._opened(path) as file:
            super().__init__(path, file.schema_arrow.names)

    def read(self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress) -> Chunks:
        """Chunks of some columns."""
        done = 0
        with self._opened(self.path) as file:
            try:
                for batch in file.iter_batches(batch_size=chunk_rows, columns=list(columns)):
                    done += batch.num_rows
                    progress(done / max(1, file.metadata.num_rows))
                    yield {name: batch.column(name).to_pandas() for name in columns}
            except (import_reader("pyarrow").ArrowException, OSError) as error:
                raise TableError(f"{self.path} is damaged after row {done}: {error}") from error

    def _opened(self, path: Path) -> Any:
        parquet = import_reader("pyarrow.parquet")
        try:
            return parquet.ParquetFile(path)
        except (import_reader("pyarrow").ArrowException, OSError) as error:
            raise TableError(f"{path} is not a Parquet file, or was cut short: {error}") from error


_TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_BINARY: dict[str, Callable[[Path], Table]] = {".npz": _NpzTable, ".parquet": _ParquetTable, ".pq": _ParquetTable}


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
    if not path.exists():
        raise TableError(f"there is no file {path}")
    if not path.is_file():
        raise TableError(f"{path} is a folder, a device or a pipe; a table is read more than once, so give one file")
    return _BINARY[ending](path) if ending in _BINARY else _CsvTable(path, sep, decimal)
