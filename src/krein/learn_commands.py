"""What ``krein train`` and ``krein predict`` do: a table in, a model out; a model and a table in, predictions out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from krein.tables import TableChunks, TableError, open_table

__all__ = ["PredictReport", "TrainReport", "predict", "train"]

_MANY_LABELS = 100  # distinct whole numbers in the first chunk from which on they are taken for quantities


@dataclass(frozen=True)
class TrainReport:
    """What was trained, in numbers that a command can print; `criterion` is the squared error that chose λ."""

    model: str
    task: str
    n_rows: int
    n_columns: int
    n_components: int
    lam: Any
    criterion: float | None
    n_classes: int | None


@dataclass(frozen=True)
class PredictReport:
    """How many predictions were written, and how good they are if the table has the target too."""

    n_rows: int
    score: float | None
    score_name: str


def train(
    data: str | os.PathLike[str],
    target: str,
    kernel: str,
    out: str | os.PathLike[str],
    *,
    task: Literal["auto", "classification", "regression"] = "auto",
    n_components: int = 512,
    regularizer: str = "hilbert",
    lam: float | str = "auto",
    scaling: Literal["minmax", "standard", "none"] = "minmax",
    chunk_rows: int = 50_000,
    seed: int = 0,
    show_progress: bool = True,
) -> TrainReport:
    """Train a ridge model on a table that need not fit in memory, and save it.

    Parameters
    ----------
    data : path
        CSV, NPZ or Parquet.
    target : str
        Name of the column to predict; all other columns must hold numbers.
    kernel : str
        As on the command line: ``ntk``, ``delta-gaussian(1, 10)``.
    out : path
        The model file. A file that is there already is replaced only by a finished model.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"``: text and at most 100 distinct whole numbers in the first rows are classes.
    n_components, regularizer, lam, seed
        As in `krein.KreinRidge` and `krein.SignedFourierFeatures`.
    scaling : {"minmax", "standard", "none"}, default="minmax"
    chunk_rows : int, default=50000
    show_progress : bool, default=True
        Draw a progress bar on the terminal.

    Raises
    ------
    TableError, krein.estimators.persistence.ModelFileError, ValueError
        With a message for the person at the terminal.
    """
    from krein.estimators.fourier import SignedFourierFeatures
    from krein.estimators.persistence import save_model
    from krein.estimators.ridge import KreinRidge, KreinRidgeClassifier
    from krein.estimators.scaled import ScaledFeatures
    from krein.kernels import parse_kernel

    check_writable(out)
    table = open_table(data)
    table.check_columns([target])
    columns = [name for name in table.columns if name != target]
    kind, found = _task_of(TableChunks(table, columns, target, kind="label", chunk_rows=chunk_rows), task)
    features: Any = SignedFourierFeatures(kernel=parse_kernel(kernel), n_components=n_components, random_state=seed)
    if scaling != "none":
        features = ScaledFeatures(features, scaling=scaling)
    learner = KreinRidgeClassifier if found == "classification" else KreinRidge
    model: Any = learner(features, regularizer=regularizer, lam=lam, random_state=seed)
    with _progress("reading", passes=2, show=show_progress) as step:
        chunks = TableChunks(table, columns, target, kind=kind, chunk_rows=chunk_rows, progress=step)
        model.fit_chunks(chunks)
    notes = {"columns": columns, "target": target, "task": found, "data": Path(data).name}
    save_model(model, out, notes=notes)
    return TrainReport(
        model=type(model).__name__,
        task=found,
        n_rows=model.n_rows_,
        n_columns=len(columns),
        n_components=int(model.features_.signature_.shape[0]),
        lam=model.lam_,
        criterion=None if model.scores_ is None else float(np.min(model.scores_)),
        n_classes=int(model.classes_.size) if found == "classification" else None,
    )


def predict(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    chunk_rows: int = 50_000,
    show_progress: bool = True,
) -> PredictReport:
    """Predict the target of every row of a table and write the predictions to a CSV, NPZ or Parquet file.

    Columns are found by name; more columns than the model needs do no harm, and if the target is among them the
    predictions are scored.
    """
    from krein.estimators.persistence import load, read_header

    write = _writer(out)
    check_writable(out)
    learner = load(model)
    notes = read_header(model)["notes"]
    if "columns" not in notes:
        raise TableError(
            f"{model} was not written by krein train, so it does not say which columns it needs; use krein.load"
        )
    table = open_table(data)
    target, task = notes["target"], notes["task"]
    known = target in table.columns
    kind: Any = "label" if task == "classification" else "number"
    found, right, n_rows = [], _Score(task), 0
    with _progress("predicting", passes=1, show=show_progress) as step:
        chunks = TableChunks(
            table, notes["columns"], target if known else None, kind=kind, chunk_rows=chunk_rows, progress=step
        )
        for X, *rest in chunks:
            found.append(learner.predict(X))
            n_rows += X.shape[0]
            if rest:
                right.add(rest[0], found[-1])
    values = np.concatenate(found)
    _replace(Path(out), lambda part: write(part, target, values))
    return PredictReport(n_rows, right.value() if known else None, right.name)


class _Score:
    """Accuracy or R², from sums over chunks."""

    def __init__(self, task: str) -> None:
        self.name = "accuracy" if task == "classification" else "R2"
        self.n, self.hits, self.residual, self.total, self.square = 0, 0, 0.0, 0.0, 0.0

    def add(self, truth: np.ndarray, found: np.ndarray) -> None:
        self.n += truth.shape[0]
        if self.name == "accuracy":
            self.hits += int(np.count_nonzero(truth.astype(str) == found.astype(str)))
        else:
            self.residual += float(np.square(truth - found).sum())
            self.total += float(truth.sum())
            self.square += float(np.square(truth).sum())

    def value(self) -> float:
        if self.name == "accuracy":
            return self.hits / self.n
        spread = self.square - self.total**2 / self.n
        return 1.0 - self.residual / spread if spread > 0 else float("nan")


def _task_of(chunks: TableChunks, task: str) -> tuple[Any, str]:
    if task == "classification":
        return "label", task
    if task == "regression":
        return "number", task
    if task != "auto":
        raise ValueError(f"task must be 'auto', 'classification' or 'regression', got {task!r}")
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


def check_writable(path: str | os.PathLike[str]) -> None:
    """An error before the work rather than after it, if a file cannot be made at `path`."""
    from krein.estimators.persistence import ModelFileError

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


def _writer(out: str | os.PathLike[str]) -> Callable[[str, str, np.ndarray], None]:
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


def _replace(path: Path, write: Callable[[str], None]) -> None:
    """Write beside the final place and rename, so that a failure leaves what was there."""
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(descriptor)
    try:
        write(part)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


@contextmanager
def _progress(label: str, *, passes: int, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar over several passes of a file; calls with a share of one pass move it."""
    if not show:
        yield lambda share: None
        return
    try:
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError("the command line needs rich; install it with: pip install 'krein[cli]'") from error
    with Progress(transient=True) as bar:
        bar_id = bar.add_task(label, total=passes)
        done, last = 0, 0.0

        def step(share: float) -> None:
            nonlocal done, last
            if share < last:  # the file is being read again
                done += 1
            last = share
            bar.update(bar_id, completed=min(passes, done + share))

        yield step
