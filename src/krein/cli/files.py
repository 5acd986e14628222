"""Files that commands write: checked before the work, replaced only when finished."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from krein.files.tables import TableError

__all__ = ["check_writable", "replace", "writer_for"]


def check_writable(path: str | os.PathLike[str]) -> None:
    """An error before the work rather than after it, if a file cannot be made at `path`."""
    from krein.files.models import ModelFileError

    path = Path(path)
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        raise ModelFileError(
            f"cannot write {path}: {error.strerror or error}; choose a folder you may write to"
        ) from error


def replace(path: Path, write: Callable[[str], None]) -> None:
    """Write beside the final place and rename, so that a failure leaves what was there."""
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(descriptor)
    try:
        write(part)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def writer_for(out: str | os.PathLike[str]) -> Callable[[str, str, np.ndarray], None]:
    """What writes a named column to a file, by the ending of its name."""
    for ending, write in ((".csv", _write_csv), (".npz", _write_npz), (".parquet", _write_parquet)):
        if str(out).lower().endswith(ending):
            return write
    raise TableError(f"cannot tell what to write to {out}; the name must end in .csv, .npz or .parquet")


def _write_csv(path: str, column: str, values: np.ndarray) -> None:
    import csv

    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([column])
        writer.writerows([value] for value in values.tolist())


def _write_npz(path: str, column: str, values: np.ndarray) -> None:
    with open(path, "wb") as stream:
        np.savez(stream, **{column: values})  # type: ignore[arg-type]


def _write_parquet(path: str, column: str, values: np.ndarray) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("writing Parquet needs pyarrow; install it with: pip install 'krein[data]'") from error
    pyarrow.parquet.write_table(pyarrow.table({column: values.tolist()}), path)
