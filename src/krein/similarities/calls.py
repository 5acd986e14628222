"""Calling a user's function on pairs of objects, here or in another process: values as far as they came, and what went wrong.

Another process imports nothing of this library but this module and what it imports.
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, final

import numpy as np

from krein._core.shared_values import Address, SharedValues
from krein._core.threads import has_all_threads, within_budget

__all__ = ["Called", "Piece", "answer", "call_elsewhere", "call_piece", "real_matrix", "received", "why_no_matrix"]

# Values that are Python's numbers until they are made an array: so many stay in the processor's nearest cache
_AS_OBJECTS = 512


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """Objects whose pairs are to be evaluated: all pairs, column after column, or each with its counterpart.

    Parameters
    ----------
    left, right : list, or for a function of two sequences the sequences (zipped: lists of sequences)
    shape : pair of int
        How many objects a call has on the left and on the right, where it takes sequences.
    zipped : bool, default=False
        Whether the first on the left is paired with the first on the right only, and so on.
    """

    left: Any
    right: Any
    shape: tuple[int, int]
    zipped: bool = False


@final
@dataclass(frozen=True, eq=False)
class Called:
    """What calls gave.

    Parameters
    ----------
    values : ndarray of shape (n_done,)
        Those of the first pairs: of all objects on the left with the first one on the right, then with the second, and so on.
    error : Exception or None
        What ended it at the next pair.
    problem : str, default=""
        What is wrong with the value of the next pair, if it is no exception.
    seconds : float, default=0.0
        How long the calls took, without the way to another process and back.
    handed_over : int, default=0
        How many values are in memory shared with the process that asked for them, instead of in ``values``.
    """

    values: np.ndarray
    error: BaseException | None = None
    problem: str = ""
    seconds: float = 0.0
    handed_over: int = 0


def call_piece(function: Callable[[Any, Any], Any], takes_blocks: bool, piece: Piece) -> Called:
    """Evaluate all pairs of a piece."""
    with within_budget():  # not quiet: the user's function may have all threads that this caller has
        return _timed(function, takes_blocks, piece)


def _timed(function: Callable[[Any, Any], Any], takes_blocks: bool, piece: Piece) -> Called:
    began = time.perf_counter()
    called = _call_blocks(function, piece) if takes_blocks else _call_pairs(function, piece)
    return replace(called, seconds=time.perf_counter() - began)


def call_elsewhere(
    function: Callable[[Any, Any], Any], takes_blocks: bool, piece: Piece, room: Address | None = None, start: int = 0
) -> Called:
    """`call_piece` in another process: what an exception says comes back, as not every exception can."""
    with nullcontext() if has_all_threads() else within_budget():
        called = _timed(function, takes_blocks, piece)
    if called.error is not None:
        if not isinstance(called.error, Exception):
            raise called.error
        called = replace(called, error=None, problem=f"{type(called.error).__name__}: {called.error}")
    count = called.values.size
    if count and room is not None and room.write(called.values, start):
        called = replace(called, values=called.values[:0].copy(), handed_over=count)
    return called


def received(called: Called, room: SharedValues, start: int = 0) -> Called:
    """What `call_elsewhere` gave, with its values."""
    if not called.handed_over:
        return called
    return replace(called, values=room.read(called.handed_over, called.values.dtype, start), handed_over=0)


def answer() -> None:
    """What another process does to show that it is there, with all that it needs imported."""


def why_no_matrix(function: Callable[[Any, Any], Any], piece: Piece) -> str:
    """What keeps a function called with two sequences from giving something of the shape of a matrix of their pairs."""
    try:
        with within_budget():
            shape = np.shape(function(piece.left, piece.right))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if shape == piece.shape else f"an array of shape {shape} for {piece.shape[0]} and {piece.shape[1]}"


def _call_pairs(function: Callable[[Any, Any], Any], piece: Piece) -> Called:
    found = np.empty(len(piece.left) * (1 if piece.zipped else len(piece.right)))
    values: list[Any] = []  # those after the first `done`, which are in `found`
    done = 0
    error: BaseException | None = None
    try:
        for left, right in _lines(piece):
            values.extend(map(function, left, right))  # keeps what came before an exception
            if len(values) < _AS_OBJECTS:
                continue
            if not _write_floats(values, found, done):
                break
            values, done = [], done + len(values)  # at once: Ctrl-C before or after it moves none
    except BaseException as ended:  # Ctrl-C as well: what was computed goes into the cache before it goes on its way
        error = ended
    finite = np.isfinite(found[:done])
    if not finite.all():
        return _up_to(found, int(np.flatnonzero(~finite)[0]))
    last = _real_values(values, error)
    end = done + last.values.size
    found[done:end] = last.values
    return Called(found[:end], last.error, last.problem)


def _lines(piece: Piece) -> Iterator[tuple[Any, Any]]:
    """What a function is mapped to, no more at a time than are kept as Python's numbers."""
    slices = [slice(start, start + _AS_OBJECTS) for start in range(0, len(piece.left), _AS_OBJECTS)]
    if piece.zipped:
        return ((piece.left[some], piece.right[some]) for some in slices)
    parts = [piece.left[some] for some in slices]
    return ((part, repeat(right)) for right in piece.right for part in parts)


def _write_floats(values: list[Any], found: np.ndarray, start: int) -> bool:
    """Put numbers into an array, several times as fast as numpy reads a list; False where one is no real number."""
    try:
        struct.pack_into(f"{len(values)}d", found.data, found.itemsize * start, *values)
    except Exception:  # any object may say how it becomes a float
        return False
    return True


def _numbers(values: list[Any]) -> np.ndarray | None:
    """Values in an array, if they are real numbers one and all."""
    try:
        array = np.asarray(values)
    except ValueError:  # arrays of different shapes among them
        return None
    return array if array.ndim == 1 and array.dtype.kind in "fiub" else None


def _up_to(numbers: np.ndarray, first: int) -> Called:
    """What came before the first value that is infinite or not a number."""
    return Called(numbers[:first], problem=f"it returned {numbers[first]}; define its value for every pair")


def _real_values(values: list[Any], error: BaseException | None) -> Called:
    """Numbers from what a function of two objects returned, and what is wrong with the first that is none."""
    array = _numbers(values)
    if array is not None:
        numbers = array.astype(np.float64, copy=False)
        finite = np.isfinite(numbers)
        return Called(numbers, error) if finite.all() else _up_to(numbers, int(np.flatnonzero(~finite)[0]))
    for i, value in enumerate(values):
        one = np.asarray(value)
        if one.ndim or one.dtype.kind not in "fiub":
            what = f"an array of shape {one.shape}" if one.ndim else f"{value!r} of type {type(value).__name__}"
            good = np.asarray([float(v) for v in values[:i]], dtype=np.float64)
            return Called(good, problem=f"it must return one real number, got {what}")
    return Called(np.asarray([float(v) for v in values], dtype=np.float64), error)


def _call_blocks(function: Callable[[Any, Any], Any], piece: Piece) -> Called:
    if piece.zipped:
        return _call_pairs(lambda left, right: real_matrix(function(left, right), piece.shape)[0, 0], piece)
    nothing = np.empty(0)
    try:
        values = function(piece.left, piece.right)
    except BaseException as ended:
        return Called(nothing, ended)
    try:
        matrix = real_matrix(values, piece.shape)
    except ValueError as wrong:
        return Called(nothing, problem=str(wrong))
    return Called(matrix.ravel(order="F"))


def real_matrix(values: Any, shape: tuple[int, int]) -> np.ndarray:
    """What a function of two sequences returned as a matrix of finite numbers."""
    sparse = sys.modules.get("scipy.sparse")  # whoever returns such a matrix has imported it, and others need not
    matrix = np.asarray(values.toarray() if sparse is not None and sparse.issparse(values) else values)
    if matrix.shape == tuple(size for size in shape if size > 1):  # a single row or column without its second dimension
        matrix = matrix.reshape(shape)
    if matrix.shape != shape:
        raise ValueError(
            f"a function of two sequences must return one value per pair of objects, shape {shape}, got {matrix.shape}; a "
            "function of two objects is called as such with call='pairs'"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"it must return real numbers, got an array of dtype {matrix.dtype}")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"it returned {matrix[i, j]} for pair ({i}, {j}) of the two; define its value for every pair")
    return matrix
