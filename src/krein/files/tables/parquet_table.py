"""Tables in Apache Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

from krein._core.errors import TableError
from krein.files.tables.table import Column, Progress, Table, import_reader

__all__ = ["ParquetTable"]


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
