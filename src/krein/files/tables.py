"""Tables in files, read a chunk of rows at a time: CSV, NPZ and Parquet."""

from __future__ import annotations

import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal, final

import numpy as np

from krein._core.errors import TableError

__all__ = ["CsvTable", "NpzTable", "ParquetTable", "Table", "TableChunks", "TableError", "open_table"]

Progress = Callable[[float], None]
Column = Any  # a numpy array or a pandas Series


class Table(ABC):
    """Named columns of equal length, read in chunks.

    Parameters
    ----------
    path : path
    columns : sequence of str
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = tuple(columns)
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise TableError(f"{path} has more than one column named {twice[0]!r}; rename them")

    @abstractmethod
    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        """Chunks of the named columns; those in `text` are not to be taken for numbers. Progress runs from 0 to 1."""

    def check_columns(self, names: Sequence[str]) -> None:
        """An error that names the first column that is missing, and those there are."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            shown = ", ".join(self.columns[:20]) + (", …" if len(self.columns) > 20 else "")
            raise TableError(f"{self.path} has no column {missing[0]!r}; its columns are {shown}")


def open_table(path: str | os.PathLike[str]) -> Table:
    """The table in a file, by the ending of its name: ``.csv`` (also ``.csv.gz``), ``.npz``, ``.parquet``.

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
    kinds: dict[str, type[Table]] = {
        ".csv": CsvTable,
        ".csv.gz": CsvTable,
        ".npz": NpzTable,
        ".parquet": ParquetTable,
        ".pq": ParquetTable,
    }
    for ending, kind in kinds.items():
        if path.name.lower().endswith(ending):
            if path.is_dir():
                raise TableError(f"{path} is a folder; give one file")
            if not path.exists():
                raise TableError(f"there is no file {path}")
            return kind(path)  # type: ignore[call-arg]
    raise TableError(f"cannot tell what {path} is; a table must end in {', '.join(kinds)}")


@final
class CsvTable(Table):
    """Comma-separated values with a header line, read with pandas."""

    def __init__(self, path: Path) -> None:
        pandas = _import("pandas")
        try:
            header = pandas.read_csv(path, nrows=1, header=None, dtype=str)
        except (pandas.errors.EmptyDataError, StopIteration) as error:
            raise TableError(f"{path} is empty; a table needs a line with the names of its columns") from error
        except (pandas.errors.ParserError, UnicodeDecodeError, OSError, EOFError) as error:
            raise TableError(f"cannot read {path}: {error}") from error
        super().__init__(path, [str(name) for name in header.iloc[0]])

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        pandas = _import("pandas")
        size = max(1, self.path.stat().st_size)
        # all columns are read, not those asked for: pandas would pass over lines with too many fields otherwise
        try:
            with (
                open(self.path, "rb") as raw,
                pandas.read_csv(
                    raw,
                    dtype=dict.fromkeys(text, str),
                    chunksize=chunk_rows,
                    low_memory=False,
                    compression="gzip" if self.path.name.lower().endswith(".gz") else None,
                ) as reader,
            ):
                for frame in reader:
                    progress(min(1.0, raw.tell() / size))
                    yield {name: frame[name] for name in columns}
        except (pandas.errors.ParserError, UnicodeDecodeError, OSError, EOFError) as error:
            raise TableError(f"cannot read {self.path}: {error}") from error


@final
class ParquetTable(Table):
    """Apache Parquet, read batch by batch with pyarrow."""

    def __init__(self, path: Path) -> None:
        self._parquet = _import("pyarrow.parquet")
        with self._open(path) as file:
            super().__init__(path, file.schema_arrow.names)

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        arrow = _import("pyarrow")
        done = 0
        with self._open(self.path) as file:
            total = max(1, file.metadata.num_rows)
            try:
                for batch in file.iter_batches(batch_size=chunk_rows, columns=list(columns)):
                    done += batch.num_rows
                    progress(done / total)
                    yield {name: batch.column(name).to_pandas() for name in columns}
            except (arrow.ArrowException, OSError) as error:
                raise TableError(f"{self.path} is damaged after row {done}: {error}") from error

    def _open(self, path: Path) -> Any:
        arrow = _import("pyarrow")
        try:
            return self._parquet.ParquetFile(path)
        except (arrow.ArrowException, OSError) as error:
            raise TableError(f"{path} is not a Parquet file, or was cut short: {error}") from error


@final
class NpzTable(Table):
    """Arrays of equal length in a NumPy archive: a vector is a column, a matrix ``X`` is the columns X0, X1, …

    Rows are read from the archive as they are needed, so that a large array is never in memory whole.
    """

    def __init__(self, path: Path) -> None:
        self._arrays: dict[str, tuple[int, ...]] = {}
        self._where: dict[str, tuple[str, int | None]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    name = member.removesuffix(".npy")
                    with archive.open(member) as stream:
                        shape, order, dtype = _npy_header(stream)
                    if dtype.hasobject:
                        raise TableError(
                            f"the array {name!r} in {path} holds Python objects, which are not read; use str"
                        )
                    if len(shape) not in (1, 2) or (order and len(shape) == 2 and min(shape) > 1):
                        raise TableError(
                            f"the array {name!r} in {path} must be a vector or a matrix stored by rows, got shape {shape}"
                            f"{' stored by columns; save np.ascontiguousarray of it' if order else ''}"
                        )
                    self._arrays[name] = shape
                    for j in range(shape[1]) if len(shape) == 2 else (None,):
                        self._where[name if j is None else f"{name}{j}"] = (name, j)
        except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{path} is not an NPZ archive, or was cut short: {error}") from error
        lengths = {name: shape[0] for name, shape in self._arrays.items()}
        if len(set(lengths.values())) != 1:
            raise TableError(f"the arrays in {path} must have the same number of rows, got {lengths or 'none'}")
        self.n_rows = next(iter(lengths.values()))
        super().__init__(path, list(self._where))

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        needed = {self._where[name][0] for name in columns}
        done = 0
        with zipfile.ZipFile(self.path) as archive:
            streams = {name: archive.open(f"{name}.npy") for name in needed}
            try:
                dtypes = {name: _npy_header(stream)[2] for name, stream in streams.items()}
                while done < self.n_rows:
                    count = min(chunk_rows, self.n_rows - done)
                    blocks = {}
                    for name, stream in streams.items():
                        shape = (count, *self._arrays[name][1:])
                        data = stream.read(int(np.prod(shape)) * dtypes[name].itemsize)
                        blocks[name] = np.frombuffer(data, dtype=dtypes[name]).reshape(shape)
                    done += count
                    progress(done / max(1, self.n_rows))
                    chunk = {}
                    for name in columns:
                        array, j = self._where[name]
                        chunk[name] = blocks[array] if j is None else blocks[array][:, j]
                    yield chunk
            except (zipfile.BadZipFile, EOFError, ValueError) as error:
                raise TableError(f"{self.path} is damaged after row {done}: {error}") from error
            finally:
                for stream in streams.values():
                    stream.close()


def _npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


class TableChunks:
    """A table as chunks ``(X, y)`` that can be passed over again and again, as `KreinRidge.fit_chunks` wants them.

    Parameters
    ----------
    table : Table
    columns : sequence of str
        Columns of X, in this order; all must hold numbers.
    target : str or None
        Column of y; None for chunks ``(X,)``.
    kind : {"number", "label"}, default="number"
        What the target is. Labels that are all whole numbers in the first chunk are integers, else text.
    chunk_rows : int, default=50000
    progress : callable, default=None
        Called with the share of the file that has been read.
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
    ) -> None:
        table.check_columns([*columns, *([target] if target is not None else [])])
        if not columns:
            raise TableError(f"{table.path} has no columns to learn from besides the target")
        self.table, self.columns, self.target, self.kind = table, tuple(columns), target, kind
        self.chunk_rows = chunk_rows
        self.progress = progress if progress is not None else lambda share: None

    def __iter__(self) -> Iterator[tuple[np.ndarray, ...]]:
        names = [*self.columns, *([self.target] if self.target is not None else [])]
        text = [self.target] if self.target is not None and self.kind == "label" else []
        start, integers = 0, None
        for chunk in self.table.read(names, text, self.chunk_rows, self.progress):
            # one matrix at a time: columns may come as views of a matrix that is about to go
            X = [self._numbers(chunk[name], name, start) for name in self.columns]
            rows = np.stack(X, axis=1)
            if self.target is None:
                yield (rows,)
            elif self.kind == "number":
                yield rows, self._numbers(chunk[self.target], self.target, start).astype(np.float64)
            else:
                labels, integers = self._labels(chunk[self.target], start, integers)
                yield rows, labels
            start += rows.shape[0]
        if not start:
            raise TableError(f"{self.table.path} has no rows")

    def _numbers(self, column: Column, name: str, start: int) -> np.ndarray:
        values = np.asarray(column)
        if values.dtype.kind not in "biuf":
            values = self._parse(column, name, start)
        values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        bad = ~np.isfinite(values)
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            what = "is empty" if np.isnan(values[i]) else f"is {values[i]}"
            raise TableError(f"{self._place(name, start + i)} {what}, not a finite number; fill it in or drop the row")
        return values

    def _parse(self, column: Column, name: str, start: int) -> np.ndarray:
        parsed = np.empty(len(column))
        for i, value in enumerate(column):
            try:
                parsed[i] = np.nan if value is None or value != value else float(value)
            except (TypeError, ValueError):
                raise TableError(
                    f"{self._place(name, start + i)} is {value!r}, not a number; leave the column out or turn it into "
                    "numbers first"
                ) from None
        return parsed

    def _labels(self, column: Column, start: int, integers: bool | None) -> tuple[np.ndarray, bool]:
        values = np.asarray(column)
        if values.dtype.kind in "biu":
            return values, True
        missing = np.array([v is None or v != v or v == "" for v in values], dtype=bool)
        if missing.any():
            where = self._place(self.target or "", start + int(np.flatnonzero(missing)[0]))
            raise TableError(f"{where} is empty, and a missing label is no class; fill it in or drop the row")
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
        return text.astype(np.int64), True

    def _place(self, name: str, row: int) -> str:
        return f"{self.table.path}, row {row + 1}, column {name!r}"


def _is_integer(label: str) -> bool:
    return label.strip().lstrip("+-").isdigit()


def _import(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"reading this table needs {name}; install it with: pip install 'krein[data]'") from error
