"""Calling a user's function on pairs of objects, here or in another process: values as far as they came, and what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from krein._core.threads import has_all_threads, within_budget

__all__ = ["Called", "call_block", "call_elsewhere", "call_here", "call_pairs", "why_no_matrix"]


@final
@dataclass(frozen=True, eq=False)
class Called:
    """Values of the first pairs, and what ended it at the next one: an exception, or a value that is no number."""

    values: np.ndarray
    error: BaseException | None = None
    problem: str = ""


def call_pairs(function: Callable[[Any, Any], Any], left: Sequence[Any], right: Sequence[Any]) -> Called:
    """A function of two objects on the first on the left with the first on the right, and so on."""
    values: list[Any] = []
    error: BaseException | None = None
    try:
        values.extend(map(function, left, right))  # keeps what came before an exception
    except BaseException as ended:  # Ctrl-C as well: what was computed goes into the cache before it goes on its way
        error = ended
    numbers, problem = _real_values(values)
    return Called(numbers, None if problem else error, problem)


def call_block(function: Callable[[Any, Any], Any], left: Any, right: Any, shape: tuple[int, int]) -> Called:
    """A function of two sequences of so many objects; the values row after row, all of them or none."""
    nothing = np.empty(0)
    try:
        values = function(left, right)
    except BaseException as ended:
        return Called(nothing, ended)
    try:
        return Called(_real_matrix(values, shape).ravel())
    except ValueError as wrong:
        return Called(nothing, problem=str(wrong))


def call_here(call: Callable[..., Called], *arguments: Any) -> Called:
    """Either of the above. It is not quiet: the user's function may have all threads that this caller has."""
    with nullcontext() if has_all_threads() else within_budget():
        return call(*arguments)


def call_elsewhere(call: Callable[..., Called], *arguments: Any) -> Called:
    """The same in another process: what an exception says comes back, as not every exception can."""
    called = call_here(call, *arguments)
    if called.error is None:
        return called
    if not isinstance(called.error, Exception):
        raise called.error
    return replace(called, error=None, problem=f"{type(called.error).__name__}: {called.error}")


def why_no_matrix(function: Callable[[Any, Any], Any], left: Any, right: Any, shape: tuple[int, int]) -> str:
    """What keeps a function called with two sequences from giving something of the shape of a matrix of their pairs."""
    try:
        with within_budget():
            given = np.shape(function(left, right))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if given == shape else f"an array of shape {given} for {shape[0]} and {shape[1]}"


def _real_values(values: list[Any]) -> tuple[np.ndarray, str]:
    """Numbers from what a function of two objects returned, up to the first that is none, and what is wrong with that."""
    try:
        array = np.asarray(values)
    except ValueError:  # arrays of different shapes among them
        array = np.empty((0, 0))
    problem = ""
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        for i, value in enumerate(values):
            one = np.asarray(value)
            if one.ndim or one.dtype.kind not in "fiub":
                what = f"an array of shape {one.shape}" if one.ndim else f"{value!r} of type {type(value).__name__}"
                values, problem = values[:i], f"it must return one real number, got {what}"
                break
        array = np.array([float(value) for value in values])
    numbers = array.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        return numbers[: wrong[0]], f"it returned {numbers[wrong[0]]}; define its value for every pair"
    return numbers, problem


def _real_matrix(values: Any, shape: tuple[int, int]) -> np.ndarray:
    """What a function of two sequences returned as a matrix of finite numbers."""
    sparse = sys.modules.get("scipy.sparse")  # whoever returns such a matrix has imported it, and others need not
    matrix = np.asarray(values.toarray() if sparse is not None and sparse.issparse(values) else values)
    if matrix.shape == tuple(size for size in shape if size > 1):  # a single row or column without its second dimension
        matrix = matrix.reshape(shape)
    if matrix.shape != shape:
        raise ValueError(
            f"a function of two sequences must return one value per pair of objects, shape {shape}, got {matrix.shape}; a "
            "function of two objects is called as such with krein.Similarity(function, call='pairs')"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"it must return real numbers, got an array of dtype {matrix.dtype}")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float32 if matrix.dtype == np.float16 else np.float64)
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"it returned {matrix[i, j]} for pair ({i}, {j}) of the two; define its value for every pair")
    return matrix
