"""Reproduce the paper: plan, do what is not done yet, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from krein._core.checks import positive_integer
from krein._core.processes import alone_in
from krein.paper.catalog import known_experiments
from krein.paper.claims import Verdict
from krein.paper.data import prepare
from krein.paper.execute import Failure, Task, execute
from krein.paper.plan import Plan, Run
from krein.paper.records import Record, RecordFile
from krein.paper.report import WIDTHS, records_by_experiment, write_report
from krein.show.table import Table

__all__ = ["Progress", "Reproduction", "kept_runs", "record_file", "reproduce"]


@dataclass(frozen=True)
class Progress:
    """Progress of a reproduction.

    Parameters
    ----------
    done, total : int
        Runs, those found done before included.
    reused : int
        Runs found done before.
    run : Run or None, default=None
        The one just finished, None at the start.
    """

    done: int
    total: int
    reused: int
    run: Run | None = None


@dataclass(frozen=True)
class Reproduction:
    """The result of a reproduction.

    Parameters
    ----------
    report : Path
        The page.
    verdicts : list of Verdict
        On all claims.
    summaries : list of Table
        Summary tables of the requested experiments that have one.
    done, reused : int
        Runs done now, and found done before.
    failures : list of Failure
        Runs that raised an error.
    passed_over : int
        Records that another version of the library wrote, and that were not used.
    """

    report: Path
    verdicts: list[Verdict]
    summaries: list[Table]
    done: int
    reused: int
    failures: list[Failure]
    passed_over: int


def reproduce(
    names: Sequence[str] = (),
    plan: Plan | None = None,
    out: Path = Path("results"),
    *,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Reproduction:
    """Run experiments and write their report.

    Runs that this version of the library has recorded in ``out/records.jsonl`` are not done again, so an interrupted call
    continues where it stopped. Every run has one thread.
    """
    plan = plan or Plan()
    experiments = known_experiments(names)
    positive_integer(jobs, "jobs")
    store = _writable(out)
    with alone_in(out):
        finished = store.read()
        planned = [(one.timed, Task(one.measure, run)) for one in experiments for run in plan.runs(one)]
        todo = [(timed, task) for timed, task in planned if task.run.key not in finished]
        total, reused = len(planned), len(planned) - len(todo)
        for name in dict.fromkeys(task.run.dataset for _, task in todo):
            prepare(name)  # what is missing is said before hours of work, not after
        done = 0

        def count(outcome: Record | Failure) -> None:
            nonlocal done
            done += 1
            on_progress(Progress(reused + done, total, reused, outcome.run))

        on_progress(Progress(reused, total, reused))
        failures = execute([task for timed, task in todo if not timed], store, jobs=jobs, on_done=count)
        failures += execute([task for timed, task in todo if timed], store, jobs=1, on_done=count)
        finished = store.read()
        report, verdicts = write_report(out, plan, finished)
        records = records_by_experiment(plan, finished)
        summaries = [
            one.summary(records[one.name], WIDTHS[plan.count])
            for one in experiments
            if one.summary is not None and records[one.name]
        ]
        return Reproduction(report, verdicts, summaries, done, reused, failures, store.count_others())


def kept_runs(names: Sequence[str], plan: Plan, out: Path) -> tuple[int, int]:
    """How many of the runs of a call of `reproduce` are recorded, as the file has it, and of how many."""
    finished = record_file(out).read()
    keys = [run.key for one in known_experiments(names) for run in plan.runs(one)]
    return sum(key in finished for key in keys), len(keys)


def record_file(out: Path) -> RecordFile:
    """The records of a folder of results."""
    return RecordFile(out / "records.jsonl")


def _writable(out: Path) -> RecordFile:
    """The records of a folder, after checking that it can be written."""
    out.mkdir(parents=True, exist_ok=True)
    store = record_file(out)
    os.close(os.open(store.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644))
    return store
