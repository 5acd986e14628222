"""Tables of commands: those they read, with a bar and what the target is, and those they write, replaced only when finished."""

import csv
import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, Literal

import numpy as np

from krein._core.checks import one_of
from krein._core.errors import TableError
from krein._core.files import check_writable, whole_file
from krein.files.tables import TableChunks
from krein.learning.tuning import OnTrial
from krein.show.progress import ShowProgress, progress

__all__ = [
    "Writer",
    "check_out",
    "write_column",
    "writer_for",
    "fair_sample",
    "task_of",
    "reading_progress",
    "training_progress",
]

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
    if text and all(_is_number(label) for label in np.unique(labels)):
        return "number", "regression"
    whole = labels.dtype.kind in "biu" or (labels.dtype.kind == "f" and bool((labels == np.floor(labels)).all()))
    if (text or whole) and (text or np.unique(labels).size <= _MANY_LABELS):
        return "label", "classification"
    return "number", "regression"


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


@contextmanager
def reading_progress(title: str, *, passes: int, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar over several passes of a file."""
    if not show:
        yield lambda share: None
        return
    with progress("passes", passes, title=title, unit="share", lines=False) as bar:
        yield _pass_counter(bar, passes)


@contextmanager
def training_progress(*, passes: int, show: bool) -> Iterator[tuple[Callable[[float], None], OnTrial]]:
    """A bar over the passes of a file, and one over the kernels that are tried as soon as there is one."""
    tried: ShowProgress | None = None

    def on_trial(done: int, total: int, family: str) -> None:
        nonlocal tried
        if show:
            tried = tried or bars.enter_context(progress("kernels", total, lines=False))
            tried(done, total, f"tried {family}")

    with reading_progress("reading", passes=passes, show=show) as on_share, ExitStack() as bars:
        yield on_share, on_trial


def _pass_counter(bar: ShowProgress, passes: int) -> Callable[[float], None]:
    done, last = 0, 0.0

    def step(share: float) -> None:
        nonlocal done, last
        if share < last:  # the file is being read again
            done += 1
        last = share
        bar(min(passes, done + share))

    return step
