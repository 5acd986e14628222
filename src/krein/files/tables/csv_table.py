"""Tables of comma-separated values."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import final

from krein._core.errors import TableError
from krein.files.tables.csv_lines import CheckedLines
from krein.files.tables.table import Column, Progress, Table, check_width, import_reader

__all__ = ["CsvTable"]

_DAMAGE = (OSError, EOFError, zlib.error, UnicodeDecodeError)  # of files and of what gzip makes of them
_HEADER_BYTES = 2**26  # looked at for the end of the first line


@final
class CsvTable(Table):
    """Comma-separated values with a header line, read with pandas.

    A line with more fields than the header is refused: pandas would take the first field of each for the name of the row, and shift
    all others by one column.
    """

    def __init__(self, path: Path) -> None:
        import_reader("pandas")  # an error now, not after the header
        try:
            with ExitStack() as stack:
                stream = _open(path, stack)[1]
                start = stream.readline(_HEADER_BYTES)
                check_width(path, start.count(b",") + 1)
                stream.seek(0)
                lines = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
                header = next((line for line in lines if line), None)
        except _DAMAGE as error:
            raise TableError(f"cannot read {path}: {error}") from error
        except csv.Error as error:
            raise TableError(f"cannot read the header of {path}: {error}") from error
        if not header:
            raise TableError(f"{path} is empty; a table needs a line with the names of its columns")
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
                lines = CheckedLines(stream, len(self.columns), self.path)
                reader = stack.enter_context(
                    pandas.read_csv(
                        io.BufferedReader(lines),
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
