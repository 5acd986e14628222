"""``krein train``: a table in, a model out."""

# No `from __future__ import annotations`: typer reads the options from annotations.
import time
import warnings
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from krein._core.checks import one_of
from krein._core.errors import ModelFileError
from krein.cli.options import ChunkRows, Decimal, Drop, Rows, Seed, Separator
from krein.cli.output import console, report_card, text_grid
from krein.cli.tables import check_out, fair_sample, features_of, reading, task_of
from krein.estimators import KreinRidge, KreinRidgeClassifier, SignedFourierFeatures, TunedFeatures
from krein.files.models import save_model
from krein.files.tables import TableChunks, open_table
from krein.kernels import parse_kernel
from krein.show.progress import stages

__all__ = ["train"]

_SCALINGS = ("auto", "standard", "minmax", "none")
_GIVEN_WIDTH, _GIVEN_SCALING = 512, "minmax"  # where a kernel is given and nothing else
# What KreinRidge and KreinRidgeClassifier choose λ by when nothing else is asked of them.
_CRITERION = "leave-one-out mean squared error"
_EXACT_CRITERION = "squared error of left-out rows, relative to that of a constant"
_SHOWN = 10  # trials in the table
_SAMPLE, _HELD_OUT = 5_000, 0.2  # rows drawn to measure the error that a person knows, and the share that is left out
_LEAST_HELD_OUT = 10  # rows; of fewer an accuracy says nothing
_CLEAR = 2.0  # standard errors by which a model that has learned something is better than a constant


def train(
    data: Rows,
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
    drop: Drop = None,
    name: Annotated[str | None, typer.Option("--id", help="Column that names the rows; it is left out.")] = None,
    sep: Separator = None,
    decimal: Decimal = ".",
    chunk_rows: ChunkRows = 50_000,
    seed: Seed = 0,
) -> dict[str, Any]:
    """Train a ridge model on a table and save it. By default kernel, scale and λ are chosen from the data."""
    check_out(out, ModelFileError, inputs=[data])
    one_of(scaling, "scaling", _SCALINGS)
    table = open_table(data, sep=sep, decimal=decimal)
    columns = features_of(table, target, [*(drop or []), *([] if name is None else [name])])
    kind, found = task_of(TableChunks(table, columns, target, kind="label", chunk_rows=chunk_rows), task)
    width, given_lam = _number_or_auto(n_components, "n_components", int), _number_or_auto(lam, "lam", float)

    def new_model() -> Any:
        learner = KreinRidgeClassifier if found == "classification" else KreinRidge
        features = _features(kernel, width, scaling, seed)
        return learner(features, solver=solver, regularizer=regularizer, lam=given_lam, random_state=seed)

    model = new_model()
    with stages(asked=False):
        chunks = TableChunks(table, columns, target, kind=kind, chunk_rows=chunk_rows, progress=reading(3))
        held = _held_out(new_model(), *fair_sample(chunks, _SAMPLE, seed))
        start = time.perf_counter()
        model.fit_chunks(chunks)
        seconds = time.perf_counter() - start
    save_model(model, out, notes={"columns": columns, "target": target, "task": found, "data": Path(data).name})
    _warn(table.path, target, task, model, held)
    facts = {**_facts(model, kernel, held), "time_of_fit": _time_words(model, seconds), "written_to": str(out)}
    trials: Any = () if model.choice_ is None else model.choice_.trials
    if len(trials):
        cells = [one.cells() for one in trials.trials[:_SHOWN]]
        more = f"and {len(trials) - _SHOWN} more" if len(trials) > _SHOWN else ""
        chosen = [i for i, one in enumerate(trials.trials[:_SHOWN]) if one.chosen]
        best = {(i, j) for i in chosen for j in range(len(trials.titles))}
        title = "Kernels tried; errors relative to that of a constant"
        console().print(text_grid(trials.titles, cells, title=title, caption=more, best=best))
    console().print(report_card(facts))
    return facts


class _HeldOut(NamedTuple):
    """Accuracy or R² of rows that were left out, and that of a constant."""

    score: float
    constant: float
    n_train: int
    n_test: int
    clearly: bool  # better than the constant, by more than two standard errors of the gain


def _facts(model: Any, kernel: str, held: _HeldOut | None) -> dict[str, Any]:
    """What is printed of a model: first what a person knows, then what was given or chosen."""
    classes = getattr(model, "classes_", None)
    exact = model.solver_ == "exact"
    facts: dict[str, Any] = {}
    if held is not None:
        facts = {
            "R2" if classes is None else "accuracy": held.score,
            "of_a_constant": held.constant,
            "measured_on": f"{held.n_test:,} rows left out, learned from {held.n_train:,}",
        }
    facts |= {
        "model": type(model).__name__,
        "solver": model.solver_,
        "kernel": kernel if kernel != "auto" or model.choice_ is None else repr(model.choice_.kernel),
        "n_rows": model.n_rows_,
        "n_columns": model.n_features_in_,
        "n_components": None if exact else int(model.features_.signature.size),
        "lam": model.lam_,
        "n_classes": None if classes is None else int(classes.size),
    }
    if model.lam == "auto":
        facts["criterion"] = _score_chosen(model)
        facts["criterion_is"] = _EXACT_CRITERION if exact else _CRITERION
    return facts


def _time_words(model: Any, seconds: float) -> str:
    """The time of the fit, and the share of it in which kernel, scale and λ were chosen, where ``choice_.seconds`` says so."""
    chosen = getattr(model.choice_, "seconds", None)
    return f"{seconds:.3g} s" + ("" if chosen is None else f", {chosen / max(seconds, 1e-9):.0%} of it choosing")


def _number_or_auto(value: Any, name: str, kind: type) -> Any:
    try:
        return value if value == "auto" else kind(value)
    except ValueError:
        word = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name} must be {word} or auto, got {value!r}") from None


def _held_out(model: Any, X: np.ndarray, y: np.ndarray) -> _HeldOut | None:
    """The error of a model that learns in the same way from four fifths of some rows, on the others; rows are in random order."""
    n_test = int(_HELD_OUT * len(y))
    if n_test < _LEAST_HELD_OUT or (y[n_test:] == y[n_test]).all():
        return None
    try:
        model.fit(X[n_test:], y[n_test:])
    except ValueError:  # too few rows for what was asked: the fit on all rows will say so, or succeed
        return None
    truth, found = y[:n_test], model.predict(X[:n_test])
    if hasattr(model, "classes_"):
        classes, counts = np.unique(y[n_test:], return_counts=True)
        by_row = [(truth == one).astype(np.float64) for one in (found, classes[counts.argmax()])]
    else:
        spread = float(np.square(truth - truth.mean()).mean()) or 1.0
        by_row = [1.0 - np.square(truth - one) / spread for one in (found, y[n_test:].mean())]
    score, constant = (float(one.mean()) for one in by_row)
    error = float((by_row[0] - by_row[1]).std(ddof=1)) / np.sqrt(n_test)
    return _HeldOut(score, constant, len(y) - n_test, n_test, score - constant > _CLEAR * error)


def _warn(path: Path, target: str, task: str, model: Any, held: _HeldOut | None) -> None:
    """Of a model that has learned nothing, and of numbers that were taken for classes."""
    classes = getattr(model, "classes_", np.empty(0))
    if task == "auto" and classes.dtype.kind in "iuf" and classes.size > 2:
        warnings.warn(
            f"the whole numbers in {target!r} were taken for {classes.size} classes; use --task regression if they are quantities",
            stacklevel=3,
        )
    if held is not None and not held.clearly:
        name, rival = ("accuracy", "the most frequent class") if classes.size else ("R2", "the mean")
        warnings.warn(
            f"the model is no better than a constant, beyond chance: {name} of {held.n_test} rows left out is "
            f"{held.score:.3g}, that of {rival} {held.constant:.3g}; the columns of {path} may say nothing of {target!r}",
            stacklevel=3,
        )


def _features(kernel: str, n_components: int | str, scaling: str, seed: int) -> Any:
    """The map that the options ask for; None where everything is chosen from the data."""
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
