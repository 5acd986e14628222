"""Reproduce the paper: plan, do what is not done yet, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from krein.experiments.catalog import Plan, known_experiments
from krein.experiments.claims import Claim, Finding
from krein.experiments.data import known_datasets, prepare
from krein.experiments.records import Record, RecordFile
from krein.experiments.report import WIDTHS, planned, write_report
from krein.experiments.run import Run
from krein.experiments.runner import Failure, execute
from krein.experiments.sheets import Sheet, winners

__all__ = ["Progress", "Reproduction", "reproduce"]


@dataclass(frozen=True)
class Progress:
    """How far the work is; `run` is the one just finished, None at the start."""

    done: int
    total: int
    reused: int
    run: Run | None = None


@dataclass(frozen=True)
class Reproduction:
    """What came of it."""

    report: Path
    verdicts: list[tuple[Claim, Finding]]
    winners: Sheet | None
    done: int
    reused: int
    failures: list[Failure]


def reproduce(
    names: Sequence[str] = (),
    plan: Plan | None = None,
    out: Path = Path("results"),
    *,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Reproduction:
    """Do experiments and write their report.

    Runs recorded in ``out/records.jsonl`` are not done again, so an interrupted call continues where it stopped.

    Parameters
    ----------
    names : sequence of str, default=()
        Of experiments; none for all.
    plan : Plan, default=None
        None is quick, on letter.
    out : path, default="results"
        Made if it is missing.
    jobs : int, default=1
        Processes for runs whose time does not matter.
    on_progress : callable, optional

    Returns
    -------
    Reproduction

    Raises
    ------
    ValueError
        For an unknown experiment or data set; the known ones are listed.
    OSError
        If `out` cannot be written or the disk is full; what was recorded stays.
    """
    plan = plan or Plan()
    experiments = known_experiments(names)
    datasets = known_datasets(plan.datasets)
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if plan.seed < 0:
        raise ValueError(f"seed must not be negative, got {plan.seed}")
    store = _open(out)
    finished = store.read()
    todo = {
        timed: [run for one in experiments if one.timed == timed for run in plan.runs(one) if run.key not in finished]
        for timed in (False, True)
    }
    total = sum(len(plan.runs(one)) for one in experiments)
    reused = total - sum(map(len, todo.values()))
    for name in datasets:  # what is missing is said before hours of work, not after
        if any(run.dataset == name for runs in todo.values() for run in runs):
            prepare(name)
    done = 0

    def count(outcome: Record | Failure) -> None:
        nonlocal done
        done += 1
        on_progress(Progress(reused + done, total, reused, outcome.run))

    on_progress(Progress(reused, total, reused))
    failures = execute(todo[False], store, jobs=jobs, on_done=count)
    failures += execute(todo[True], store, jobs=1, on_done=count)
    finished = store.read()
    report, verdicts = write_report(out, plan, finished)
    errors = planned(plan, finished)["figure2"]
    shown = winners(errors, WIDTHS[plan.count]) if errors else None
    return Reproduction(report, verdicts, shown, done, reused, failures)


def _open(out: Path) -> RecordFile:
    """The records of a folder, after checking that it can be written."""
    out.mkdir(parents=True, exist_ok=True)
    store = RecordFile(out / "records.jsonl")
    os.close(os.open(store.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644))
    return store
