"""Lines of comma-separated values, whose fields are counted as they are read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from krein._core.errors import TableError

__all__ = ["CheckedLines"]

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

    def __init__(self, stream: io.BufferedIOBase, n_fields: int, path: Path) -> None:
        self.refusal: TableError | None = None
        self._stream, self._n_fields, self._path = stream, n_fields, path
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
        commas = np.flatnonzero(data == ord(","))
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

        reader = csv.reader(lines())
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
            f"{self._path}, line {line} has {found} fields, but the header has {self._n_fields}; quote fields with commas in them, "
            "or correct the line"
        )
        raise self.refusal


def _line_ends(data: bytes) -> int:
    r"""Line ends of any kind; ``\r\n`` is one."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
