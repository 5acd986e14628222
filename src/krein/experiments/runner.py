"""Doing runs: those not yet recorded, in processes with one thread each, every record written as it comes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

from krein._core.threads import VARIABLES, thread_limit
from krein.experiments.records import Record, RecordFile
from krein.experiments.run import Run
from krein.experiments.scores import measure

__all__ = ["Failure", "default_jobs", "execute"]

_THREADS = VARIABLES  # all of which a new process reads


@dataclass(frozen=True)
class Failure:
    """A run that raised an error, and what it said; it is tried again next time."""

    run: Run
    message: str


def default_jobs() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(
    runs: Sequence[Run],
    store: RecordFile,
    *,
    jobs: int = 1,
    on_done: Callable[[Record | Failure], None] = lambda outcome: None,
) -> list[Failure]:
    """Do runs and record them.

    Parameters
    ----------
    runs : sequence of Run
        Those already recorded should have been left out.
    store : RecordFile
    jobs : int, default=1
        Processes; 1 works in this one.
    on_done : callable, optional
        Told of each outcome, after it is on the disk.

    Returns
    -------
    list of Failure
        An error in one run does not stop the others; one in writing (:class:`OSError`), or a process that is killed
        (:class:`MemoryError`), does.
    """
    failures = []
    for outcome in _in_processes(runs, jobs) if jobs > 1 and len(runs) > 1 else _here(runs):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            store.append(outcome)
        on_done(outcome)
    return failures


def attempt(run: Run) -> Record | Failure:
    """Measure; an error that the run itself causes becomes a `Failure`."""
    try:
        return measure(run)
    except (ValueError, ArithmeticError, MemoryError, RuntimeError) as error:
        return Failure(run, f"{type(error).__name__}: {error}")


def _here(runs: Sequence[Run]) -> Iterator[Record | Failure]:
    with thread_limit(1):
        for run in runs:
            yield attempt(run)


def _in_processes(runs: Sequence[Run], jobs: int) -> Iterator[Record | Failure]:
    others = set(multiprocessing.active_children())
    with _one_thread():
        pool = ProcessPoolExecutor(
            min(jobs, len(runs)), mp_context=multiprocessing.get_context("spawn"), initializer=_quiet_worker
        )
        done = False
        try:
            waiting: set[Future[Record | Failure]] = set()
            rest = iter(runs)
            while True:
                # a few at a time, so that an interrupt has little to take back
                for run in rest:
                    waiting.add(pool.submit(attempt, run))
                    if len(waiting) >= 2 * jobs:
                        break
                if not waiting:
                    break
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in finished:
                    yield one.result()
            done = True
        except BrokenProcessPool as error:
            raise MemoryError("a process was killed, most likely for want of memory; use fewer jobs") from error
        finally:
            if not done:
                for process in set(multiprocessing.active_children()) - others:
                    process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _quiet_worker() -> None:
    """Ctrl-C is for the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Environment in which new processes start with one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
