"""Tables of commands: those they read, with a bar and what the target is, and those they write, replaced only when finished."""

import csv
import io
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, Literal

import numpy as np

from krein._core.checks import one_of
from krein._core.errors import TableError
from krein._core.files import check_writable, whole_file
from krein.files.tables import Table, TableChunks
from krein.show.progress import report

__all__ = ["check_out", "fair_sample", "features_of", "is_number", "reading", "task_of", "write_columns", "writer_for"]

_Writer = Callable[[BinaryIO, dict[str, list[Any]]], None]


def check_out(
    path: str | os.PathLike[str],
    error: type[ValueError] = TableError,
    *,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """Raise an error before the work, rather than after it, if the file cannot be written or is one that is read."""
    for source in inputs:
        if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
            raise error(f"{path} is read by this command and would be overwritten; give the result another name")
    try:
        check_writable(path)
    except OSError as reason:
        raise error(
            f"cannot write {path}: {reason.strerror or reason}; choose a file in a folder you may write to"
        ) from reason


def features_of(table: Table, target: str | None, drop: Sequence[str] | None = None) -> list[str]:
    """The columns to learn from: all but the target, those to be left out, and the row numbers of pandas."""
    without = {*(drop or ()), *([] if target is None else [target])}
    table.check_columns(sorted(without))
    numbers = [one for one in table.columns[:1] if one == ""]
    numbers += [one for one in table.columns if one.startswith("__index_level_")]
    if numbers:
        warnings.warn(
            f"{table.path}: column {table.columns.index(numbers[0]) + 1}, which pandas writes as the names of rows, is left out",
            stacklevel=2,
        )
        without.update(numbers)
    return [one for one in table.columns if one not in without]


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, np.ndarray]) -> None:
    """Write named columns as a table, whole or not at all."""
    write = writer_for(path)
    with whole_file(path) as stream:
        write(stream, {name: np.asarray(values).tolist() for name, values in columns.items()})


def writer_for(out: str | os.PathLike[str]) -> _Writer:
    """The function that writes named columns to a stream, by the suffix of the file's name."""
    text: dict[str, _Writer] = {".csv": partial(_write_text, ","), ".tsv": partial(_write_text, "\t")}
    for ending, write in (text | {".npz": _write_npz, ".parquet": _write_parquet, ".pq": _write_parquet}).items():
        if str(out).lower().endswith(ending):
            return write
    raise TableError(f"the format of {out} is unknown; the name must end in .csv, .tsv, .npz or .parquet")


def _write_text(separator: str, stream: BinaryIO, columns: dict[str, list[Any]]) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    text.flush()
    text.detach()  # the stream is closed by whoever opened it


def _write_npz(stream: BinaryIO, columns: dict[str, list[Any]]) -> None:
    # not by numpy.savez, which takes columns as keyword arguments and so cannot have one called "file"
    with zipfile.ZipFile(stream, "w") as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(values), allow_pickle=False)


def _write_parquet(stream: BinaryIO, columns: dict[str, list[Any]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("writing Parquet needs pyarrow; install it with: pip install 'krein[data]'") from error
    pyarrow.parquet.write_table(pyarrow.table(columns), stream)


def fair_sample(chunks: TableChunks, most_rows: int, seed: int) -> tuple[np.ndarray, ...]:
    """Rows drawn with equal chances, in a random order."""
    rng = np.random.default_rng(seed)
    kept: tuple[np.ndarray, ...] | None = None
    keys = np.empty(0)
    for chunk in chunks:
        kept = chunk if kept is None else tuple(np.concatenate(pair) for pair in zip(kept, chunk, strict=True))
        keys = np.concatenate([keys, rng.random(chunk[0].shape[0])])
        best = np.argsort(keys, kind="stable")[:most_rows]  # those with the smallest of independent keys
        kept, keys = tuple(part[best] for part in kept), keys[best]
    assert kept is not None  # an empty table is refused in reading
    return kept


Kind = Literal["label", "number"]
Task = Literal["classification", "regression"]
_TASKS = ("auto", "classification", "regression")
_MANY_LABELS = 100  # distinct whole numbers in the first chunk from which on they are taken for quantities


def task_of(chunks: TableChunks, task: str) -> tuple[Kind, Task]:
    """What the target column is read as, and the task."""
    one_of(task, "task", _TASKS)
    if task == "classification":
        return "label", "classification"
    if task == "regression":
        return "number", "regression"
    _, labels = next(iter(chunks))
    text = labels.dtype.kind in "US"
    if text and all(is_number(label.replace(chunks.table.decimal, ".")) for label in np.unique(labels)):
        return "number", "regression"
    whole = labels.dtype.kind in "biu" or (labels.dtype.kind == "f" and bool((labels == np.floor(labels)).all()))
    if (text or whole) and (text or np.unique(labels).size <= _MANY_LABELS):
        return "label", "classification"
    return "number", "regression"


def is_number(label: str) -> bool:
    """Whether text is a number."""
    try:
        float(label)
    except ValueError:
        return False
    return True


def reading(passes: int) -> Callable[[float], None]:
    """What is called with the share of a file that was read, which is read so many times."""
    done, last = 0, 0.0

    def step(share: float) -> None:
        nonlocal done, last
        done += share < last  # the file is being read again
        last = share
        report("of reading", min(float(passes), done + share), passes)

    return step
