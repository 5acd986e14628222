"""The thread pools of other libraries, BLAS, OpenMP and numba: how many threads they have, and how to set it.

A number of BLAS threads holds for the whole process; one of OpenMP or numba, or of a BLAS that is built on OpenMP, for the thread
that sets it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["Blas", "openmp_threads", "pools_limit", "running_numba"]

_IMPORTED_BY = (
    os.getpid()
)  # in a process forked from it the threads of OpenMP are gone, and some libraries wait for them forever


def _libraries() -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
    """Libraries with a number for the process, those with one for each thread, and whether a BLAS is among the latter.

    numpy's and scipy's are loaded first, so that a limit holds for what is called later. All are looked up once, and once more
    when scikit-learn has been imported or numba's threads have been started, which may load an OpenMP of their own.
    """
    import numpy as np
    from scipy import linalg

    del np, linalg
    return _looked_up(running_numba() is not None, "sklearn" in sys.modules)


@cache
def _looked_up(_numba_runs: bool, _sklearn: bool) -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
    process, thread, blas_by_thread = [], [], False
    for library in ThreadpoolController().lib_controllers:
        on_openmp = getattr(library, "threading_layer", None) == "openmp"  # not all kinds have such a choice
        if library.user_api == "blas" and not on_openmp:
            process.append(library)
        else:
            thread.append(library)
            blas_by_thread |= library.user_api == "blas"
    return tuple(process), tuple(thread), blas_by_thread


class Blas:
    """The BLAS libraries of the process, numpy's and scipy's: limited together, and set back to what each had.

    Not safe to be used by several threads at once: the owner has a lock.
    """

    def __init__(self) -> None:
        self._before: list[tuple[Any, int]] | None = None  # libraries, and what they had
        self._limit: int | None = None

    def limit(self, threads: int | None) -> None:
        """At most so many threads; None sets back what was found when the first limit came.

        threadpoolctl lets only one thread of the process set a number, from 3.7 on, and says nothing to the others: it is made
        to forget which one, as the owner has a lock.
        """
        if threads == self._limit:
            return
        if self._before is None:
            self._before = [(library, library.get_num_threads() or 1) for library in _libraries()[0]]
        for library, count in self._before:
            forget = getattr(library, "clear_controlling_thread", lambda force: None)
            forget(force=True)
            library.set_num_threads(count if threads is None else min(threads, count))
            forget(force=True)
        if threads is None:
            self._before = None
        self._limit = threads

    def found(self) -> tuple[int, ...]:
        """The number of threads of each library, our own limit apart."""
        if self._before is None:
            return tuple(library.get_num_threads() or 1 for library in _libraries()[0])
        return tuple(count for _, count in self._before)


def pools_limit(blas: Blas, usual: int) -> int | None:
    """The least number of threads that BLAS, OpenMP or numba's pool have been limited to; None if they have not been.

    numba is not imported and its threads are not started for this: until they run, nobody has limited them but by the environment.
    """
    counts = [*blas.found(), *(library.get_num_threads() or 1 for library in _libraries()[1])]
    limits = [count for count in counts if count < usual]
    numba = running_numba()
    if numba is not None and numba.get_num_threads() < numba.config.NUMBA_NUM_THREADS:
        limits.append(int(numba.get_num_threads()))
    return min(limits, default=None)


@contextmanager
def openmp_threads(threads: int, *, quiet: bool) -> Iterator[None]:
    """At most so many threads for OpenMP and for numba's pool, as far as this thread uses them; one for OpenMP after a fork."""
    _, libraries, blas_by_thread = _libraries()
    most = 1 if (quiet and blas_by_thread) or os.getpid() != _IMPORTED_BY else threads
    before = [(library, library.get_num_threads() or 1) for library in libraries]
    numba = running_numba()
    mask = 0 if numba is None else int(numba.get_num_threads())
    for library, count in before:
        if count > most:
            library.set_num_threads(most)
    if mask > threads:
        numba.set_num_threads(threads)
    try:
        yield
    finally:
        for library, count in before:
            if count > most:
                library.set_num_threads(count)
        if mask > threads:
            numba.set_num_threads(mask)


def running_numba() -> Any:
    """numba, if its threads have been started; asking it for their number would start them."""
    if "numba" not in sys.modules:
        return None
    import numba

    module: Any = numba
    try:
        module.threading_layer()
    except ValueError:  # numba's way to say that its threads have not been started
        return None
    return module
