"""Processes: how many share calls that hold Python's lock, what they hear of Ctrl-C, and one at a time in a folder."""

from __future__ import annotations

import errno
import os
import platform
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from krein._core.checks import integer
from krein._core.threads import usable_processors

__all__ = ["LOCK_NAME", "alone_in", "deaf_to_interrupts", "n_processes"]

LOCK_NAME = ".lock"  # a file in the folder; it stays there, held or not
_LONGEST = 200  # bytes of the holder's own line that are read


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


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder until the block ends, so that no other process does the same runs, or disturbs timed ones.

    The operating system holds the lock for the process and lets it go when the process ends, however it ends: a lock cannot
    outlive its holder.
    """
    descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _try_lock(descriptor):
            holder = os.read(descriptor, _LONGEST).decode(errors="replace").strip() or "another process"
            raise BlockingIOError(
                errno.EWOULDBLOCK,
                f"{holder} is using this folder; wait for it, or use another folder",
                str(folder),
            )
        os.ftruncate(descriptor, 0)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        holder = f"process {os.getpid()} on {platform.node() or 'this machine'}, since {now},"
        os.write(descriptor, holder.encode()[:_LONGEST])
        yield
    finally:
        os.close(descriptor)  # which unlocks it


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        # a byte far behind the text, which others must be able to read
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
