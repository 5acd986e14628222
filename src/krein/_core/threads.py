"""Sharing independent pieces of numpy work among the machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits

__all__ = ["n_threads", "quiet_blas", "share", "thread_limit"]


_limits: list[int] = []  # of `thread_limit`, the innermost last


def n_threads() -> int:
    """As many as there are cores, or as `thread_limit` or the environment allow (joblib's workers set it)."""
    if _limits:
        return _limits[-1]
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    if allowed.isdigit() and int(allowed) > 0:
        return int(allowed)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(work: Callable[[Any], None], pieces: Iterable[Any], *, threads: int) -> None:
    """Do ``work(piece)`` for all pieces; the first error ends it. One thread means here and in order."""
    if threads < 2:
        for piece in pieces:
            work(piece)
        return
    with quiet_blas(), ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, pieces):
            pass


@contextmanager
def thread_limit(n: int) -> Iterator[None]:
    """At most `n` threads in our own loops, in compiled code and in the pools of BLAS and OpenMP.

    Parameters
    ----------
    n : int
    """
    import numba

    before = numba.get_num_threads()
    _limits.append(n)
    numba.set_num_threads(min(n, before))
    try:
        with threadpool_limits(n):
            yield
    finally:
        numba.set_num_threads(before)
        _limits.pop()


_lock = Lock()
_inside: list[Any] = []  # the limit in force, once for each caller that is inside


@contextmanager
def quiet_blas() -> Iterator[None]:
    """One BLAS thread: more of them wait for work in busy loops, on cores that our own threads need, and gain nothing on small
    matrices.

    The limit holds for the whole process, so of callers at the same time the first sets it and the last lifts it.
    """
    with _lock:
        if not _inside:
            _inside.append(_controller().limit(limits=1, user_api="blas"))
        else:
            _inside.append(_inside[0])
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
