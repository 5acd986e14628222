"""``krein train``: a table in, a model out."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from krein._core.checks import one_of
from krein._core.errors import ModelFileError
from krein.cli.command import command
from krein.cli.files import check_out
from krein.cli.output import console, progress_bar, report_card
from krein.cli.targets import task_of
from krein.files.tables import TableChunks, open_table

if TYPE_CHECKING:
    import typer

__all__ = ["TrainReport", "add_train", "train"]

_SCALINGS = ("minmax", "standard", "none")
# What KreinRidge and KreinRidgeClassifier choose λ by when nothing else is asked of them.
_CRITERIA = {
    "classification": "leave-one-out share of wrong classes, plus a hundredth of the relative squared error",
    "regression": "leave-one-out mean squared error",
}


def add_train(app: "typer.Typer") -> None:
    """``krein train``.

    Parameters
    ----------
    app : typer.Typer
    """
    import typer

    @command(app, "train")
    def run(
        data: Annotated[Path, typer.Argument(help="Table: .csv, .npz or .parquet; it need not fit in memory.")],
        target: Annotated[str, typer.Option(help="Column to predict; all others must hold numbers.")],
        kernel: Annotated[str, typer.Option("--kernel", "-k", help="Such as ntk or 'delta-gaussian(1, 10)'.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
        task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
        n_components: Annotated[int, typer.Option("--n-components", "-n", help="Columns of the features.")] = 512,
        regularizer: Annotated[str, typer.Option(help="hilbert, two or krein.")] = "hilbert",
        lam: Annotated[str, typer.Option(help="Strength of the regularizer, or auto.")] = "auto",
        scaling: Annotated[str, typer.Option(help="minmax, standard or none.")] = "minmax",
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
        seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    ) -> None:
        """Train a ridge model on a table and save it."""
        report = train(
            data,
            target,
            kernel,
            out,
            task=task,
            n_components=n_components,
            regularizer=regularizer,
            lam=_number_or_auto(lam, "lam"),
            scaling=scaling,
            chunk_rows=chunk_rows,
            seed=seed,
            show_progress=sys.stdout.isatty(),
        )
        console().print(report_card({**asdict(report), "written_to": str(out)}))


def _number_or_auto(text: str, name: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number or auto, got {text!r}") from None


@dataclass(frozen=True)
class TrainReport:
    """What was trained, in numbers that a command can print.

    Parameters
    ----------
    model : str
        Name of the class.
    task : {"classification", "regression"}
    n_rows, n_columns, n_components : int
    lam : float or pair of float
        λ, given or chosen.
    criterion : float or None
        What chose λ, at the one chosen; None if λ was given.
    criterion_is : str or None
        What the criterion is, in words.
    n_classes : int or None
        None for regression.
    """

    model: str
    task: str
    n_rows: int
    n_columns: int
    n_components: int
    lam: float | tuple[float, float]
    criterion: float | None
    criterion_is: str | None
    n_classes: int | None


def train(
    data: str | os.PathLike[str],
    target: str,
    kernel: str,
    out: str | os.PathLike[str],
    *,
    task: str = "auto",
    n_components: int = 512,
    regularizer: str = "hilbert",
    lam: float | str = "auto",
    scaling: str = "minmax",
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
    n_components : int, default=512
        Columns of the features.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        As in `krein.KreinRidge`.
    lam : "auto" or float, default="auto"
        As in `krein.KreinRidge`.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        How columns are brought to one scale.
    chunk_rows : int, default=50000
        Rows read at once.
    seed : int, default=0
        Of the draw.
    show_progress : bool, default=True
        Draw a progress bar on the terminal.

    Returns
    -------
    TrainReport

    Raises
    ------
    TableError, ModelFileError, ValueError
        With a message for the person at the terminal.
    """
    from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
    from krein.estimators.maps.fourier import SignedFourierFeatures
    from krein.estimators.maps.tuned import TunedFeatures
    from krein.files.models import save_model
    from krein.kernels import parse_kernel

    one_of(scaling, "scaling", _SCALINGS)
    check_out(out, ModelFileError)
    table = open_table(data)
    table.check_columns([target])
    columns = [name for name in table.columns if name != target]
    kind, found = task_of(TableChunks(table, columns, target, kind="label", chunk_rows=chunk_rows), task)
    features: Any = SignedFourierFeatures(kernel=parse_kernel(kernel), n_components=n_components, random_state=seed)
    if scaling != "none":
        features = TunedFeatures(None, scaling=scaling, features=features)
    learner = KreinRidgeClassifier if found == "classification" else KreinRidge
    model: Any = learner(features, regularizer=regularizer, lam=lam, random_state=seed)
    with progress_bar("reading", passes=2, show=show_progress) as step:
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
        criterion=None if model.scores_ is None else _score_chosen(model),
        criterion_is=None if model.scores_ is None else _CRITERIA[found],
        n_classes=int(model.classes_.size) if found == "classification" else None,
    )


def _score_chosen(model: Any) -> float:
    """The criterion at the λ that it chose."""
    candidates = np.asarray(model.lams_).reshape(len(model.scores_), -1)
    chosen = (candidates == np.ravel(model.lam_)).all(axis=1)
    return float(model.scores_[np.flatnonzero(chosen)[0]])
