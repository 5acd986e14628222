"""``krein train``: a table in, a model out."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from krein._core.checks import one_of
from krein._core.errors import ModelFileError
from krein.cli.output import command, console, report_card
from krein.cli.tables import check_out, fair_sample, features_of, task_of, training_progress
from krein.files.tables import TableChunks, open_table
from krein.learning.tuning.trials import Trials, watched_trials

if TYPE_CHECKING:
    import typer

__all__ = ["TrainReport", "add_train", "train"]

_SCALINGS = ("auto", "standard", "minmax", "none")
_GIVEN_WIDTH, _GIVEN_SCALING = 512, "minmax"  # where a kernel is given and nothing else
# What KreinRidge and KreinRidgeClassifier choose λ by when nothing else is asked of them.
_CRITERION = "leave-one-out mean squared error"
_EXACT_CRITERION = "squared error of left-out rows, relative to that of a constant"
_SHOWN = 10  # trials in the table
_SAMPLE, _HELD_OUT = 5_000, 0.2  # rows drawn to measure the error that a person knows, and the share that is left out
_LEAST_HELD_OUT = 10  # rows; of fewer an accuracy says nothing


def add_train(app: "typer.Typer") -> None:
    """``krein train``."""
    import typer

    @command(app, "train")
    def run(
        data: Annotated[Path, typer.Argument(help="Table: .csv, .tsv, .npz or .parquet; it need not fit in memory.")],
        target: Annotated[str, typer.Option(help="Column to predict; all others must hold numbers.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
        kernel: Annotated[
            str,
            typer.Option(
                "--kernel", "-k", help="A kernel, such as ntk or 'delta-gaussian(1, 10)'; auto: chosen from the data."
            ),
        ] = "auto",
        task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
        solver: Annotated[str, typer.Option(help="auto, exact, local or features.")] = "auto",
        n_components: Annotated[
            str, typer.Option("--n-components", "-n", help="Number of columns of the features, or auto.")
        ] = "auto",
        regularizer: Annotated[str, typer.Option(help="hilbert, two or krein.")] = "hilbert",
        lam: Annotated[str, typer.Option(help="Strength of the regularizer, or auto.")] = "auto",
        scaling: Annotated[str, typer.Option(help="auto, standard, minmax or none.")] = "auto",
        drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
        name: Annotated[str | None, typer.Option("--id", help="Column that names the rows; it is left out.")] = None,
        sep: Annotated[
            str | None, typer.Option(help="What separates columns; default: tabs in .tsv, else commas.")
        ] = None,
        decimal: Annotated[str, typer.Option(help="Decimal mark of a text file.")] = ".",
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
        seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    ) -> None:
        """Train a ridge model on a table and save it. By default kernel, scale and λ are chosen from the data."""
        report = train(
            data,
            target,
            out,
            kernel=kernel,
            task=task,
            solver=solver,
            n_components=_number_or_auto(n_components, "n_components", int),
            regularizer=regularizer,
            lam=_number_or_auto(lam, "lam", float),
            scaling=scaling,
            drop=[*(drop or []), *([] if name is None else [name])],
            sep=sep,
            decimal=decimal,
            chunk_rows=chunk_rows,
            seed=seed,
        )
        if report.trials is not None:
            console().print(_trials_table(report.trials))
        console().print(report_card({**report.card(), "written_to": str(out)}))


def _number_or_auto(text: str, name: str, kind: type) -> Any:
    try:
        return text if text == "auto" else kind(text)
    except ValueError:
        word = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name} must be {word} or auto, got {text!r}") from None


@dataclass(frozen=True)
class TrainReport:
    """The trained model in numbers, as the command prints them.

    Parameters
    ----------
    accuracy, r2 : float or None
        Share of correct classes, or R², of rows left out while the same was learned from others.
    of_a_constant : float or None
        The same of the most frequent class, or of the mean.
    measured_on : str or None
        On how many rows, learned from how many.
    model : str
        Name of the class.
    task : {"classification", "regression"}
    solver : str
        The solver that was used.
    kernel : str
        Given or chosen, on scaled columns.
    n_rows, n_columns : int
    n_components : int or None
        Number of columns of the features; None if the problem was solved without features.
    lam : float or pair of float
        λ, given or chosen.
    criterion : float or None
        Value of the criterion at the chosen λ; None if λ was given.
    criterion_is : str or None
        Name of the criterion.
    n_classes : int or None
        None for regression.
    trials : Trials or None
        The kernels that were tried, if the kernel was chosen.
    """

    accuracy: float | None
    r2: float | None
    of_a_constant: float | None
    measured_on: str | None
    model: str
    task: str
    solver: str
    kernel: str
    n_rows: int
    n_columns: int
    n_components: int | None
    lam: float | tuple[float, float]
    criterion: float | None
    criterion_is: str | None
    n_classes: int | None
    trials: Trials | None = None

    def card(self) -> dict[str, Any]:
        """All fields except the trials, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "trials"}


def train(
    data: str | os.PathLike[str],
    target: str,
    out: str | os.PathLike[str],
    *,
    kernel: str = "auto",
    task: str = "auto",
    solver: str = "auto",
    n_components: int | str = "auto",
    regularizer: str = "hilbert",
    lam: float | str = "auto",
    scaling: str = "auto",
    drop: Sequence[str] = (),
    sep: str | None = None,
    decimal: str = ".",
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
    out : path
        The model file. An existing file is replaced only by a finished model.
    kernel : str, default="auto"
        As on the command line: ``ntk``, ``delta-gaussian(1, 10)``. ``"auto"``: chosen from the data.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"``: text and at most 100 distinct whole numbers in the first rows are classes.
    solver : str, default="auto"
        As in `krein.KreinRidge`.
    n_components : int or "auto", default="auto"
        Number of columns of the features. ``"auto"``: chosen by the number of rows, or 512 if a kernel is given.
    regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        As in `krein.KreinRidge`.
    lam : "auto" or float, default="auto"
        As in `krein.KreinRidge`.
    scaling : {"auto", "standard", "minmax", "none"}, default="auto"
        How columns are scaled. ``"auto"``: ``"standard"``, or ``"minmax"`` if a kernel is given.
    drop : sequence of str, default=()
        Columns to leave out.
    sep, decimal : str
        As in `krein.files.tables.open_table`.
    chunk_rows : int, default=50000
        Rows read at once.
    seed : int, default=0
        Random seed.
    show_progress : bool, default=True
        Draw progress bars on the terminal.

    Returns
    -------
    TrainReport

    Raises
    ------
    TableError, ModelFileError, ValueError
        The message says what to change.
    """
    from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
    from krein.estimators.maps.base import row_map
    from krein.files.models import save_model

    check_out(out, ModelFileError, inputs=[data])
    one_of(scaling, "scaling", _SCALINGS)
    table = open_table(data, sep=sep, decimal=decimal)
    columns = features_of(table, target, drop)
    kind, found = task_of(TableChunks(table, columns, target, kind="label", chunk_rows=chunk_rows), task)

    def new_model() -> Any:
        learner = KreinRidgeClassifier if found == "classification" else KreinRidge
        features = _features(kernel, n_components, scaling, seed)
        return learner(features, solver=solver, regularizer=regularizer, lam=lam, random_state=seed)

    model = new_model()
    with training_progress(passes=3, show=show_progress) as (on_share, on_trial), watched_trials(on_trial):
        chunks = TableChunks(table, columns, target, kind=kind, chunk_rows=chunk_rows, progress=on_share)
        held = _held_out(new_model(), *fair_sample(chunks, _SAMPLE, seed))
        model.fit_chunks(chunks)
    notes = {"columns": columns, "target": target, "task": found, "data": Path(data).name}
    save_model(model, out, notes=notes)
    _warn(table.path, target, task, model, held)
    chosen, given = model.choice_, lam != "auto"
    return TrainReport(
        accuracy=held.score if held is not None and found == "classification" else None,
        r2=held.score if held is not None and found == "regression" else None,
        of_a_constant=None if held is None else held.constant,
        measured_on=None if held is None else f"{held.n_test:,} rows left out, learned from {held.n_train:,}",
        model=type(model).__name__,
        task=found,
        solver=model.solver_,
        kernel=kernel if kernel != "auto" or chosen is None else repr(chosen.kernel),
        n_rows=model.n_rows_,
        n_columns=len(columns),
        n_components=None if model.features_ is None else int(row_map(model.features_).signature.size),
        lam=model.lam_,
        criterion=None if given else _score_chosen(model),
        criterion_is=None if given else _CRITERION if model.model_ is None else _EXACT_CRITERION,
        n_classes=int(model.classes_.size) if found == "classification" else None,
        trials=None if chosen is None or not len(chosen.trials) else chosen.trials,
    )


@dataclass(frozen=True)
class _HeldOut:
    """Accuracy or R² of rows that were left out, and that of a constant."""

    score: float
    constant: float
    n_train: int
    n_test: int


def _held_out(model: Any, X: np.ndarray, y: np.ndarray) -> _HeldOut | None:
    """The error of a model that learns in the same way from four fifths of some rows, on the others; rows are in random order."""
    n_test = int(_HELD_OUT * len(y))
    if n_test < _LEAST_HELD_OUT or (y[n_test:] == y[n_test]).all():
        return None
    try:
        model.fit(X[n_test:], y[n_test:])
    except ValueError:  # too few rows for what was asked: the fit on all rows will say so, or succeed
        return None
    if hasattr(model, "classes_"):
        classes, counts = np.unique(y[n_test:], return_counts=True)
        constant = float((y[:n_test] == classes[counts.argmax()]).mean())
        score = float((model.predict(X[:n_test]) == y[:n_test]).mean())
    else:
        spread = float(np.square(y[:n_test] - y[:n_test].mean()).sum()) or 1.0
        constant = 1.0 - float(np.square(y[:n_test] - y[n_test:].mean()).sum()) / spread
        score = 1.0 - float(np.square(y[:n_test] - model.predict(X[:n_test])).sum()) / spread
    return _HeldOut(score, constant, len(y) - n_test, n_test)


def _warn(path: Path, target: str, task: str, model: Any, held: _HeldOut | None) -> None:
    """Of a model that has learned nothing, and of numbers that were taken for classes."""
    classes = getattr(model, "classes_", np.empty(0))
    if task == "auto" and classes.dtype.kind in "iuf" and classes.size > 2:
        warnings.warn(
            f"the whole numbers in {target!r} were taken for {classes.size} classes; use --task regression if they are quantities",
            stacklevel=3,
        )
    if held is not None and held.score <= held.constant:
        name, rival = ("accuracy", "the most frequent class") if classes.size else ("R2", "the mean")
        warnings.warn(
            f"the model is no better than a constant: {name} of rows left out is {held.score:.3g}, that of {rival} "
            f"{held.constant:.3g}; the columns of {path} may say nothing of {target!r}",
            stacklevel=3,
        )


def _features(kernel: str, n_components: int | str, scaling: str, seed: int) -> Any:
    """The map that the options ask for; None where everything is chosen from the data."""
    from krein.estimators.maps.fourier import SignedFourierFeatures
    from krein.estimators.maps.tuned import TunedFeatures
    from krein.kernels import parse_kernel

    if kernel == "auto":
        if n_components == "auto" and scaling == "auto":
            return None
        scaling = "standard" if scaling == "auto" else scaling
        return TunedFeatures(n_components=n_components, scaling=scaling, random_state=seed)
    width: Any = _GIVEN_WIDTH if n_components == "auto" else n_components
    features = SignedFourierFeatures(kernel=parse_kernel(kernel), n_components=width, random_state=seed)
    scaling = _GIVEN_SCALING if scaling == "auto" else scaling
    return features if scaling == "none" else TunedFeatures(None, scaling=scaling, features=features)


def _score_chosen(model: Any) -> float:
    """The criterion at the λ that it chose."""
    candidates = np.asarray(model.lams_).reshape(len(model.scores_), -1)
    chosen = (candidates == np.ravel(model.lam_)).all(axis=1)
    return float(model.scores_[np.flatnonzero(chosen)[0]])


def _trials_table(trials: Trials) -> Any:
    """The best of what was tried, on the most rows."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    left = len(trials) - _SHOWN
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title="Kernels tried; errors relative to that of a constant",
        title_justify="left",
        caption=f"and {left} more" if left > 0 else None,
        caption_justify="left",
    )
    for title in trials.titles:
        table.add_column(title)
    for trial in trials.trials[:_SHOWN]:
        table.add_row(*map(escape, trial.cells()), style="green" if trial.chosen else "")
    return table
