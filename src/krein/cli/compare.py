"""``krein compare``: models side by side on a table, on matrices or on objects, by cross-validation."""

# No `from __future__ import annotations`: typer reads the options from annotations.
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import krein
from krein._core.checks import integer, positive_integer
from krein._core.errors import TableError
from krein.cli.options import Decimal, Drop, Json, Separator
from krein.cli.output import console, print_json, text_grid
from krein.cli.tables import Task, fair_sample, features_of, is_number, task_of
from krein.comparison import Contender, KeptComparison, ModelComparison, choose_contenders, table_contenders
from krein.comparison.object_comparison import object_contenders
from krein.files.matrices import read_labels, read_matrix
from krein.files.tables import Table, TableChunks, open_table
from krein.show.progress import stages

__all__ = ["compare"]

_PAGE = "index.html"
_DATA = "Table: .csv, .tsv, .npz or .parquet. With --labels: square matrices of similarities, or with --distance of distances."
_LABELS = "File with a label for each object; DATA are then square matrices."
_SIMILARITY = (
    "Distance or kernel by name, such as levenshtein or gaussian; may be repeated; compares on its matrix of all rows."
)
_OBJECTS = "Column of text that --similarity compares; default: all columns but the target, which hold numbers."
_METHODS = "krein-ridge, krein-logistic, svc, svc-tuned, boosting, ...; may be repeated; default: all."


def compare(
    context: typer.Context,
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help=_DATA)],
    target: Annotated[str, typer.Option(help="Column to predict; all others must hold numbers.")] = "",
    labels: Annotated[Path | None, typer.Option(help=_LABELS)] = None,
    distance: Annotated[bool, typer.Option("--distance", help="The matrices hold distances.")] = False,
    similarity: Annotated[list[str] | None, typer.Option("--similarity", "-s", help=_SIMILARITY)] = None,
    objects: Annotated[str, typer.Option(help=_OBJECTS)] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the page and finished scores.")] = Path(
        "comparison"
    ),
    methods: Annotated[list[str] | None, typer.Option("--method", "-m", help=_METHODS)] = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    folds: Annotated[int, typer.Option(help="Number of cross-validation folds.")] = 5,
    rows: Annotated[int, typer.Option(help="Largest number of rows to use, drawn at random; 0 for all.")] = 5000,
    seed: Annotated[int, typer.Option(help="Random seed of rows, folds and models.")] = 0,
    drop: Drop = None,
    sep: Separator = None,
    decimal: Decimal = ".",
    as_json: Json = False,
) -> None:
    """Train krein's learners and others on the same folds, and write a page of accuracies and times."""
    if bool(target) == (labels is not None):
        raise ValueError(
            "give either --target, the column to predict, or --labels, a file with the labels of a matrix's objects"
        )
    if labels is None and (len(data) > 1 or distance or (objects and not similarity)):
        raise ValueError("several files and --distance are for matrices, with --labels; --objects needs --similarity")
    integer(rows, "rows", least=0)
    positive_integer(folds, "folds")
    most = rows or np.iinfo(np.int64).max
    X: Any
    given: Any = "precomputed"
    kind: Any = task
    if labels is not None:
        X, y = _matrices(data, labels, most, seed)
    else:
        table = open_table(data[0], sep=sep, decimal=decimal)
        given = similarity
        if objects:
            X, y = _text(table, objects, target, most, seed)
        else:
            X, y, kind = _rows(table, features_of(table, target, drop), target, task, folds, most, seed)
    if given:
        options: dict[str, Any] = {"distance": distance, "task": kind, "methods": methods or (), "folds": folds}
        y, kind, contenders = object_contenders(X, y, given, seed=seed, **options)
        kept = KeptComparison(None, y, contenders, out, task=kind, folds=folds, seed=seed)
        facts = [f"{len(y):,} objects; {folds} folds, each held out once."]
        facts += ["Parameters are chosen by cross-validation within the others.", *_diagnoses(contenders, y)]
    else:
        known = table_contenders(kind, len(y) - -(-len(y) // folds), X.shape[1], seed=seed)
        contenders = choose_contenders(known, methods or ())
        kept = KeptComparison(X, y, contenders, out, task=kind, folds=folds, seed=seed)
        classes = f", {np.unique(y).size} classes" if kind == "classification" else ""
        facts = [f"{len(y):,} rows of {X.shape[1]:,} columns{classes}; {folds} folds, each held out once."]
    found = _compared(
        kept, f"{', '.join(one.name for one in data)}: models side by side", facts, _command_line(context)
    )
    if as_json:
        print_json(_records(found))
    else:
        _show(found)
        console().print(f"page: {out / _PAGE}", markup=False, soft_wrap=True)


def _matrices(paths: Sequence[Path], labels: Path, most_rows: int, seed: int) -> tuple[Any, np.ndarray]:
    """The matrix, or several by the names of their files, and the labels, of objects drawn at random if there are too many."""
    matrices = {path.stem: read_matrix(path) for path in paths}
    if len(matrices) < len(paths):
        raise ValueError("matrices are told apart by the names of their files, of which two are the same; rename one")
    sizes = {matrix.shape[0] for matrix in matrices.values()}
    if len(sizes) > 1:
        raise ValueError(f"all matrices must be of the same objects, got {', '.join(map(str, sorted(sizes)))} of them")
    y = read_labels(labels, sizes.pop())
    if most_rows < len(y):
        some = np.sort(np.random.default_rng(seed).choice(len(y), size=most_rows, replace=False))
        matrices, y = {name: matrix[np.ix_(some, some)] for name, matrix in matrices.items()}, y[some]
    return (matrices if len(paths) > 1 else next(iter(matrices.values()))), y


def _text(table: Table, column: str, target: str, most_rows: int, seed: int) -> tuple[list[str], np.ndarray]:
    """The texts of a column and their labels, numbers if all are, drawn at random if there are too many."""
    names = [column, target]
    table.check_columns(names)
    chunks = list(table.read(names, names, 50_000, lambda share: None))
    texts, labels = (np.concatenate([np.asarray(chunk[name], dtype=object) for chunk in chunks]) for name in names)
    for name, values in ((column, texts), (target, labels)):
        blank = [value is None or value != value or value == "" for value in values]
        if any(blank):
            raise TableError(f"{table.path}, row {blank.index(True) + 1}, column {name!r} is empty; leave the row out")
    some = np.random.default_rng(seed).permutation(len(texts))[:most_rows]
    y = labels[some].astype(str)
    return texts[some].astype(str).tolist(), y.astype(np.float64) if all(map(is_number, y)) else y


def _rows(
    table: Table, columns: list[str], target: str, task: str, folds: int, most_rows: int, seed: int
) -> tuple[np.ndarray, np.ndarray, Task]:
    """The rows to compare on, without classes that are too rare for the folds."""
    kind, found = task_of(TableChunks(table, columns, target, kind="label"), task)
    X, y = fair_sample(TableChunks(table, columns, target, kind=kind), most_rows, seed)
    if found == "classification":
        classes, counts = np.unique(y, return_counts=True)
        rare = classes[counts < folds]
        if 0 < rare.size < classes.size:
            names = ", ".join(map(str, rare[:5])) + (", …" if rare.size > 5 else "")
            warnings.warn(f"classes with fewer than {folds} rows are left out: {names}", stacklevel=2)
            X, y = X[~np.isin(y, rare)], y[~np.isin(y, rare)]
    return X, y, found


def _diagnoses(contenders: Sequence[Contender], y: np.ndarray) -> list[str]:
    """What the page says of each matrix."""
    told = []
    for one in {id(one.data): one for one in contenders}.values():
        matrix = np.asarray(one.data)
        found = krein.diagnose(matrix, distance=not matrix.diagonal().any(), y=y)
        name = one.name.rpartition(": ")[0]
        told += [
            f"{name + ': n' if name else 'N'}egative eigenfraction {found.negative_fraction:.3g}; verdict: {found.verdict}.",
            f"Why: {'; '.join(found.reasons)}. Next: {'; '.join(found.advice)}.",
        ]
    return told


def _compared(kept: KeptComparison, heading: str, facts: Sequence[str], line: str) -> ModelComparison:
    """Run under a progress bar and write the page; after an interruption, the page shows the finished fits."""
    page = kept.out / _PAGE
    try:
        with stages():
            found = kept.run()
    except KeyboardInterrupt:
        partial = kept.result
        partial.write_page(page, heading, facts, line)
        _show(partial)
        text = f"{partial.progress()} They are kept in {kept.out}; the same command continues from there."
        console(stderr=True).print(text, markup=False, soft_wrap=True)
        raise
    found.write_page(page, heading, facts, line)
    return found


def _command_line(context: typer.Context) -> str:
    """The command, without options that have their default value."""
    words = ["krein", "compare"]
    for one in context.command.params:
        value = context.params[str(one.name)]
        if value in (one.default, [], None) or one.name == "as_json":
            continue
        name = [] if one.param_type_name == "argument" else [one.opts[0]]
        for part in value if isinstance(value, list | tuple) else [value]:
            words += name if part is True else [*name, str(part)]
    return shlex.join(words)


def _show(found: ModelComparison) -> None:
    table = found.table()
    ours = {one.contender.label for one in found.summaries() if one.contender.ours}
    bold = {i for i, row in enumerate(table.rows) if row[0] in ours}
    console().print(text_grid(table.header, table.rows, title=table.caption, best=table.best, bold=bold))


def _records(found: ModelComparison) -> list[dict[str, Any]]:
    """The summaries for JSON, which has no NaN."""
    return [
        {
            "model": one.contender.name,
            "label": one.contender.label,
            found.measure.replace("²", "2"): one.mean if one.folds else None,
            "deviation": one.deviation if one.folds else None,
            "seconds_fit": one.fit_seconds if one.folds else None,
            "seconds_predict": one.predict_seconds if one.folds else None,
            "folds": one.folds,
            "chosen": one.chosen,
            "failure": one.failure or None,
        }
        for one in found.summaries()
    ]
