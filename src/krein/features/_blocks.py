"""Blocks of rows: how large they are, where they lie in memory, and which thread works on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from krein._core.threads import n_threads

__all__ = [
    "Backend",
    "FloatArray",
    "SCRATCH_BYTES",
    "Work",
    "aligned_empty",
    "check_output",
    "compiled_kernels",
    "flat_output",
    "in_c_order",
    "map_through_buffer",
    "plain_rows",
    "rows_per_block",
    "share_rows",
    "thread_count",
]

FloatArray: TypeAlias = NDArray[np.floating]
Backend: TypeAlias = Literal["auto", "numba", "numpy"]
Work: TypeAlias = Callable[[int, int], None]

SCRATCH_BYTES = 1 << 20  # per thread and purpose: together they stay in a level-2 cache, or nearly
_SERIAL_WORK = 1 << 18  # multiply–adds below which starting a thread costs more than it saves


@cache
def _import_kernels() -> ModuleType | None:
    """The compiled kernels, or None without numba; imported late because numba takes longer to import than krein."""
    try:
        from krein.features import _kernels
    except ImportError:
        return None
    return _kernels


def compiled_kernels(backend: Backend) -> ModuleType | None:
    """The compiled kernels where ``backend`` asks for them and numba can be imported."""
    if backend not in ("auto", "numba", "numpy"):
        raise ValueError(f"backend must be 'auto', 'numba' or 'numpy', got {backend!r}")
    if backend == "numpy":
        return None
    kernels = _import_kernels()
    if kernels is None and backend == "numba":
        raise ImportError("backend='numba' needs numba, which cannot be imported; install it or use backend='auto'")
    return kernels


def check_output(out: FloatArray, n: int, s: int) -> None:
    """Refuse an output of another shape or type than ``n`` rows of ``s`` cosines and ``s`` sines."""
    if out.dtype not in (np.float32, np.float64):
        raise ValueError(f"out must be float32 or float64, got {out.dtype}")
    if out.shape != (n, 2 * s):
        raise ValueError(
            f"out must have shape (n_samples, 2 * n_frequencies) = {(n, 2 * s)}, a cosine and a sine for each "
            f"frequency, got {out.shape}"
        )
    if not out.flags.writeable:
        raise ValueError("out must be writable, got a read-only array")


def in_c_order(out: FloatArray) -> bool:
    """Whether rows are contiguous and follow each other upwards, as in a C-ordered array or a slice of its columns."""
    row, column = out.strides
    upwards = len(out) == 1 or (row >= out.shape[1] * out.itemsize and row % out.itemsize == 0)
    return column == out.itemsize and upwards and out.flags.aligned


def flat_output(out: FloatArray) -> tuple[FloatArray, int]:
    """All elements from the first to the last, those of other columns included, as one contiguous view, and its stride.

    A flat view has one type for numba whether ``out`` is a whole array or a slice of columns, so one kernel serves both.
    """
    stride = out.strides[0] // out.itemsize if len(out) > 1 else out.shape[1]
    shape = ((len(out) - 1) * stride + out.shape[1],)
    return np.lib.stride_tricks.as_strided(out, shape=shape, strides=(out.itemsize,)), stride


def map_through_buffer(fill: Callable[[slice, FloatArray], object], out: FloatArray) -> FloatArray:
    """Fill an output of unusual layout by way of a C-ordered buffer for some rows."""
    block = rows_per_block(len(out), out.shape[1] * out.itemsize, 1)
    buffer = np.empty((min(block, len(out)), out.shape[1]), out.dtype)
    for lo in range(0, len(out), block):
        rows = slice(lo, min(lo + block, len(out)))
        fill(rows, buffer[: rows.stop - lo])
        out[rows] = buffer[: rows.stop - lo]
    return out


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> FloatArray:
    """Scratch that starts on a cache line, so that no vector load straddles two."""
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size].view(dtype).reshape(shape)


def plain_rows(rows: NDArray, dtype: np.dtype) -> FloatArray:
    """The rows as the kernels take them: C-ordered, writable and of one type; a copy only where they are not."""
    return np.require(rows, dtype, ["C", "A", "W"])


def rows_per_block(n: int, row_bytes: int, threads: int) -> int:
    """Rows that a thread takes at once: some megabytes, and several turns for each thread, to even out their speed."""
    wanted = min(max(4 * SCRATCH_BYTES // max(row_bytes, 1), 256), -(-n // (4 * threads)))
    return max(32, -(-wanted // 32) * 32)


def thread_count(work: int, n_threads: int | None) -> int:
    """Threads to use for so many multiply–adds: as asked, or as many as numba would use."""
    if n_threads is not None and n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, got {n_threads}")
    if work < _SERIAL_WORK:
        return 1
    return _numba_threads() if n_threads is None else n_threads


def _numba_threads() -> int:
    """``NUMBA_NUM_THREADS``, what ``numba.set_num_threads`` set, or one per core; without numba as many as others may use."""
    try:
        import numba
    except ImportError:
        return n_threads()
    try:
        numba.threading_layer()
    except ValueError:  # not launched, so nobody has set a number; asking for it would launch numba's threads
        settings: Any = numba.config
        return int(settings.NUMBA_NUM_THREADS)
    return int(numba.get_num_threads())


def share_rows(worker: Callable[[], Work], n: int, block: int, threads: int) -> None:
    """Call ``work(lo, hi)`` for all blocks of ``n`` rows, where every thread has its own ``work = worker()``.

    Threads are started and joined here: nothing survives the call, so it may be made from several threads at once, after
    a fork, or within another parallel program. ``work`` must release the GIL to gain from it.
    """
    starts = deque(range(0, n, block))

    def run() -> None:
        try:
            work = worker()
            while starts:
                try:
                    lo = starts.popleft()  # documented to be atomic, so no lock
                except IndexError:  # another thread took the last
                    return
                work(lo, min(lo + block, n))
        except BaseException:  # an error or Ctrl-C: the others stop at the end of their block
            starts.clear()
            raise

    threads = min(threads, len(starts))
    if threads <= 1:
        run()
        return
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="krein") as pool:
        helpers = [pool.submit(run) for _ in range(threads - 1)]
        run()
        for helper in helpers:
            helper.result()
