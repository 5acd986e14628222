"""Tables in NumPy archives and in Apache Parquet."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from krein._core.errors import TableError
from krein.files.tables.table import Column, Progress, Table, check_width, import_reader

__all__ = ["NpzTable", "ParquetTable"]

# What a damaged archive may raise: zipfile and numpy have no common ancestor for it.
_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError)


@final
class NpzTable(Table):
    """Arrays of equal length in a NumPy archive: a vector is a column, a matrix ``X`` is the columns X0, X1, …

    Rows are read from the archive as they are needed, so that a large array is never in memory whole.
    """

    def __init__(self, path: Path) -> None:
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._where: dict[str, tuple[str, int | None]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    name = _array_name(member, path)
                    if name in self._shapes:
                        raise TableError(f"{path} has two arrays named {name!r}; write the table again")
                    with archive.open(member) as stream:
                        self._enter(name, *_npy_header(stream), path)
        except TableError:
            raise
        except _DAMAGE as error:
            raise TableError(f"{path} is not an NPZ archive, or was cut short: {error}") from error
        lengths = {name: shape[0] for name, shape in self._shapes.items()}
        if len(set(lengths.values())) != 1:
            raise TableError(f"the arrays in {path} must have the same number of rows, got {lengths or 'none'}")
        self.n_rows = next(iter(lengths.values()))
        super().__init__(path, list(self._where))

    def _enter(self, name: str, shape: tuple[int, ...], by_columns: bool, dtype: np.dtype, path: Path) -> None:
        """The columns that are in an array, or an error that says why it has none."""
        if dtype.hasobject:
            raise TableError(f"the array {name!r} in {path} holds Python objects, which are not read; use str")
        if dtype.kind == "c":
            raise TableError(
                f"the array {name!r} in {path} is complex; save its real and its imaginary part as columns of their own"
            )
        if len(shape) not in (1, 2) or (by_columns and len(shape) == 2 and min(shape) > 1):
            raise TableError(
                f"the array {name!r} in {path} must be a vector or a matrix stored by rows, got shape {shape}"
                f"{' stored by columns; save np.ascontiguousarray of it' if by_columns else ''}"
            )
        self._shapes[name] = shape
        check_width(path, len(self._where) + math.prod(shape[1:]))
        for j in range(shape[1]) if len(shape) == 2 else (None,):
            self._where[name if j is None else f"{name}{j}"] = (name, j)

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        needed = {self._where[name][0] for name in columns}
        done = 0
        with ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(self.path))
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
                    chunk = {}
                    for name in columns:
                        array, j = self._where[name]
                        chunk[name] = blocks[array] if j is None else blocks[array][:, j]
                    yield chunk
            except _DAMAGE as error:
                if isinstance(error, TableError):  # raised by `progress`, and nothing about the file
                    raise
                raise TableError(f"{self.path} is damaged after row {done}: {error}") from error


def _array_name(member: zipfile.ZipInfo, path: Path) -> str:
    """The name of the array that a member of the archive holds."""
    if not member.filename.endswith(".npy"):
        raise TableError(
            f"{path} has a member {member.filename!r}, which is not an array; write the table with numpy.savez"
        )
    if member.flag_bits & 0x1:
        raise TableError(f"{path} is encrypted, and encrypted archives are not read; decrypt it first")
    return member.filename.removesuffix(".npy")


def _npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it is stored by columns, and dtype."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(stream)


@final
class ParquetTable(Table):
    """Apache Parquet, read batch by batch with pyarrow."""

    def __init__(self, path: Path) -> None:
        self._parquet = import_reader("pyarrow.parquet")
        with self._open(path) as file:
            super().__init__(path, file.schema_arrow.names)

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        arrow = import_reader("pyarrow")
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
        arrow = import_reader("pyarrow")
        try:
            return self._parquet.ParquetFile(path)
        except (arrow.ArrowException, OSError) as error:
            raise TableError(f"{path} is not a Parquet file, or was cut short: {error}") from error
