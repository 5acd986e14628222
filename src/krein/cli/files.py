"""Tables that commands write: checked before the work, replaced only when finished."""

import csv
import io
import os
import zipfile
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from krein._core.errors import TableError
from krein._core.files import check_writable, whole_file

__all__ = ["Writer", "check_out", "write_column", "writer_for"]

Writer = Callable[[BinaryIO, str, np.ndarray], None]


def check_out(path: str | os.PathLike[str], error: type[ValueError] = TableError) -> None:
    """Raise an error before the work, rather than after it, if the file cannot be written."""
    try:
        check_writable(path)
    except OSError as reason:
        raise error(
            f"cannot write {path}: {reason.strerror or reason}; choose a file in a folder you may write to"
        ) from reason


def write_column(path: str | os.PathLike[str], column: str, values: np.ndarray) -> None:
    """Write a named column as a table, whole or not at all."""
    write = writer_for(path)
    with whole_file(path) as stream:
        write(stream, column, values)


def writer_for(out: str | os.PathLike[str]) -> Writer:
    """The function that writes a named column to a stream, by the suffix of the file's name."""
    for ending, write in ((".csv", _write_csv), (".npz", _write_npz), (".parquet", _write_parquet)):
        if str(out).lower().endswith(ending):
            return write
    raise TableError(f"the format of {out} is unknown; the name must end in .csv, .npz or .parquet")


def _write_csv(stream: BinaryIO, column: str, values: np.ndarray) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow([column])
    writer.writerows([value] for value in values.tolist())
    text.flush()
    text.detach()  # the stream is closed by whoever opened it


def _write_npz(stream: BinaryIO, column: str, values: np.ndarray) -> None:
    # not by numpy.savez, which takes columns as keyword arguments and so cannot have one called "file"
    with zipfile.ZipFile(stream, "w") as archive, archive.open(f"{column}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.asarray(values.tolist()), allow_pickle=False)


def _write_parquet(stream: BinaryIO, column: str, values: np.ndarray) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("writing Parquet needs pyarrow; install it with: pip install 'krein[data]'") from error
    pyarrow.parquet.write_table(pyarrow.table({column: values.tolist()}), stream)
