"""``krein predict``: a model and a table in, predictions out."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from krein._core.errors import ModelFileError
from krein.cli.output import command, console, report_card
from krein.cli.tables import check_out, reading_progress, write_column, writer_for
from krein.files.tables import TableChunks, open_table

if TYPE_CHECKING:
    import typer

__all__ = ["PredictReport", "add_predict", "predict"]


def add_predict(app: "typer.Typer") -> None:
    """``krein predict``."""
    import typer

    @command(app, "predict")
    def run(
        model: Annotated[Path, typer.Argument(help="Model file written by krein train.")],
        data: Annotated[Path, typer.Argument(help="Table with the columns of the training table.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="Predictions: .csv, .npz or .parquet.")],
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
    ) -> None:
        """Predict with a trained model, and score the predictions if the table has the target column."""
        show = sys.stdout.isatty()
        report = predict(model, data, out, chunk_rows=chunk_rows, show_progress=show)
        shown: dict[str, Any] = {"n_rows": report.n_rows}
        if report.score is not None:
            shown[report.score_name] = report.score
        console().print(report_card({**shown, "written_to": str(out)}))


@dataclass(frozen=True)
class PredictReport:
    """Number of predictions written, and their score if the table has the target column.

    Parameters
    ----------
    n_rows : int
    score : float or None
        None if the table has no target.
    score_name : {"accuracy", "R2"}
    """

    n_rows: int
    score: float | None
    score_name: str


def predict(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    chunk_rows: int = 50_000,
    show_progress: bool = True,
) -> PredictReport:
    """Predict the target of every row of a table and write the predictions to a CSV, NPZ or Parquet file.

    Columns are found by name. Columns that the model does not need are ignored; if the target is among them, the
    predictions are scored.

    Parameters
    ----------
    model : path
        Written by `train`.
    data : path
        CSV, NPZ or Parquet, with the columns of the training table.
    out : path
        Ends in .csv, .npz or .parquet. An existing file is replaced only when all rows are predicted.
    chunk_rows : int, default=50000
        Rows read at once.
    show_progress : bool, default=True
        Draw a progress bar on the terminal.

    Returns
    -------
    PredictReport

    Raises
    ------
    TableError, ModelFileError, ValueError
        The message says what to change.
    """
    from krein.files.models import read_model

    writer_for(out)
    check_out(out)
    learner, notes = read_model(model)
    columns, target, task = _columns_of(learner, notes, model)
    table = open_table(data)
    known = target in table.columns
    kind: Literal["label", "number"] = "label" if task == "classification" else "number"
    found, right, n_rows = [], _Score(task), 0
    with reading_progress("predicting", passes=1, show=show_progress) as step:
        chunks = TableChunks(table, columns, target if known else None, kind=kind, chunk_rows=chunk_rows, progress=step)
        for X, *rest in chunks:
            found.append(learner.predict(X))
            n_rows += X.shape[0]
            if rest:
                right.add(rest[0], found[-1])
    write_column(out, target, np.concatenate(found))
    return PredictReport(n_rows, right.value() if known else None, right.name)


def _columns_of(learner: Any, notes: dict[str, Any], path: str | os.PathLike[str]) -> tuple[list[str], str, str]:
    """Columns, target and task as `train` noted them; notes are only as good as whoever wrote the file."""
    columns, target, task = (notes.get(name) for name in ("columns", "target", "task"))
    names = isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    if not (names and isinstance(target, str) and task in ("classification", "regression")):
        raise ModelFileError(
            f"{path} was not written by krein train, so it does not name the columns that the model needs; use krein.load_model"
        )
    assert isinstance(columns, list)
    if len(columns) != learner.n_features_in_ or (task == "classification") != hasattr(learner, "classes_"):
        raise ModelFileError(f"the notes in {path} do not fit the model in it; train the model again")
    return columns, target, task


class _Score:
    """Accuracy or R², from sums over chunks."""

    def __init__(self, task: str) -> None:
        self.name = "accuracy" if task == "classification" else "R2"
        self.n, self.hits, self.residual, self.total, self.square = 0, 0, 0.0, 0.0, 0.0
        self.shift = 0.0  # a target of the first chunk: sums about it keep the digits that a large mean would take

    def add(self, truth: np.ndarray, found: np.ndarray) -> None:
        if not self.n and self.name != "accuracy":
            self.shift = float(truth[0])
        self.n += truth.shape[0]
        if self.name == "accuracy":
            self.hits += int(np.count_nonzero(truth.astype(str) == found.astype(str)))
        else:
            self.residual += float(np.square(truth - found).sum())
            self.total += float((truth - self.shift).sum())
            self.square += float(np.square(truth - self.shift).sum())

    def value(self) -> float:
        if self.name == "accuracy":
            return self.hits / self.n
        spread = self.square - self.total**2 / self.n
        return 1.0 - self.residual / spread if spread > 0 else float("nan")
