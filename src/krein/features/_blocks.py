"""Blocks of rows: how large they are, where they lie in memory, and which thread works on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from krein._core.checks import positive_integer
from krein._core.threads import n_threads, share_with

__all__ = [
    "FloatArray",
    "SCRATCH_BYTES",
    "Work",
    "aligned_empty",
    "check_output",
    "check_type",
    "check_writable",
    "compiled_kernels",
    "flat_output",
    "in_c_order",
    "map_through_buffer",
    "plain_rows",
    "rows_per_block",
    "share_rows",
    "thread_count",
]

FloatArray: TypeAlias = NDArray[np.floating[Any]]
Work: TypeAlias = Callable[[int, int], None]

SCRATCH_BYTES = 1 << 20  # per thread and purpose: together they stay in a level-2 cache, or nearly
_SERIAL_WORK = 1 << 18  # multiply–adds below which starting a thread costs more than it saves


@cache
def compiled_kernels() -> ModuleType:
    """The compiled loops; imported late because numba takes longer to import than krein."""
    from krein.features import _kernels

    return _kernels


def check_output(out: FloatArray, n: int, s: int) -> None:
    """Refuse an output of another shape or type than ``n`` rows of ``s`` cosines and ``s`` sines."""
    if out.shape != (n, 2 * s):
        raise ValueError(
            f"out must have shape (n_samples, 2 * n_frequencies) = {(n, 2 * s)}, a cosine and a sine for each "
            f"frequency, got {out.shape}"
        )
    check_writable(out)


def check_writable(out: NDArray[Any]) -> None:
    """Refuse an output of a type that the loops do not have, or that cannot be written to."""
    if out.dtype not in (np.float32, np.float64):
        raise ValueError(f"out must be float32 or float64, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("out must be writable, got a read-only array")


def check_type(dtype: np.dtype[Any], **arrays: NDArray[Any]) -> None:
    """Refuse arrays of another type than the output's."""
    for name, array in arrays.items():
        if array.dtype != dtype:
            raise ValueError(
                f"{name} must be of the type of out, {dtype}, got {array.dtype}; convert it once, before any transform"
            )


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


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> FloatArray:
    """Scratch that starts on a cache line, so that no vector load straddles two."""
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size].view(dtype).reshape(shape)


def plain_rows(rows: NDArray[Any], dtype: np.dtype[Any]) -> FloatArray:
    """The rows as the kernels take them: C-ordered, writable and of one type; a copy only where they are not."""
    return np.require(rows, dtype, ["C", "A", "W"])


def rows_per_block(n: int, row_bytes: int, threads: int) -> int:
    """Rows that a thread takes at once: some megabytes, and several turns for each thread, to even out their speed."""
    turns = 4 * threads if threads > 1 else 1
    wanted = min(max(4 * SCRATCH_BYTES // max(row_bytes, 1), 256), -(-n // turns))
    return max(32, -(-wanted // 32) * 32)


def thread_count(work: int, n_jobs: int | None) -> int:
    """Threads to use for so many multiply–adds: as many as asked for, or as the policy gives; one where the work is small."""
    if n_jobs is not None:
        positive_integer(n_jobs, "n_threads")
    if work < _SERIAL_WORK:
        return 1
    return n_threads() if n_jobs is None else n_jobs


def share_rows(worker: Callable[[], Work], n: int, block: int, threads: int) -> None:
    """Call ``work(lo, hi)`` for all blocks of ``n`` rows, where every thread has its own ``work = worker()``."""
    if threads == 1:  # compiled loops do not mind how many threads BLAS has
        work = worker()
        for lo in range(0, n, block):
            work(lo, min(lo + block, n))
        return

    def blockwise() -> Callable[[int], None]:
        work = worker()
        return lambda lo: work(lo, min(lo + block, n))

    share_with(blockwise, range(0, n, block), threads=threads)
