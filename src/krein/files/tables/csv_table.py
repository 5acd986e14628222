"""Tables of separated values, whose fields are counted as they are read."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, final

import numpy as np

from krein._core.errors import TableError
from krein.files.tables.table import Column, Progress, Table, check_width, import_reader

__all__ = ["CsvTable"]

_DAMAGE = (OSError, EOFError, zlib.error, UnicodeDecodeError)  # of files and of what gzip makes of them
_HEADER_BYTES = 2**26  # looked at for the end of the first line


@final
class CsvTable(Table):
    """Separated values with a header line, read with pandas; commas or, in files called .tsv, tabs if no separator is given.

    A line with more fields than the header is refused: pandas would take the first field of each for the name of the row, and shift
    all others by one column.
    """

    def __init__(self, path: Path, sep: str | None = None, decimal: str = ".") -> None:
        import_reader("pandas")  # an error now, not after the header
        self._sep = sep if sep is not None else "\t" if ".tsv" in path.suffixes[-2:] else ","
        self.decimal = decimal
        for name, value in (("sep", self._sep), ("decimal", decimal)):
            if len(value) != 1 or not value.isascii() or value in '"\n\r':
                raise ValueError(f"{name} must be a single character of ASCII, got {value!r}")
        if self._sep == decimal:
            raise ValueError(f"sep and decimal must differ, got {decimal!r} for both; use sep=';' with decimal=','")
        try:
            with ExitStack() as stack:
                stream = _open(path, stack)[1]
                start = stream.readline(_HEADER_BYTES)
                check_width(path, start.count(self._sep.encode()) + 1)
                stream.seek(0)
                lines = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=self._sep)
                header = next((line for line in lines if line), None)
        except _DAMAGE as error:
            raise TableError(f"cannot read {path}: {error}") from error
        except csv.Error as error:
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

    def read(
        self, columns: Sequence[str], text: Sequence[str], chunk_rows: int, progress: Progress
    ) -> Iterator[dict[str, Column]]:
        pandas = import_reader("pandas")
        size = max(1, self.path.stat().st_size)
        lines: CheckedLines | None = None
        try:
            with ExitStack() as stack:
                raw, stream = _open(self.path, stack)
                lines = CheckedLines(stream, len(self.columns), self.path, self._sep)
                reader = stack.enter_context(
                    pandas.read_csv(
                        io.BufferedReader(lines),
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
                for frame in reader:
                    progress(min(1.0, raw.tell() / size))
                    yield {name: frame[name] for name in columns}
        except pandas.errors.EmptyDataError:
            return
        except (pandas.errors.ParserError, *_DAMAGE) as error:
            if lines is not None and lines.refusal is not None:
                raise lines.refusal from None
            raise TableError(f"cannot read {self.path}: {error}") from error


def _open(path: Path, stack: ExitStack) -> tuple[io.BufferedReader, io.BufferedReader | gzip.GzipFile]:
    """The file, and its content uncompressed; both are closed with the stack."""
    raw = stack.enter_context(path.open("rb"))
    if not path.name.lower().endswith(".gz"):
        return raw, raw
    return raw, stack.enter_context(gzip.GzipFile(fileobj=raw))


_BLOCK = 2**20  # bytes read at once


@final
class CheckedLines(io.RawIOBase):
    """A stream of bytes as they are, that refuses the first line with too many fields.

    Without quotes, fields are counted for a block at a time; from the first block with a quote on they are counted by Python's own
    reader, which is slower.

    Parameters
    ----------
    stream : binary stream
    n_fields : int
        Fields of the header, the most a line may have.
    path : Path
        For the error.

    Attributes
    ----------
    refusal : TableError or None
        What was raised, for callers whose parser wraps it.
    """

    def __init__(self, stream: io.BufferedIOBase, n_fields: int, path: Path, sep: str) -> None:
        self.refusal: TableError | None = None
        self._stream, self._n_fields, self._path, self._sep = stream, n_fields, path, sep
        self._line = 0  # complete lines so far
        self._pending = b""  # checked, not yet handed out
        self._quoted: Iterator[bytes] | None = None

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as streams do."""
        if not self._pending:
            self._pending = self._next_block()
        piece = self._pending[: len(buffer)]
        buffer[: len(piece)] = piece
        self._pending = self._pending[len(piece) :]
        return len(piece)

    def _next_block(self) -> bytes:
        if self._quoted is not None:
            return next(self._quoted, b"")
        block = self._stream.read(_BLOCK)
        if block and not block.endswith(b"\n"):
            block += self._stream.readline()
        if b'"' in block:
            self._quoted = self._read_quoted(block)
            return next(self._quoted, b"")
        self._count(block)
        return block

    def _count(self, block: bytes) -> None:
        """Refuse a block of whole lines without quotes if one of them has too many fields."""
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
        commas = np.flatnonzero(data == ord(self._sep))
        edges = np.concatenate([[0], ends, [data.size]])
        per_line = np.diff(np.searchsorted(commas, edges))
        wrong = np.flatnonzero(per_line >= self._n_fields)
        if wrong.size:
            before = block[: ends[wrong[0] - 1] + 1] if wrong[0] else b""
            self._refuse(self._line + _line_ends(before) + 1, int(per_line[wrong[0]]) + 1)
        self._line += _line_ends(block)

    def _read_quoted(self, block: bytes) -> Iterator[bytes]:
        """The rest of the stream from a block with a quote in it on, in blocks of whole records."""
        taken: list[bytes] = []

        def lines() -> Iterator[str]:
            for line in io.BytesIO(block):
                taken.append(line)
                yield line.decode("latin-1")  # any byte is a character: only commas, quotes and line ends count
            while line := self._stream.readline():
                taken.append(line)
                yield line.decode("latin-1")

        reader = csv.reader(lines(), delimiter=self._sep)
        start, size = self._line, 0
        try:
            for record in reader:
                if len(record) > self._n_fields:
                    self._refuse(start + reader.line_num, len(record))
                size += len(taken[-1])
                if size >= _BLOCK:
                    yield b"".join(taken)
                    taken.clear()
                    size = 0
        except csv.Error as error:
            self.refusal = TableError(f"cannot read {self._path}, line {start + reader.line_num}: {error}")
            raise self.refusal from error
        if taken:
            yield b"".join(taken)

    def _refuse(self, line: int, found: int) -> None:
        self.refusal = TableError(
            f"{self._path}, line {line} has {found} fields, but the header has {self._n_fields}; quote fields with separators in "
            "them, or correct the line"
        )
        raise self.refusal


def _line_ends(data: bytes) -> int:
    r"""Line ends of any kind; ``\r\n`` is one."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
