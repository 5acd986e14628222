"""The table in a file, by the ending of its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from krein._core.errors import TableError
from krein.files.tables.csv_table import CsvTable
from krein.files.tables.npz_table import NpzTable
from krein.files.tables.parquet_table import ParquetTable
from krein.files.tables.table import Table

__all__ = ["open_table"]

_KINDS: dict[str, Callable[[Path], Table]] = {
    ".csv": CsvTable,
    ".csv.gz": CsvTable,
    ".npz": NpzTable,
    ".parquet": ParquetTable,
    ".pq": ParquetTable,
}


def open_table(path: str | os.PathLike[str]) -> Table:
    """The table in a file, by the ending of its name: ``.csv`` (also ``.csv.gz``), ``.npz``, ``.parquet``.

    Parameters
    ----------
    path : str or path

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
    kind = next((kind for ending, kind in _KINDS.items() if path.name.lower().endswith(ending)), None)
    if kind is None:
        raise TableError(f"the format of {path} is unknown; the name of a table must end in {', '.join(_KINDS)}")
    if path.is_dir():
        raise TableError(f"{path} is a folder; give one file")
    if not path.exists():
        raise TableError(f"there is no file {path}")
    if not path.is_file():
        raise TableError(f"{path} is a device or a pipe; a table is read more than once, so save it to a file first")
    return kind(path)
