"""Doing runs: in processes, each run on one thread, every record written as it comes."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version

from threadpoolctl import threadpool_info

import krein
from krein._core.pools import running_numba
from krein._core.processes import deaf_to_interrupts
from krein._core.threads import n_threads, thread_limit
from krein.paper.experiment import Measurement
from krein.paper.plan import Run
from krein.paper.records import Record, RecordFile

__all__ = ["Failure", "Task", "attempt", "execute", "threads_allowed"]

# What libraries with pools of threads read when they are loaded. Numba's is not among them: it must not change in a process
# that has launched its threads, and `thread_limit` is enough.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_AHEAD = 2  # runs handed to each process at a time: few, so that an interrupt has little to take back


@dataclass(frozen=True)
class Task:
    """A run and the function that does it."""

    measure: Measurement
    run: Run


@dataclass(frozen=True)
class Failure:
    """A run that raised an error; it is tried again next time.

    Parameters
    ----------
    run : Run
    message : str
        What the error said.
    """

    run: Run
    message: str


def execute(
    tasks: Sequence[Task],
    store: RecordFile,
    *,
    jobs: int = 1,
    on_done: Callable[[Record | Failure], None] = lambda outcome: None,
) -> list[Failure]:
    """Do runs and record them."""
    failures = []
    with closing(_in_processes(tasks, jobs) if jobs > 1 and len(tasks) > 1 else _here(tasks)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                failures.append(outcome)
            else:
                store.append(outcome)
            on_done(outcome)
    return failures


def attempt(task: Task) -> Record | Failure:
    """Do a run on one thread; an error that the run itself causes becomes a `Failure`."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with thread_limit(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results, seconds = task.measure(task.run)
            threads = threads_allowed()
    except (ValueError, ArithmeticError, MemoryError, RuntimeError) as error:
        return Failure(task.run, f"{type(error).__name__}: {error}")
    notes = sorted({" ".join(str(one.message).split()) for one in caught if issubclass(one.category, UserWarning)})
    return Record(task.run, results, seconds, _versions(), started, notes, threads)


def threads_allowed() -> int:
    """The most threads that anything in this process may use now: our own loops, compiled ones, BLAS, OpenMP."""
    numba = running_numba()  # threads that nobody has started are not used: our own loops share them out themselves
    started = [] if numba is None else [int(numba.get_num_threads())]
    return max([n_threads(), *started, *(int(pool["num_threads"]) for pool in threadpool_info())])


def _here(tasks: Sequence[Task]) -> Generator[Record | Failure, None, None]:
    for task in tasks:
        yield attempt(task)


def _in_processes(tasks: Sequence[Task], jobs: int) -> Generator[Record | Failure, None, None]:
    others = set(multiprocessing.active_children())
    with _one_thread_environment():
        pool = ProcessPoolExecutor(
            min(jobs, len(tasks)), mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
        )
        done = False
        try:
            waiting: set[Future[Record | Failure]] = set()
            rest = iter(tasks)
            while True:
                for task in rest:
                    with deaf_to_interrupts():  # it starts processes one by one
                        waiting.add(pool.submit(attempt, task))
                    if len(waiting) >= _AHEAD * jobs:
                        break
                if not waiting:
                    break
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for one in finished:
                    yield one.result()
            done = True
        except BrokenProcessPool as error:
            raise MemoryError("a process was killed, most likely for lack of memory; use fewer jobs") from error
        finally:
            if not done:
                for process in set(multiprocessing.active_children()) - others:
                    process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the parent, which ends its workers; also where `deaf_to_interrupts` can do nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_thread_environment() -> Iterator[None]:
    """Processes that start here have pools of one thread from the beginning, whatever they load and when."""
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


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "krein": krein.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
