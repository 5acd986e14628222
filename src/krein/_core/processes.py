"""How many processes share the calls of a function that holds Python's lock, and what they hear of Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from krein._core.checks import integer
from krein._core.threads import usable_processors

__all__ = ["deaf_to_interrupts", "n_processes"]


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
