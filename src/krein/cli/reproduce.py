"""``krein reproduce`` and ``krein demo``: the paper's experiments under a progress bar, and what they showed."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import krein
from krein._core.checks import integer
from krein._core.threads import n_threads
from krein.cli.output import command, console
from krein.show.progress import progress

if TYPE_CHECKING:
    import typer
    from rich.console import Group

    from krein.paper import Plan, Progress, Reproduction
    from krein.show.table import Table

__all__ = ["add_reproduce", "add_demo", "reproduce_figures"]

_OUT = Path("results")  # where results go unless said otherwise
_QUICK_RUN_SECONDS = 0.25  # processor time of a quick run with its share of starting up, on the average of all
_COLORS = {"confirmed": "green", "not confirmed": "red", "not testable": "yellow"}  # of verdicts


def add_reproduce(app: "typer.Typer") -> None:
    """Add ``krein reproduce`` to the commands."""
    import typer

    from krein.paper import EXPERIMENTS

    every_name = ", ".join(one.name for one in EXPERIMENTS)
    every_dataset = ", ".join(krein.datasets.names())

    @command(app, "reproduce")
    def reproduce(
        names: Annotated[
            list[str] | None, typer.Argument(metavar="[FIGURE]...", help=f"Some of {every_name}; default: all.")
        ] = None,
        datasets: Annotated[
            list[str] | None,
            typer.Option(
                "--datasets",
                help=f"One of {every_dataset}, or all; may be repeated. Default: letter; with --full, all.",
            ),
        ] = None,
        full: Annotated[
            bool, typer.Option("--full/--quick", help="All runs of the paper, or a selection that takes a few minutes.")
        ] = False,
        out: Annotated[Path, typer.Option("--out", "-o", help="Folder for records, figures and report.")] = _OUT,
        jobs: Annotated[int, typer.Option("--jobs", "-j", help="Number of processes; 0 for one per core.")] = 0,
        count: Annotated[
            str, typer.Option(help="How widths are counted: as output columns (columns), or as in the paper (pairs).")
        ] = "columns",
        seed: Annotated[int, typer.Option(help="Random seed of the first run of each point.")] = 0,
    ) -> None:
        """Compute the paper's figures and tables with a verdict on each claim; resumes after an interruption."""
        reproduce_figures(names or [], datasets or [], full, out, jobs, count, seed)


def add_demo(app: "typer.Typer") -> None:
    """Add ``krein demo`` to the commands."""
    import typer

    @command(app, "demo")
    def demo(
        out: Annotated[Path, typer.Option("--out", "-o", help="Folder for records, figures and report.")] = _OUT,
        jobs: Annotated[int, typer.Option("--jobs", "-j", help="Number of processes; 0 for one per core.")] = 0,
    ) -> None:
        """Reproduce the paper in a few minutes: krein reproduce --quick on the packaged data set letter."""
        reproduce_figures([], ["letter"], False, out, jobs, "columns", 0)


def reproduce_figures(
    names: list[str], datasets: list[str], full: bool, out: Path, jobs: int, count: str, seed: int
) -> None:
    """Announce the runs, do them under a progress bar, then show the best method of each case and the verdict on each claim."""
    from krein import paper

    processes = integer(jobs, "jobs", least=0) or n_threads()
    every = krein.datasets.names() if "all" in datasets or (full and not datasets) else tuple(datasets) or ("letter",)
    plan = paper.Plan("full" if full else "quick", every, count, seed)  # type: ignore[arg-type]  # Plan checks it
    _say_what_comes(names, plan, out, processes)
    started = False

    def on_progress(state: "Progress") -> None:
        nonlocal started
        started = True
        run = state.run
        title = "starting" if run is None else f"{run.experiment} {run.dataset} {run.method}"
        show(state.done, state.total, title, reused=state.reused)

    try:
        with progress("runs", title="reading data") as show:
            found = paper.reproduce(names, plan, out, jobs=processes, on_progress=on_progress)
    except KeyboardInterrupt:
        _say_how_to_continue(names, plan, out)
        raise
    except (OSError, MemoryError):
        if started:
            _say_how_to_continue(names, plan, out)
        raise
    _show_reproduction(found)


def _say_what_comes(names: Sequence[str], plan: "Plan", out: Path, processes: int) -> None:
    """What will be done, how, and where it goes: before anything is."""
    from rich.table import Table as Grid

    from krein import paper

    chosen = paper.known_experiments(names)
    kept, total = paper.kept_runs(names, plan, out)
    screen = console(stderr=True)
    before = f", {kept:,} of them already done" if kept else ""
    text = (
        f"{total:,} runs on {', '.join(plan.datasets)} ({plan.mode}){before}{_how_long(plan, total - kept, processes)}:"
    )
    screen.print(text, markup=False, soft_wrap=True)
    grid = Grid.grid(padding=(0, 2))
    for one in chosen:
        grid.add_row(f"  {one.name}", f"{len(plan.runs(one)):,}", one.title.partition(": ")[2])
    screen.print(grid)
    timed = ", ".join(one.name for one in chosen if one.timed)
    how = f"{processes} process{'es' if processes > 1 else ''}, one thread per run"
    alone = f"; timed runs ({timed}) one at a time" if timed else ""
    screen.print(f"{how}{alone}. Ctrl-C keeps the finished runs.", markup=False, soft_wrap=True)
    screen.print(f"The report will be {out / 'index.html'}", markup=False, soft_wrap=True)


def _how_long(plan: "Plan", runs: int, processes: int) -> str:
    """About how long the runs will take, in words; a full reproduction depends on the data sets, and its bar will tell."""
    if plan.mode != "quick" or not runs:
        return ""
    minutes = max(1, round(runs * _QUICK_RUN_SECONDS / processes / 60))
    return f", about {minutes} minute{'s' if minutes > 1 else ''} on an idle machine"


def _say_how_to_continue(names: Sequence[str], plan: "Plan", out: Path) -> None:
    """Counted in the file itself, so that what is said is what is there."""
    from krein import paper

    kept, total = paper.kept_runs(names, plan, out)
    text = f"{kept} of {total} runs are kept in {out / 'records.jsonl'}; the same command continues from there."
    console(stderr=True).print(text, markup=False, soft_wrap=True)


def _show_reproduction(found: "Reproduction") -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Grid

    screen = console()
    for summary in found.summaries:
        screen.print(_summary(summary))
    for title, paper in (("Claims of the paper", True), ("Claims of this library", False)):
        claims = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
        for heading in ("claim", "as printed", "library"):
            claims.add_column(heading)
        for one in found.verdicts:
            both = (one.finding.printed, one.finding.library)
            if one.claim.paper == paper:
                claims.add_row(
                    escape(one.claim.text), *(f"[{_COLORS[word]}]{word}[/]" if word else "" for word in both)
                )
        screen.print(claims)
    for failure in found.failures:
        run = failure.run
        text = f"failed: {run.experiment} {run.dataset} {run.kernel} {run.method} width {run.size}: {failure.message}"
        console(stderr=True).print(text, style="yellow", markup=False, soft_wrap=True)
    if found.passed_over:
        text = f"{found.passed_over} records of another version of krein stay in the file and are not used"
        screen.print(text, markup=False, soft_wrap=True)
    screen.print(f"{found.done} runs done now, {found.reused} done before", markup=False)
    screen.print(f"report: {found.report}", markup=False, soft_wrap=True)


def _summary(table: "Table") -> "Group":
    """A table for each data set and kernel, so that it fits 80 columns."""
    from rich import box
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table as Grid

    grids: dict[str, Grid] = {}
    for i, row in enumerate(table.rows):
        group = f"{row[0]}, {row[1]}"
        if group not in grids:
            grids[group] = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(group), title_justify="left")
            for heading in table.header[2:]:
                grids[group].add_column(heading, min_width=11)
        cells = [f"[green]{escape(text)}[/]" if (i, j) in table.best else escape(text) for j, text in enumerate(row)]
        grids[group].add_row(*cells[2:])
    return Group(escape(table.caption), *grids.values())
