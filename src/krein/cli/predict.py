"""``krein predict``: a model and a table in, predictions out."""

# No `from __future__ import annotations`: typer reads the options from annotations.
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from krein._core.errors import ModelFileError
from krein.cli.options import ChunkRows, Decimal, Separator
from krein.cli.output import console, report_card
from krein.cli.tables import check_out, is_number, reading, write_columns, writer_for
from krein.files.models import read_model
from krein.files.tables import TableChunks, open_table
from krein.show.progress import stages

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="Model file written by krein train.")],
    data: Annotated[Path, typer.Argument(help="Table with the columns of the training table.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Predictions: .csv, .tsv, .npz or .parquet.")],
    proba: Annotated[bool, typer.Option("--proba", help="Write a column with the probability of each class.")] = False,
    name: Annotated[
        str | None, typer.Option("--id", help="Column that names the rows, to stand before the predictions.")
    ] = None,
    sep: Separator = None,
    decimal: Decimal = ".",
    chunk_rows: ChunkRows = 50_000,
) -> dict[str, Any]:
    """Predict with a trained model, and score the predictions of rows whose target the table has."""
    writer_for(out)
    check_out(out, inputs=(data, model))
    learner, notes = read_model(model)
    columns, target, task = _columns_of(learner, notes, model)
    if proba and not hasattr(learner, "predict_proba"):
        raise ValueError(f"a {type(learner).__name__} has no probabilities; leave --proba out")
    table = open_table(data, sep=sep, decimal=decimal)
    kind: Literal["label", "number"] = "label" if task == "classification" else "number"
    parts: dict[str, list[np.ndarray]] = {"found": [], "chances": [], "truth": [], "names": []}
    with stages(asked=False):
        step = reading(1 if name is None else 2)
        if name is not None:
            table.check_columns([name])
            parts["names"] = [np.asarray(chunk[name]) for chunk in table.read([name], [name], chunk_rows, step)]
        known = target if target in table.columns else None
        chunks = TableChunks(table, columns, known, kind=kind, chunk_rows=chunk_rows, progress=step, blanks=True)
        for X, *truth in chunks:
            parts["found"].append(learner.predict(X))
            parts["truth"] += truth
            if proba:
                parts["chances"].append(learner.predict_proba(X))
    found = np.concatenate(parts["found"])
    written = {} if name is None else {name: np.concatenate(parts["names"])}
    written[target if target not in written else f"{target}_predicted"] = found
    if proba:
        chances = zip(learner.classes_, np.concatenate(parts["chances"]).T, strict=True)
        written |= {f"proba_{one}": column for one, column in chances}
    write_columns(out, written)
    scores = {} if known is None else _scores(np.concatenate(parts["truth"]), found, task)
    facts = {"n_rows": len(found), **scores, "written_to": str(out)}
    console().print(report_card(facts))
    return facts


def _columns_of(learner: Any, notes: dict[str, Any], path: Path) -> tuple[list[str], str, str]:
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


def _scores(truth: np.ndarray, found: np.ndarray, task: str) -> dict[str, Any]:
    """Accuracy or R² of the rows whose target is not blank, and how many these are if not all."""
    known = truth != "" if task == "classification" else ~np.isnan(truth)
    truth, found = truth[known], found[known]
    if not truth.size:
        return {}
    if task == "classification":
        score = {"accuracy": float(_equal(truth, found).mean())}
    else:
        spread = float(np.square(truth - truth.mean()).sum())
        score = {"R2": 1.0 - float(np.square(truth - found).sum()) / spread if spread > 0 else float("nan")}
    return score | ({} if known.all() else {"rows_with_a_target": truth.size})


def _equal(text: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Which labels of a file are those of a model: 1, 1.0 and 01 are the same number, where classes are numbers."""
    if labels.dtype.kind not in "iuf":
        return np.asarray(text == labels.astype(str))
    return np.asarray(np.array([float(one) if is_number(one) else np.nan for one in text]) == labels)
