"""The command line: reads arguments, calls the library, shows what comes back.

A command is a function ``add_NAME(app)`` that registers a thin wrapper; `COMMANDS` lists them in the order of ``--help``.
typer and rich come with the extra ``krein[cli]`` and are imported only here.
"""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import functools
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import krein
from krein.kernels import NAMED_KERNELS, Kernel, parse_kernel
from krein.measures import Diagnosis, SignedMeasure

if TYPE_CHECKING:
    import typer
    from rich.console import Console

__all__ = ["COMMANDS", "build_app", "main"]

_EXTRA = "the command line needs typer and rich, which are not installed; install them with: pip install 'krein[cli]'"
_CLEAN = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what a user can cause and mend
_MOST_ROWS = 20_000  # to fit on in krein approximate; fitting looks at fewer
_PLAIN_RADIUS = math.sqrt(2.0)  # the largest distance between unit vectors with non-negative entries
_debug: ContextVar[bool] = ContextVar("krein_debug", default=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``krein`` command.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments without the name of the program; None for those of the process.

    Raises
    ------
    SystemExit
        Always: 0 for success, 2 for an error that the user can mend, 130 when interrupted.
    """
    try:
        import rich
        import typer
    except ModuleNotFoundError as error:
        sys.stderr.write(f"error: {_EXTRA} ({error.name} is missing)\n")
        raise SystemExit(2) from None
    del rich, typer
    build_app()(None if arguments is None else list(arguments), prog_name="krein")


def build_app() -> "typer.Typer":
    """The application with all its commands."""
    import typer

    app = typer.Typer(
        help="Learning with similarities that need not be positive definite.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )

    @app.callback(invoke_without_command=True)
    def options(
        version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
        debug: Annotated[
            bool, typer.Option("--debug", envvar="KREIN_DEBUG", help="Show the whole traceback of an error.")
        ] = False,
    ) -> None:
        _debug.set(debug)
        if version:
            console().print(f"krein {krein.__version__}", highlight=False)
            raise typer.Exit(0)

    for add in COMMANDS:
        add(app)
    return app


def command(app: "typer.Typer", name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function; an error the user can mend becomes one line and code 2, Ctrl-C becomes code 130."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> None:
            try:
                with warnings.catch_warnings():
                    warnings.showwarning = _show_warning
                    function(*args, **kwargs)
            except KeyboardInterrupt:
                console(stderr=True).print("interrupted", style="yellow")
                raise SystemExit(130) from None
            except BrokenPipeError:  # the reader of a pipe has gone, which is no error
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise SystemExit(0) from None
            except _CLEAN as error:
                if _debug.get():
                    raise
                fail(_message(error))

        return app.command(name)(guarded)

    return register


def console(*, stderr: bool = False) -> "Console":
    """Where to print; made anew, so that a redirected stream is seen."""
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=False, highlight=False)


def fail(message: str) -> NoReturn:
    """One red line on the error stream, and exit code 2."""
    from rich.text import Text

    console(stderr=True).print(Text.assemble(("error: ", "bold red"), (message, "red")), soft_wrap=True)
    raise SystemExit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from rich.text import Text

    text = " ".join(str(message).split())
    console(stderr=True).print(Text(f"warning: {text}", style="yellow"), soft_wrap=True)


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    if isinstance(error, MemoryError):
        return f"out of memory; {error}" if str(error) else "out of memory; use fewer components or fewer rows"
    return " ".join(str(error).split()) or type(error).__name__


def add_diagnose(app: "typer.Typer") -> None:
    """``krein diagnose``."""
    import typer

    @command(app, "diagnose")
    def diagnose(
        kernel: Annotated[
            str | None,
            typer.Argument(
                metavar="KERNEL",
                help="Such as ntk, 'delta-gaussian(1, 10)' or '2*gaussian(1) - laplacian(0.5)'; none for all named kernels.",
            ),
        ] = None,
        dim: Annotated[int, typer.Option("--dim", "-d", help="Number of columns of the data.")] = ...,  # type: ignore[assignment]
        every: Annotated[bool, typer.Option("--all", help="All named kernels, as a table.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON; an infinite mass is null.")] = False,
    ) -> None:
        """Does a kernel admit a positive decomposition on R^d, why, and what to use."""
        if kernel is not None and every:
            raise ValueError(f"give a kernel or --all, not both (got {kernel!r} and --all)")
        if kernel is None:
            found = [krein.diagnose(cls(), dim) for cls in NAMED_KERNELS.values()]
            if as_json:
                print_json([_record(one) for one in found])
            else:
                console().print(_diagnosis_table(found))
            return
        one = krein.diagnose(parse_kernel(kernel), dim)
        if as_json:
            print_json(_record(one))
        else:
            console().print(_diagnosis_card(one))


def add_plot(app: "typer.Typer") -> None:
    """``krein plot``."""
    import typer

    @command(app, "plot")
    def plot(
        kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="Such as ntk or 'delta-gaussian(1, 10)'.")],
        dim: Annotated[int, typer.Option("--dim", "-d", help="Number of columns of the data.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .png, .svg or .pdf.")],
        radius: Annotated[
            float | None,
            typer.Option(help="Largest distance R. Default: all distances where a closed form holds, else sqrt(2)."),
        ] = None,
        method: Annotated[str, typer.Option(help="auto, closed_form, fourier or least_mass.")] = "auto",
        head_degree: Annotated[int, typer.Option(help="Degree in z² of the exact head, -1 (none) to 2.")] = 1,
        truncate: Annotated[
            float | None, typer.Option(help="Cut the Fourier measure at this radius (the paper cuts at 10).")
        ] = None,
        style: Annotated[str, typer.Option(help="auto (transparent), light or dark.")] = "auto",
    ) -> None:
        """Draw a kernel and its signed measure: the paper's Figure 1."""
        from krein.plotting import plot_measure, save_figure

        parsed = parse_kernel(kernel)
        measure = _measure(parsed, dim, radius, method=method, head_degree=head_degree, truncate=truncate)
        path = save_figure(plot_measure(parsed, measure, style=style), out)  # type: ignore[arg-type]
        screen = console()
        screen.print(str(measure), markup=False)
        screen.print(f"written to {path}", markup=False, soft_wrap=True)


def add_reproduce(app: "typer.Typer") -> None:
    """``krein reproduce``."""
    import typer

    from krein.experiments.catalog import EXPERIMENTS
    from krein.experiments.data import DIMENSIONS

    @command(app, "reproduce")
    def reproduce(
        names: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[FIGURE]...", help=f"Of {', '.join(one.name for one in EXPERIMENTS)}; none for all."
            ),
        ] = None,
        datasets: Annotated[
            list[str] | None,
            typer.Option(
                "--datasets", help=f"Of {', '.join(DIMENSIONS)}, or all. Default: letter; with --full all four."
            ),
        ] = None,
        full: Annotated[
            bool, typer.Option("--full/--quick", help="All runs of the paper, or a few minutes' worth.")
        ] = False,
        out: Annotated[Path, typer.Option("--out", "-o", help="Folder for records, figures and report.")] = Path(
            "results"
        ),
        jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 for one per core.")] = 0,
        count: Annotated[str, typer.Option(help="Widths as output columns, or as the paper's pairs.")] = "columns",
        seed: Annotated[int, typer.Option(help="Of the first run of each point.")] = 0,
    ) -> None:
        """The paper's figures and tables with a verdict on each claim; continues where it was interrupted."""
        _reproduce(names or [], datasets or [], full, out, jobs, count, seed)


def add_demo(app: "typer.Typer") -> None:
    """``krein demo``."""
    import typer

    @command(app, "demo")
    def demo(
        out: Annotated[Path, typer.Option("--out", "-o", help="Folder for records, figures and report.")] = Path(
            "results"
        ),
        jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 for one per core.")] = 0,
    ) -> None:
        """The paper in a few minutes: krein reproduce --quick on the packaged data set letter."""
        _reproduce([], ["letter"], False, out, jobs, "columns", 0)


def add_approximate(app: "typer.Typer") -> None:
    """``krein approximate``."""
    import typer

    @command(app, "approximate")
    def approximate(
        data: Annotated[Path, typer.Argument(help="Table of numbers: .csv, .npz or .parquet.")],
        kernel: Annotated[str, typer.Option("--kernel", "-k", help="Such as ntk or 'delta-gaussian(1, 10)'.")],
        n_components: Annotated[int, typer.Option("--n-components", "-n", help="Output columns.")] = 512,
        target: Annotated[str | None, typer.Option(help="Column to leave out.")] = None,
        weights: Annotated[str, typer.Option(help="calibrated, unbiased or projected.")] = "calibrated",
        sampler: Annotated[str, typer.Option(help="orthogonal, monte_carlo, hadamard, ...")] = "orthogonal",
        scaling: Annotated[str, typer.Option(help="minmax (columns to [0, 1]) or none.")] = "minmax",
        rows: Annotated[int, typer.Option(help="Unseen rows on which the error is measured.")] = 1000,
        seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """How well random features approximate a kernel on the rows of a table, and how fast."""
        from krein.estimators.fourier import SignedFourierFeatures

        features = SignedFourierFeatures(
            kernel=parse_kernel(kernel), n_components=n_components, weights=weights, sampler=sampler, random_state=seed
        )
        X, X_new = _sample_rows(data, target, scaling, rows, seed)
        started = time.perf_counter()
        features.fit(X)
        fitted = time.perf_counter()
        features.transform(X_new)
        mapped = time.perf_counter()
        exact = features.kernel_(X_new)
        size = math.sqrt(float((exact**2).sum())) or 1.0
        error = math.sqrt(float(((features.approximate(X_new) - exact) ** 2).sum())) / size
        report = {
            "kernel": repr(features.kernel_),
            "rows_fitted": X.shape[0],
            "rows_unseen": X_new.shape[0],
            "columns": X.shape[1],
            "n_components": int(features.signature_.size),
            "negative_components": int((features.signature_ < 0).sum()),
            "mass": features.measure_.mass,
            "bias": features.measure_.bias,
            "relative_error": error,
            "error_estimate": float(features.error_estimate_),
            "seconds_fit": fitted - started,
            "seconds_transform": mapped - fitted,
        }
        if as_json:
            print_json(report)
        else:
            console().print(_report_card(report))


def add_train(app: "typer.Typer") -> None:
    """``krein train``."""
    import typer

    @command(app, "train")
    def train(
        data: Annotated[Path, typer.Argument(help="Table: .csv, .npz or .parquet; it need not fit in memory.")],
        target: Annotated[str, typer.Option(help="Column to predict; all others must hold numbers.")],
        kernel: Annotated[str, typer.Option("--kernel", "-k", help="Such as ntk or 'delta-gaussian(1, 10)'.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
        task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
        n_components: Annotated[int, typer.Option("--n-components", "-n", help="Columns of the features.")] = 512,
        regularizer: Annotated[str, typer.Option(help="hilbert, two or krein.")] = "hilbert",
        lam: Annotated[str, typer.Option(help="Strength of the regulariser, or auto.")] = "auto",
        scaling: Annotated[str, typer.Option(help="minmax, standard or none.")] = "minmax",
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
        seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    ) -> None:
        """Train a ridge model on a table and save it."""
        from krein import learn_commands

        report = learn_commands.train(
            data,
            target,
            kernel,
            out,
            task=task,  # type: ignore[arg-type]
            n_components=n_components,
            regularizer=regularizer,
            lam=_number_or_auto(lam, "lam"),
            scaling=scaling,  # type: ignore[arg-type]
            chunk_rows=chunk_rows,
            seed=seed,
            show_progress=sys.stdout.isatty(),
        )
        console().print(_report_card({**asdict(report), "written_to": str(out)}))


def add_predict(app: "typer.Typer") -> None:
    """``krein predict``."""
    import typer

    @command(app, "predict")
    def predict(
        model: Annotated[Path, typer.Argument(help="Model file written by krein train.")],
        data: Annotated[Path, typer.Argument(help="Table with the columns of the training table.")],
        out: Annotated[Path, typer.Option("--out", "-o", help="Predictions: .csv, .npz or .parquet.")],
        chunk_rows: Annotated[int, typer.Option(help="Rows read at once.")] = 50_000,
    ) -> None:
        """Predict with a trained model; if the table has the target too, the predictions are scored."""
        from krein import learn_commands

        show = sys.stdout.isatty()
        report = learn_commands.predict(model, data, out, chunk_rows=chunk_rows, show_progress=show)
        shown: dict[str, Any] = {"n_rows": report.n_rows}
        if report.score is not None:
            shown[report.score_name] = report.score
        console().print(_report_card({**shown, "written_to": str(out)}))


COMMANDS: tuple[Callable[["typer.Typer"], None], ...] = (
    add_diagnose,
    add_plot,
    add_approximate,
    add_train,
    add_predict,
    add_reproduce,
    add_demo,
)


def _reproduce(names: list[str], datasets: list[str], full: bool, out: Path, jobs: int, count: str, seed: int) -> None:
    """Do the experiments under a progress bar, then say who wins where and what became of each claim."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from krein import experiments

    if count not in ("columns", "pairs"):
        raise ValueError(f"count must be columns or pairs, got {count!r}")
    if jobs < 0:
        raise ValueError(f"jobs must be 0 (one per core) or a number of processes, got {jobs}")
    every = krein.datasets.names() if "all" in datasets or (full and not datasets) else tuple(datasets) or ("letter",)
    plan = experiments.Plan("full" if full else "quick", every, count, seed)  # type: ignore[arg-type]
    bar = Progress(
        TextColumn("{task.description:<26.26}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console(stderr=True),
        transient=True,
    )
    last: list[experiments.Progress] = []

    def show(progress: experiments.Progress) -> None:
        last[:] = [progress]
        run = progress.run
        bar.update(task, completed=progress.done, total=progress.total, description=_run_title(run))

    try:
        with bar:
            task = bar.add_task("reading data", total=None)
            found = experiments.reproduce(names, plan, out, jobs=jobs or experiments.default_jobs(), on_progress=show)
    except KeyboardInterrupt:
        _say_how_to_continue(last, out)
        raise
    except (OSError, MemoryError):
        if last:
            _say_how_to_continue(last, out)
        raise
    _show_reproduction(found)


def _run_title(run: Any) -> str:
    return "starting" if run is None else f"{run.experiment} {run.dataset} {run.method}"


def _say_how_to_continue(last: Sequence[Any], out: Path) -> None:
    done = f"{last[0].done} of {last[0].total} runs are" if last else "Finished runs are"
    console(stderr=True).print(
        f"{done} kept in {out / 'records.jsonl'}; the same command continues from there.", markup=False, soft_wrap=True
    )


def _winners_table(sheet: Any) -> Any:
    """A table for each data set and kernel, so that it fits 80 columns."""
    from rich import box
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table

    tables: dict[str, Table] = {}
    for i, row in enumerate(sheet.rows):
        group = f"{row[0]}, {row[1]}"
        if group not in tables:
            tables[group] = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(group), title_justify="left")
            for heading in sheet.header[2:]:
                tables[group].add_column(heading, min_width=11)
        cells = [f"[green]{escape(text)}[/]" if (i, j) in sheet.best else escape(text) for j, text in enumerate(row)]
        tables[group].add_row(*cells[2:])
    return Group(escape(sheet.caption), *tables.values())


def _show_reproduction(found: Any) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    if found.winners is not None:
        screen.print(_winners_table(found.winners))
    claims = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Claims of the paper", title_justify="left")
    for heading in ("claim", "as printed", "library"):
        claims.add_column(heading)
    colours = {"confirmed": "green", "not confirmed": "red", "not testable": "yellow"}
    for claim, finding in found.verdicts:
        cells = (f"[{colours[one]}]{one}[/]" if one else "" for one in (finding.printed, finding.library))
        claims.add_row(escape(claim.text), *cells)
    screen.print(claims)
    for failure in found.failures:
        run = failure.run
        text = f"failed: {run.experiment} {run.dataset} {run.kernel} {run.method} width {run.size}: {failure.message}"
        console(stderr=True).print(text, style="yellow", markup=False, soft_wrap=True)
    screen.print(f"{found.done} runs done, {found.reused} found done before", markup=False)
    screen.print(f"report: {found.report}", markup=False, soft_wrap=True)


def _sample_rows(path: Path, target: str | None, scaling: str, rows: int, seed: int) -> tuple[Any, Any]:
    """Rows to fit on and rows to test on, a uniform sample of the table taken in one pass."""
    import numpy as np

    from krein.datasets import MinMax
    from krein.tables import TableChunks, open_table

    if scaling not in ("minmax", "none"):
        raise ValueError(f"scaling must be minmax or none, got {scaling!r}")
    if rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}; the paper uses 1000")
    table = open_table(path)
    if target is not None:
        table.check_columns([target])
    rng = np.random.default_rng(seed)
    limit, kept, keys = _MOST_ROWS + rows, None, np.empty(0)
    for (X,) in TableChunks(table, [name for name in table.columns if name != target]):
        kept = X if kept is None else np.concatenate([kept, X])
        keys = np.concatenate([keys, rng.random(X.shape[0])])
        best = np.argsort(keys, kind="stable")[
            :limit
        ]  # the rows with the smallest of independent keys are a fair sample
        kept, keys = kept[best], keys[best]
    assert kept is not None  # an empty table is refused above
    if kept.shape[0] < 4:
        raise ValueError(f"{path} has {kept.shape[0]} rows; at least 4 are needed, to fit on some and test on others")
    test = min(rows, kept.shape[0] // 2)
    X, X_new = kept[test:], kept[:test]
    if scaling == "minmax":
        scaler = MinMax.fit(X)
        X, X_new = scaler.apply(X), scaler.apply(X_new)
    return X, X_new


def _number_or_auto(text: str, name: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number or auto, got {text!r}") from None


def print_json(value: Any) -> None:
    """JSON on the standard output, never wrapped or coloured."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _record(diagnosis: Diagnosis) -> dict[str, Any]:
    """A diagnosis as JSON has it: no infinity; ``finite`` says whether a mass of null is one."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(diagnosis).items()
    }


def _measure(kernel: Kernel, dim: int, radius: float | None = None, **options: Any) -> SignedMeasure:
    """The measure to draw: at all distances where that is possible, else up to `radius` or √2."""
    closed = all(part.radius_law(dim) is not None for _, part in kernel.terms()) if dim > 0 else True
    fourier = options.get("method") == "fourier" and (closed or kernel.domain == "sphere")
    if radius is None and not closed and not fourier:
        radius = _PLAIN_RADIUS
    return krein.signed_measure(kernel, dim, radius, **options)


def _answer(value: bool | None) -> str:
    return {True: "[green]yes[/green]", False: "[red]no[/red]", None: "[yellow]undecided[/yellow]"}[value]


def _mass(diagnosis: Diagnosis, digits: int = 4) -> str:
    if diagnosis.mass is None:
        return {True: "finite, not computed", None: "[yellow]undecided[/yellow]"}.get(diagnosis.finite, "not computed")
    if math.isinf(diagnosis.mass):
        return "[red]infinite[/red]"
    if diagnosis.positive_mass is None or not diagnosis.negative_mass:
        return f"{diagnosis.mass:.{digits}g}"
    parts = f"{diagnosis.positive_mass:.{digits}g} + {diagnosis.negative_mass:.{digits}g}"
    return f"{diagnosis.mass:.{digits}g} = {parts}"


def _diagnosis_table(found: Sequence[Diagnosis]) -> Any:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    dim = found[0].dim
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=f"Kernels in dimension {dim}: does a finite signed measure on R^{dim} give them?",
        caption=f"PD: positive definite. A kernel has a positive decomposition on R^{dim} if and only if the mass is finite.",
        title_justify="left",
        caption_justify="left",
        title_style="bold",
    )
    table.add_column("kernel", no_wrap=True)
    table.add_column("mass of its measure", no_wrap=True)
    table.add_column("decided by", no_wrap=True)
    table.add_column("PD on R^d", min_width=5)
    table.add_column("on sphere", min_width=6)
    for one in found:
        table.add_row(
            escape(_short(one.kernel)),
            _mass(one, digits=3),
            f"[dim]{one.rule}[/dim]",
            _answer(one.positive_definite),
            _answer(one.positive_on_sphere),
        )
    return table


def _short(text: str) -> str:
    """The command-line name of a kernel with default parameters, else its ``repr``."""
    return next((name for name, cls in NAMED_KERNELS.items() if repr(cls()) == text), text)


def _measure_table(names: Sequence[str], measures: Sequence[SignedMeasure]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        title="What the library uses instead: measures that exist",
        title_justify="left",
        title_style="bold",
    )
    for heading, side in (("kernel", "left"), ("distances", "left"), ("positive", "right"), ("negative", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    table.add_column("bias at most", justify="right")
    for name, measure in zip(names, measures, strict=True):
        table.add_row(
            name,
            "all" if math.isinf(measure.radius) else f"up to {measure.radius:.3g}",
            f"{measure.positive.mass:.3g}",
            f"{measure.negative.mass:.3g}",
            f"{measure.bias:.1e}" if measure.bias else "0",
        )
    return table


def _diagnosis_card(one: Diagnosis) -> Any:
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    card = Table.grid(padding=(0, 2))
    card.add_column(style="bold", no_wrap=True)
    card.add_column(overflow="fold")
    decided = ", decided numerically" if one.numerical else ""
    card.add_row(f"finite signed measure on R^{one.dim}", f"{_answer(one.finite)}, by {one.rule}{decided}")
    card.add_row("why", escape(one.reason))
    card.add_row("mass (positive + negative)", _mass(one))
    card.add_row(f"positive definite on R^{one.dim}", _answer(one.positive_definite))
    sphere = _answer(one.positive_on_sphere)
    if one.negative_degree is not None:
        sphere += f" (coefficient of degree {one.negative_degree} is negative)"
    card.add_row("positive definite on the sphere", sphere)
    if one.tail_exponent is not None:
        card.add_row("tail of the measure", f"r^{-one.tail_exponent:.3g}; a finite mass needs a power below -1")
    card.add_row("use", escape(one.advice))
    return Group(Text(f"{one.kernel} in dimension {one.dim}", style="bold"), card)


def _report_card(report: dict[str, Any]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    card = Table.grid(padding=(0, 2))
    card.add_column(style="bold", no_wrap=True)
    card.add_column(overflow="fold")
    for name, value in report.items():
        if value is not None:
            text = (
                f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
            )
            card.add_row(name.replace("_", " "), escape(text))
    return card
