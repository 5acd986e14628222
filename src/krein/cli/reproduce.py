"""``krein reproduce`` and ``krein demo``: the paper's experiments under a progress bar, and what they showed."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import krein
from krein.cli.command import command
from krein.cli.output import console

if TYPE_CHECKING:
    import typer

__all__ = ["add_reproduce", "add_demo", "reproduce_figures"]


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
        reproduce_figures(names or [], datasets or [], full, out, jobs, count, seed)


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
        reproduce_figures([], ["letter"], False, out, jobs, "columns", 0)


def reproduce_figures(
    names: list[str], datasets: list[str], full: bool, out: Path, jobs: int, count: str, seed: int
) -> None:
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
