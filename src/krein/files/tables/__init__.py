"""Tables in files, read a chunk of rows at a time: CSV, NPZ and Parquet."""

from krein._core.errors import TableError
from krein.files.tables.chunks import TableChunks, open_table
from krein.files.tables.table import MOST_COLUMNS, Table

__all__ = ["MOST_COLUMNS", "Table", "TableChunks", "TableError", "open_table"]
