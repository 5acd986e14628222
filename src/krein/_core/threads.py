"""One policy for the number of threads, and the one way to share work among them.

`n_threads` decides, for our loops, our products and every rival:

1. what the code says: ``n_jobs``, and the least `thread_limit` in force;
2. else the environment: the least of ``KREIN_NUM_THREADS``, ``OMP_NUM_THREADS``, ``NUMBA_NUM_THREADS``, ``OPENBLAS_NUM_THREADS``
   and ``MKL_NUM_THREADS`` that are set, which is also how joblib and Dask limit their workers;
3. else the processors this process may use;

and no more, under 2 and 3, than BLAS, OpenMP and numba have been limited to while the program runs (``threadpoolctl``,
``numba.set_num_threads``). The number is for all calls at the same time: of several callers each gets its part, at least one, and
threads that we start get one. So sixteen threads of a caller on two processors never become thirty-two.

BLAS has a pool of its own, whose threads wait for each other in busy loops. While a call of ours runs, it has one thread
(`quiet_blas`) or, where a call is alone and has large products (`within_budget`, `blas_threads`), as many as the call may use.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from krein._core.checks import integer, positive_integer
from krein._core.pools import Blas, openmp_threads, pools_limit

__all__ = [
    "VARIABLES",
    "blas_threads",
    "has_all_threads",
    "n_threads",
    "quiet_blas",
    "share",
    "share_with",
    "thread_limit",
    "usable_processors",
    "within_budget",
]

Piece = TypeVar("Piece")

# What the environment may say; OpenBLAS and MKL read their own, OpenMP's is read by all.
VARIABLES = (
    *("KREIN_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"),
    *("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
)

# A processor does so many multiply–adds in about a tenth of a second. Below, a BLAS thread that another program keeps waiting for a
# time slice or two costs more than the threads gain.
_WORTH_BLAS_THREADS = 2.0**31


@dataclass(eq=False)
class _Caller:
    """A thread that is inside one of our calls: what each of its calls, the outermost first, asked for."""

    found: int | None  # the number of threads that others' pools were limited to when it came in
    jobs: list[int | None] = field(default_factory=list)
    quiet: list[bool] = field(default_factory=list)


class _State:
    """What is in force in this process, under one lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.callers: list[_Caller] = []
        self.limits: list[int] = []
        self.blas = Blas()


class _Here(threading.local):
    """What is in force in this thread."""

    caller: _Caller | None = None
    helper = False  # started by `share`, so its thread is one of its caller's


_state = _State()
_here = _Here()


def usable_processors() -> int:
    """Processors that this process may run on, and no more than its container's quota pays for."""
    affinity = getattr(os, "sched_getaffinity", None)
    return _paid_processors() if affinity is None else min(_paid_processors(), len(affinity(0)))


@cache
def _paid_processors() -> int:
    """Counted once: containers keep their quota, and reading it takes longer than a small product."""
    from joblib.externals.loky import cpu_count

    return max(1, int(cpu_count()))


def n_threads(n_jobs: int | None = None) -> int:
    """Threads that work begun here may use now.

    Examples
    --------
    >>> with thread_limit(3):
    ...     n_threads(), n_threads(n_jobs=2)
    (3, 2)
    """
    if _here.helper:
        return 1
    with _state.lock:
        caller = _here.caller
        asked = [] if caller is None else [jobs for jobs in caller.jobs if jobs is not None]
        if n_jobs is not None:
            asked.append(_resolved(n_jobs))
        together = len(_state.callers) + (caller is None)
        return _part(asked, caller, together)


def _part(asked: list[int], caller: _Caller | None, together: int) -> int:
    """The part of one of some callers, of what it asked for and what the process may use."""
    total = min(_state.limits) if _state.limits else _unlimited(caller)
    if not asked:
        return max(1, total // together)
    jobs = min(asked)
    if not _state.limits:
        total = max(total, jobs)
    return max(1, min(jobs, total // together))


def _resolved(n_jobs: int) -> int:
    """A number of threads, from a number that may count back from all processors."""
    count = integer(n_jobs, "n_jobs", least=-(2**31))
    if count == 0:
        raise ValueError("n_jobs must not be 0; use a positive number, -1 for all processors, or None")
    return count if count > 0 else max(1, usable_processors() + 1 + count)


def _unlimited(caller: _Caller | None) -> int:
    """What the environment, the processors and the limits of others' pools allow."""
    processors = usable_processors()
    found = pools_limit(_state.blas, processors) if caller is None else caller.found
    total = min(_from_environment(), default=processors)
    return total if found is None else min(total, found)


def _from_environment() -> list[int]:
    # OpenMP has a number for each level
    values = (os.environ.get(name, "").split(",")[0].strip() for name in VARIABLES)
    return [int(value) for value in values if value.isdecimal() and int(value) > 0]


@contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Limit the number of threads of our loops, BLAS, OpenMP and numba; the limit may exceed that of the environment.

    Of several limits at the same time the smallest applies. Our loops and BLAS are limited in the whole process, also in threads
    that are already running; the pools of OpenMP and numba are limited for the calling thread only.

    Parameters
    ----------
    threads : int
        At least 1.

    Yields
    ------
    None

    Examples
    --------
    >>> with thread_limit(1):
    ...     n_threads()
    1
    """
    count = positive_integer(threads, "threads")
    with _state.lock:
        _state.limits.append(count)
        _settle()
    try:
        with openmp_threads(count, quiet=False):
            yield
    finally:
        with _state.lock:
            _state.limits.remove(count)
            _settle()


@contextmanager
def within_budget(n_jobs: int | None = None) -> Iterator[None]:
    """A call of ours, which shares the process's threads with others at the same time; also a decorator, ``@within_budget()``.

    BLAS and OpenMP have as many threads as `n_threads` gives, or BLAS only one as long as there are other callers: its threads
    wait in busy loops, and sixteen callers that wait for each other are ten times as slow as one after the other.
    """
    with _call(None if n_jobs is None else _resolved(n_jobs), quiet=False):
        yield


def has_all_threads() -> bool:
    """Whether this is a process where nobody has a call of ours under way and no limit of ours is set.

    `within_budget` would change nothing there, and take a quarter of a second in a new process to load what it might limit.
    """
    with _state.lock:
        return not _state.callers and not _state.limits and "KREIN_NUM_THREADS" not in os.environ


@contextmanager
def quiet_blas() -> Iterator[None]:
    """A call of ours as in `within_budget`, during which BLAS has one thread; also a decorator, ``@quiet_blas()``.

    For many small products, or work that our own threads share: more BLAS threads gain little there, and they spin on processors
    that others need. BLAS is limited for the whole process, until the last caller has left.
    """
    with _call(None, quiet=True):
        yield


@contextmanager
def blas_threads(multiply_adds: float) -> Iterator[None]:
    """BLAS with the threads of this caller again, for one product or factorization that is large enough, within `quiet_blas`.

    As long as there are other callers it keeps one thread.
    """
    if multiply_adds < _WORTH_BLAS_THREADS:
        yield
        return
    with _call(None, quiet=False):
        yield


@contextmanager
def _call(jobs: int | None, *, quiet: bool) -> Iterator[None]:
    if _here.helper:  # part of a call that is counted already, and quiet
        yield
        return
    if quiet and jobs is None and _here.caller is not None and _here.caller.quiet[-1]:
        yield  # nothing would change, and a small fit asks a dozen times
        return
    outermost = _here.caller is None
    with _state.lock:
        caller = _here.caller
        if caller is None:
            caller = _here.caller = _Caller(pools_limit(_state.blas, usable_processors()))
            _state.callers.append(caller)
        caller.jobs.append(jobs)
        caller.quiet.append(quiet)
        _settle()
    try:
        with openmp_threads(n_threads(), quiet=quiet):
            yield
    finally:
        with _state.lock:
            caller.jobs.pop()
            caller.quiet.pop()
            if outermost:
                _here.caller = None
                _state.callers.remove(caller)
            _settle()


def _settle() -> None:
    """Give BLAS the number of threads that fits those who are inside; the lock is held."""
    callers = _state.callers
    if not callers:
        _state.blas.limit(min(_state.limits) if _state.limits else None)
    elif len(callers) > 1 or callers[0].quiet[-1]:
        _state.blas.limit(1)
    else:
        _state.blas.limit(_part([jobs for jobs in callers[0].jobs if jobs is not None], callers[0], 1))


def share(work: Callable[[Piece], object], pieces: Iterable[Piece], *, threads: int | None = None) -> None:
    """Do ``work(piece)`` for all pieces, by several threads.

    Notes
    -----
    BLAS has one thread meanwhile, whatever the number of ours, so that a piece's result is the same to the last bit. The first
    error ends it and comes out here. Threads are started and joined within the call: nothing survives it, and it may be made from
    several threads at once, after a fork, or within another piece of work, where it is done by one thread.
    """
    share_with(lambda: work, pieces, threads=threads)


def share_with(
    worker: Callable[[], Callable[[Piece], object]], pieces: Iterable[Piece], *, threads: int | None = None
) -> None:
    """As `share`, where every thread has its own ``work = worker()``, for example with its own buffers."""
    todo = deque(pieces)

    def run() -> None:
        try:
            work = worker()
            while todo:
                try:
                    piece = todo.popleft()  # documented to be atomic, so no lock
                except IndexError:  # another thread took the last
                    return
                work(piece)
        except BaseException:  # an error or Ctrl-C: the others stop at the end of their piece
            todo.clear()
            raise

    def help_out() -> None:
        _here.helper = True
        with openmp_threads(1, quiet=True):
            run()

    with quiet_blas():
        wanted = n_threads() if threads is None else positive_integer(threads, "threads")
        count = 1 if _here.helper else min(wanted, len(todo))  # a piece of work is done by the thread that has it
        if count <= 1:
            run()
            return
        with ThreadPoolExecutor(count - 1, thread_name_prefix="krein") as pool:
            helpers = [pool.submit(help_out) for _ in range(count - 1)]
            run_alone = _here.helper
            _here.helper = True  # what this thread's pieces share in turn, it does alone
            try:
                run()
            finally:
                _here.helper = run_alone
            for helper in helpers:
                helper.result()


def _after_fork() -> None:
    """A child has one thread: the calls of the others are not its own."""
    _state.lock = threading.RLock()
    _state.callers = [] if _here.caller is None else [_here.caller]
    _settle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
