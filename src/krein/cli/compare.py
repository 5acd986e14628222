"""``krein compare``: models side by side on a table or a matrix of similarities, by cross-validation."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np

import krein
from krein._core.checks import integer, positive_integer
from krein.cli.output import command, console, print_json
from krein.cli.tables import Task, fair_sample, task_of
from krein.files.matrices import read_labels, read_matrix
from krein.files.tables import TableChunks, open_table
from krein.show.progress import progress

if TYPE_CHECKING:
    import typer

    from krein.comparison import Contender, FoldScore, KeptComparison, ModelComparison

__all__ = ["add_compare", "compare_matrix", "compare_table"]

_PAGE = "index.html"


def add_compare(app: "typer.Typer") -> None:
    """``krein compare``."""
    import typer

    @command(app, "compare")
    def compare(
        data: Annotated[
            Path, typer.Argument(help="Table: .csv, .npz or .parquet. With --labels: a square matrix of similarities.")
        ],
        target: Annotated[str, typer.Option(help="Column to predict; all others must hold numbers.")] = "",
        labels: Annotated[
            Path | None, typer.Option(help="File with a label for each object; DATA is then a matrix of similarities.")
        ] = None,
        out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the page and finished scores.")] = Path(
            "comparison"
        ),
        methods: Annotated[
            list[str] | None,
            typer.Option(
                "--method",
                "-m",
                help="krein-ridge, krein-logistic, svc, svc-tuned, boosting, ...; may be repeated; default: all.",
            ),
        ] = None,
        task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
        folds: Annotated[int, typer.Option(help="Number of cross-validation folds.")] = 5,
        rows: Annotated[int, typer.Option(help="Largest number of rows to use, drawn at random; 0 for all.")] = 5000,
        seed: Annotated[int, typer.Option(help="Random seed of rows, folds and models.")] = 0,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Train krein's learners and others on the same folds, and write a page of accuracies and times."""
        if bool(target) == (labels is not None):
            raise ValueError(
                "give either --target, the column to predict, or --labels, a file with the labels of a matrix's objects"
            )
        asked = _Asked(data, target, out, tuple(methods or ()), task, folds, rows, seed, labels)
        found = compare_table(asked) if labels is None else compare_matrix(asked)
        if as_json:
            print_json(_records(found))
        else:
            _show(found)
            console().print(f"page: {out / _PAGE}", markup=False, soft_wrap=True)


@dataclass(frozen=True)
class _Asked:
    """What the command line says."""

    data: Path
    target: str
    out: Path
    methods: tuple[str, ...] = ()
    task: str = "auto"
    folds: int = 5
    rows: int = 5000
    seed: int = 0
    labels: Path | None = None

    @property
    def line(self) -> str:
        """The command, without options that have their default value."""
        what = ["--target", self.target] if self.labels is None else ["--labels", str(self.labels)]
        words = ["krein", "compare", str(self.data), *what, "--out", str(self.out)]
        words += [word for name in self.methods for word in ("--method", name)]
        for name in ("task", "folds", "rows", "seed"):
            if getattr(self, name) != getattr(type(self), name):
                words += [f"--{name}", str(getattr(self, name))]
        return shlex.join(words)


def compare_table(asked: _Asked) -> "ModelComparison":
    """Compare models on a table under a progress bar, and write the page; an interruption keeps the finished fits."""
    from krein.comparison import KeptComparison, choose_contenders, table_contenders

    integer(asked.rows, "rows", least=0)
    positive_integer(asked.folds, "folds")
    X, y, task = _rows(asked)
    per_fit = len(y) - -(-len(y) // asked.folds)
    contenders = choose_contenders(table_contenders(task, per_fit, X.shape[1], seed=asked.seed), asked.methods)
    kept = KeptComparison(X, y, contenders, asked.out, task=task, folds=asked.folds, seed=asked.seed)
    classes = f", {np.unique(y).size} classes" if task == "classification" else ""
    facts = [f"{len(y):,} rows of {X.shape[1]:,} columns{classes}; {asked.folds} folds, each held out once."]
    return _compared(kept, asked, contenders, facts)


def compare_matrix(asked: _Asked) -> "ModelComparison":
    """Compare models on a matrix of similarities, in the same way."""
    from krein.comparison import KeptComparison
    from krein.comparison.matrices import matrix_task

    integer(asked.rows, "rows", least=0)
    K = read_matrix(asked.data)
    y = read_labels(cast(Path, asked.labels), K.shape[0])
    if 0 < asked.rows < len(y):
        some = np.sort(np.random.default_rng(asked.seed).choice(len(y), size=asked.rows, replace=False))
        K, y = K[np.ix_(some, some)], y[some]
    K, y, task, contenders = matrix_task(K, y, asked.methods, asked.task, asked.folds, asked.seed)
    kept = KeptComparison(K, y, contenders, asked.out, task=task, folds=asked.folds, seed=asked.seed)
    found = krein.diagnose(K, y=y)
    facts = [
        f"{len(y):,} objects; {asked.folds} folds, each held out once; parameters chosen by cross-validation within the others.",
        f"Negative eigenfraction {found.negative_fraction:.3g}; verdict: {found.verdict}.",
        "Why: " + "; ".join(found.reasons) + ".",
        "Next: " + "; ".join(found.advice) + ".",
    ]
    return _compared(kept, asked, contenders, facts)


def _compared(
    kept: "KeptComparison", asked: _Asked, contenders: Sequence["Contender"], facts: Sequence[str]
) -> "ModelComparison":
    """Run under a progress bar and write the page; after an interruption, the page shows the finished fits."""
    heading = f"{asked.data.name}: models side by side"
    try:
        found = _run(kept, {one.name: one.label for one in contenders}, asked.folds * len(contenders))
    except KeyboardInterrupt:
        partial = kept.result
        partial.write_page(asked.out / _PAGE, heading, facts, asked.line)
        _show(partial)
        text = f"{partial.progress()} They are kept in {asked.out}; the same command continues from there."
        console(stderr=True).print(text, markup=False, soft_wrap=True)
        raise
    found.write_page(asked.out / _PAGE, heading, facts, asked.line)
    return found


def _rows(asked: _Asked) -> tuple[np.ndarray, np.ndarray, Task]:
    """The rows to compare on, without classes that are too rare for the folds."""
    table = open_table(asked.data)
    table.check_columns([asked.target])
    columns = [name for name in table.columns if name != asked.target]
    kind, task = task_of(TableChunks(table, columns, asked.target, kind="label"), asked.task)
    chunks = TableChunks(table, columns, asked.target, kind=kind)
    X, y = fair_sample(chunks, asked.rows or np.iinfo(np.int64).max, asked.seed)
    if not np.isfinite(X).all():
        raise ValueError(f"{asked.data} has missing or infinite cells; fill them or leave their rows out")
    if task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        rare = classes[counts < asked.folds]
        if 0 < rare.size < classes.size:
            names = ", ".join(map(str, rare[:5])) + (", …" if rare.size > 5 else "")
            warnings.warn(f"classes with fewer than {asked.folds} rows are left out: {names}", stacklevel=2)
            X, y = X[~np.isin(y, rare)], y[~np.isin(y, rare)]
    return X, y, task


def _run(kept: "KeptComparison", labels: dict[str, str], total: int) -> "ModelComparison":
    done = before = len(kept.result.scores)
    with progress("fits", total, title="starting") as show:
        show(done, total, "starting", reused=before)

        def on_score(score: "FoldScore") -> None:
            nonlocal done
            done += 1
            show(done, total, f"{labels[score.contender]}, fold {score.fold + 1}", reused=before)

        return kept.run(on_score)


def _show(found: "ModelComparison") -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Grid

    table = found.table()
    ours = {one.contender.label for one in found.summaries() if one.contender.ours}
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(table.caption), title_justify="left")
    for place, heading in enumerate(table.header):
        grid.add_column(heading, overflow="fold", no_wrap=place == 0)
    for i, row in enumerate(table.rows):
        cells = [f"[green]{escape(text)}[/]" if (i, j) in table.best else escape(text) for j, text in enumerate(row)]
        grid.add_row(*cells, style="bold" if row[0] in ours else "")
    console().print(grid)


def _records(found: "ModelComparison") -> list[dict[str, Any]]:
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
