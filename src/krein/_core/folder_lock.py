"""One process at a time in a folder of results."""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["LOCK_NAME", "alone_in"]

LOCK_NAME = ".lock"  # a file in the folder; it stays there, held or not
_LONGEST = 200  # bytes of the holder's own line that are read


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
        os.write(descriptor, _self_description().encode()[:_LONGEST])
        yield
    finally:
        os.close(descriptor)  # which unlocks it


def _self_description() -> str:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return f"process {os.getpid()} on {platform.node() or 'this machine'}, since {now},"


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
