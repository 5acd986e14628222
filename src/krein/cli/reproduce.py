"""``krein reproduce`` and ``krein demo``: the paper's experiments under a progress bar, and what they showed."""

# No `from __future__ import annotations`: typer reads the options from annotations.
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from krein import paper
from krein._core.checks import integer
from krein._core.threads import n_threads
from krein.cli.output import console, text_grid
from krein.show.progress import progress

if TYPE_CHECKING:
    from krein.paper import Plan, Progress, Reproduction, Ruling
    from krein.paper.plan import Mode
    from krein.show.table import Table

__all__ = ["demo", "reproduce", "reproduce_figures"]

_OUT = Path("results")  # where results go unless said otherwise
_QUICK_RUN_SECONDS = 0.15  # processor time of a quick run with its share of starting up, on the average of all


_Out: TypeAlias = Annotated[Path, typer.Option("--out", "-o", help="Folder for records, figures and report.")]
_Jobs: TypeAlias = Annotated[int, typer.Option("--jobs", "-j", help="Number of processes; 0 for one per core.")]
_FIGURES = f"Some of {', '.join(one.name for one in paper.EXPERIMENTS)}; default: all."
_DATASETS = f"One of {', '.join(paper.TASKS)}, or all; may be repeated. Default: letter; with --full, all."


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="[FIGURE]...", help=_FIGURES)] = None,
    datasets: Annotated[list[str] | None, typer.Option("--datasets", help=_DATASETS)] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="All widths, more seeds and rows, all data; or a selection that takes minutes."
        ),
    ] = False,
    out: _Out = _OUT,
    jobs: _Jobs = 0,
    count: Annotated[
        str, typer.Option(help="How widths are counted: as output columns (columns), or as in the paper (pairs).")
    ] = "columns",
    seed: Annotated[int, typer.Option(help="Random seed of the first run of each point.")] = 0,
    seeds: Annotated[
        int | None, typer.Option(help="Runs of each point, in place of those of --quick or --full.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Training rows, in place of those of --quick or --full; 0 for all.")
    ] = None,
) -> None:
    """Compute the paper's figures and tables with a verdict on each claim; resumes after an interruption."""
    every = datasets or (list(paper.TASKS) if full else ["letter"])
    chosen = tuple(paper.TASKS) if "all" in every else tuple(every)
    mode: Mode = "full" if full else "quick"
    reproduce_figures(names or [], paper.Plan(mode, chosen, count, seed, seeds, rows), out, jobs)  # type: ignore[arg-type]  # Plan checks it


def demo(out: _Out = _OUT, jobs: _Jobs = 0) -> None:
    """Reproduce the paper in a few minutes: krein reproduce --quick on letter, with 26 classes and with two."""
    reproduce_figures([], paper.Plan(datasets=("letter", "letter_binary")), out, jobs)


def reproduce_figures(names: Sequence[str], plan: "Plan", out: Path, jobs: int) -> None:
    """Announce the runs, do them under a progress bar, then show the best method of each case and the verdict on each claim."""
    processes = integer(jobs, "jobs", least=0) or n_threads()
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
        grid.add_row(f"  {one.name}", f"{len(plan.runs(one)):,}", plan.described(one))
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
    kept, total = paper.kept_runs(names, plan, out)
    text = f"{kept} of {total} runs are kept in {out / 'records.jsonl'}; the same command continues from there."
    console(stderr=True).print(text, markup=False, soft_wrap=True)


def _show_reproduction(found: "Reproduction") -> None:
    screen = console()
    for summary in found.summaries:
        _show_summary(summary)
    for title, of_paper in (("Claims of the paper", True), ("Claims of this library", False)):
        rows = [
            (one.claim.text, *(_told(one.finding.rulings.get(arm.name)) for arm in paper.ARMS))
            for one in found.verdicts
            if one.claim.paper == of_paper
        ]
        screen.print(text_grid(("claim", *(arm.label for arm in paper.ARMS)), rows, title=title))
    for failure in found.failures:
        run = failure.run
        text = f"failed: {run.experiment} {run.dataset} {run.kernel} {run.method} width {run.size}: {failure.message}"
        console(stderr=True).print(text, style="yellow", markup=False, soft_wrap=True)
    if found.passed_over:
        text = f"{found.passed_over} records of another version of krein stay in the file and are not used"
        screen.print(text, markup=False, soft_wrap=True)
    screen.print(f"{found.done} runs done now, {found.reused} done before", markup=False)
    screen.print(f"report: {found.report}", markup=False, soft_wrap=True)


def _told(ruling: "Ruling | None") -> str:
    """A verdict and its cells."""
    if ruling is None:
        return ""
    return f"{ruling.status}, {ruling.won} of {ruling.cells}" if ruling.cells > 1 else ruling.status


def _show_summary(table: "Table") -> None:
    """A table for each data set and kernel, so that it fits 80 columns."""
    console().print(table.caption, markup=False)
    for group in dict.fromkeys(row[:2] for row in table.rows):
        places = [i for i, row in enumerate(table.rows) if row[:2] == group]
        best = {(places.index(i), j - 2) for i, j in table.best if i in places}
        rows = [table.rows[i][2:] for i in places]
        console().print(text_grid(table.header[2:], rows, title=", ".join(group), best=best))
