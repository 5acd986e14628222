"""Work shared among processes, for functions that hold Python's lock."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self, TypeVar

from krein._core.checks import integer
from krein._core.threads import usable_processors

__all__ = ["Processes", "Results", "deaf_to_interrupts", "n_processes"]

Result = TypeVar("Result")

# Seconds after which tasks that were run have been handed out: processes that are ended before make joblib print an error
_MOMENT = 0.05

_most_started = 1  # processes that this one has started at a time, which joblib keeps for the next who asks


def n_processes(n_jobs: int | None) -> int:
    """How many processes to use.

    Examples
    --------
    >>> n_processes(None), n_processes(3)
    (1, 3)
    """
    if n_jobs is not None:
        count = integer(n_jobs, "n_jobs", least=-(2**31))
        if count == 0:
            raise ValueError("n_jobs must not be 0; use a positive number, -1 for all processors, or None")
        n_jobs = count if count > 0 else max(1, usable_processors() + 1 + count)
    if n_jobs == 1:
        return 1
    import joblib  # late: it takes a tenth of a second, and most fits need no other process

    return int(joblib.effective_n_jobs(n_jobs))


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Processes that start here never hear Ctrl-C, not even while they load: it is for the parent, which ends them.

    The parent hears one that comes meanwhile at the end of the block. Where the system has no such thing, nothing changes.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # late: most programs start no process

    resource_tracker.ensure_running()  # which lets interrupts in again when it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Results(Iterator[Result]):
    """What tasks give, one after the other."""

    def __init__(self, results: Iterator[Result], ready: Callable[[], bool] = lambda: False) -> None:
        self._results, self._ready = results, ready

    def __next__(self) -> Result:
        return next(self._results)

    @property
    def ready(self) -> bool:
        """Whether nothing is under way that would have to be waited for, as far as is known."""
        return self._ready()


class Processes(AbstractContextManager["Processes"]):
    """Some processes, or this one alone; started when they are first needed, and kept until the end of the block."""

    def __init__(self, count: int) -> None:
        self.count = count
        # Pools without work: each takes one lot of tasks at a time, and all have the same processes
        self._idle: list[Any] = []
        self._working: dict[Any, Any] = {}  # results to come, by pool
        self._starting: Any = None  # what new processes answer when they are there

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._arrive()
        finally:
            for pool in list(self._working):
                self._end(pool)
            while self._idle:
                self._idle.pop().__exit__(*error)

    @property
    def started(self) -> bool:
        """Whether the processes are there."""
        return _most_started >= self.count

    def start(self, hello: Callable[[], object]) -> None:
        """Start the processes and go on here meanwhile, where they are not there yet and there are to be several."""
        if self.count > 1 and not self.started and self._starting is None:
            self._starting = self.run(hello, [()] * self.count)

    def _arrive(self) -> None:
        """Wait for processes that were started: giving them up would end them, and those of others with them."""
        global _most_started
        if self._starting is not None:
            starting, self._starting = self._starting, None
            for _ in starting:
                pass
            _most_started = max(_most_started, self.count)

    def run(self, function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Results[Result]:
        """Results of ``function(*task)`` in the order of the tasks, each as soon as it is there.

        Several processes work while this one does something else, also where nobody asks for a result yet. What is not taken by
        the end of the block is given up. Take one lot before the next is run: of a long queue of tasks joblib loses some when
        their processes have to be ended.
        """
        if self.count == 1:
            return Results(function(*task) for task in tasks)
        import joblib

        pool = self._idle.pop() if self._idle else self._new_pool()
        with deaf_to_interrupts():  # it may start processes
            self._working[pool] = pool(joblib.delayed(function)(*task) for task in tasks)
        return Results(self._results(pool), lambda: bool(pool.n_completed_tasks >= pool.n_dispatched_tasks))

    def _new_pool(self) -> Any:
        import joblib

        return joblib.Parallel(n_jobs=self.count, return_as="generator", batch_size=1).__enter__()

    def _results(self, pool: Any) -> Iterator[Any]:
        global _most_started
        self._arrive()
        try:
            for result in self._working[pool]:  # noqa: UP028  # which would close it before it is quiet
                yield result
            _most_started = max(_most_started, self.count)
        finally:
            self._end(pool)

    def _end(self, pool: Any) -> None:
        """Give up what has not been taken; nothing, as a rule."""
        results = self._working.pop(pool, None)
        if results is None:
            return
        if pool.n_completed_tasks < pool.n_dispatched_tasks:
            time.sleep(_MOMENT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks are given up is what an error means
            results.close()
        self._idle.append(pool)
