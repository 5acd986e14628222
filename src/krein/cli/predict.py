"""``krein predict``: a model and a table in, predictions out."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from krein._core.errors import ModelFileError
from krein.cli.output import command, console, report_card
from krein.cli.tables import check_out, is_number, reading_progress, write_columns, writer_for
from krein.files.tables import Table, TableChunks, open_table

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
        out: Annotated[Path, typer.Option("--out", "-o", help="Predictions: .csv, .tsv, .npz or .parquet.")],
        proba: Annotated[
            bool, typer.Option("--proba", help="Write a column with the probability of each class.")
        ] = False,
        name: Annotated[
            str | None, typer.Option("--id", help="Column that names the rows, to stand before the predictions.")
        ] = None,
        sep: Annotated[
            str | None, typer.Option(help="What separates columns; default: tabs in .tsv, else commas.")
        ] = None,
        decimal: Annotated[str, typer.Option(help="Decimal mark of a text file.")] = ".",
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
    ) -> None:
        """Predict with a trained model, and score the predictions of rows whose target the table has."""
        report = predict(model, data, out, proba=proba, name=name, sep=sep, decimal=decimal, chunk_rows=chunk_rows)
        shown: dict[str, Any] = {"n_rows": report.n_rows}
        if report.score is not None:
            shown[report.score_name] = report.score
            if report.n_scored < report.n_rows:
                shown["rows_with_a_target"] = report.n_scored
        console().print(report_card({**shown, "written_to": str(out)}))


@dataclass(frozen=True)
class PredictReport:
    """Number of predictions written, and the score of those whose target the table has; None if it has none."""

    n_rows: int
    n_scored: int
    score: float | None
    score_name: str


def predict(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    proba: bool = False,
    name: str | None = None,
    sep: str | None = None,
    decimal: str = ".",
    chunk_rows: int = 50_000,
    show_progress: bool = True,
) -> PredictReport:
    """Predict the target of every row of a table and write the predictions to a CSV, NPZ or Parquet file.

    Columns are found by name. Columns that the model does not need are ignored; if the target is among them, the
    predictions of rows where it is not blank are scored.

    Parameters
    ----------
    model : path
        Written by `train`.
    data : path
        CSV, NPZ or Parquet, with the columns of the training table.
    out : path
        Ends in .csv, .tsv, .npz or .parquet. An existing file is replaced only when all rows are predicted.
    proba : bool, default=False
        Whether a column ``proba_CLASS`` is written for each class.
    name : str, default=None
        A column that names the rows, written before the predictions.
    sep, decimal : str
        As in `krein.files.tables.open_table`.
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
    check_out(out, inputs=(data, model))
    learner, notes = read_model(model)
    columns, target, task = _columns_of(learner, notes, model)
    if proba and not hasattr(learner, "predict_proba"):
        raise ValueError(f"a {type(learner).__name__} has no probabilities; leave --proba out")
    table = open_table(data, sep=sep, decimal=decimal)
    kind: Literal["label", "number"] = "label" if task == "classification" else "number"
    found, chances, right = [], [], _Score(task)
    with reading_progress("predicting", passes=1 if name is None else 2, show=show_progress) as step:
        names = [] if name is None else _names_of(table, name, chunk_rows, step)
        known = target if target in table.columns else None
        for X, *rest in TableChunks(
            table, columns, known, kind=kind, chunk_rows=chunk_rows, progress=step, blanks=True
        ):
            found.append(learner.predict(X))
            if proba:
                chances.append(learner.predict_proba(X))
            if rest:
                right.add(rest[0], found[-1])
    written = {} if name is None else {name: np.concatenate(names)}
    written[target if target not in written else f"{target}_predicted"] = np.concatenate(found)
    if proba:
        written |= {
            f"proba_{one}": column for one, column in zip(learner.classes_, np.concatenate(chances).T, strict=True)
        }
    write_columns(out, written)
    return PredictReport(sum(map(len, found)), right.n, right.value() if right.n else None, right.name)


def _names_of(table: Table, name: str, chunk_rows: int, step: Callable[[float], None]) -> list[np.ndarray]:
    table.check_columns([name])
    return [np.asarray(chunk[name]) for chunk in table.read([name], [name], chunk_rows, step)]


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
        known = truth != "" if self.name == "accuracy" else ~np.isnan(truth)
        truth, found = truth[known], found[known]
        if not truth.size:
            return
        if not self.n and self.name != "accuracy":
            self.shift = float(truth[0])
        self.n += truth.shape[0]
        if self.name == "accuracy":
            self.hits += int(np.count_nonzero(_equal(truth, found)))
        else:
            self.residual += float(np.square(truth - found).sum())
            self.total += float((truth - self.shift).sum())
            self.square += float(np.square(truth - self.shift).sum())

    def value(self) -> float:
        if self.name == "accuracy":
            return self.hits / self.n
        spread = self.square - self.total**2 / self.n
        return 1.0 - self.residual / spread if spread > 0 else float("nan")


def _equal(text: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which labels of a file are those of a model: 1, 1.0 and 01 are the same number, where classes are numbers."""
    if labels.dtype.kind not in "iuf":
        return np.asarray(text == labels.astype(str))
    return np.asarray(np.array([float(one) if is_number(one) else np.nan for one in text]) == labels)
