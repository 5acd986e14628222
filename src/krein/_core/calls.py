"""Calling a user's function on pairs of objects, here or in another process: values as far as they came, and what went wrong.

Another process imports nothing of this library but this module and what it imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, final

import numpy as np

from krein._core.threads import within_budget

__all__ = ["Called", "Piece", "call_elsewhere", "call_piece", "real_matrix", "why_no_matrix"]

_AS_OBJECTS = 4096  # values that are kept as Python's numbers, which take memory, until they are made an array


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
    """

    values: np.ndarray
    error: BaseException | None = None
    problem: str = ""


def call_piece(function: Callable[[Any, Any], Any], takes_blocks: bool, piece: Piece) -> Called:
    """Evaluate all pairs of a piece.

    Parameters
    ----------
    function : callable
    takes_blocks : bool
    piece : Piece

    Returns
    -------
    Called
    """
    return _call_blocks(function, piece) if takes_blocks else _call_pairs(function, piece)


def call_elsewhere(function: Callable[[Any, Any], Any], takes_blocks: bool, piece: Piece) -> Called:
    """`call_piece` in another process: what an exception says comes back, as not every exception can.

    Parameters
    ----------
    function : callable
    takes_blocks : bool
    piece : Piece

    Returns
    -------
    Called
    """
    called = call_piece(function, takes_blocks, piece)
    if called.error is None:
        return called
    if not isinstance(called.error, Exception):
        raise called.error
    return Called(called.values, problem=f"{type(called.error).__name__}: {called.error}")


def why_no_matrix(function: Callable[[Any, Any], Any], piece: Piece) -> str:
    """What keeps a function called with two sequences from giving something of the shape of a matrix of their pairs.

    Parameters
    ----------
    function : callable
    piece : Piece
        With sequences.

    Returns
    -------
    str
        Empty if it gives one. An exception is a reason like any other: the function may well take two objects.
    """
    try:
        with within_budget():
            shape = np.shape(function(piece.left, piece.right))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if shape == piece.shape else f"an array of shape {shape} for {piece.shape[0]} and {piece.shape[1]}"


def _call_pairs(function: Callable[[Any, Any], Any], piece: Piece) -> Called:
    lines = [(piece.left, piece.right)] if piece.zipped else ((piece.left, repeat(right)) for right in piece.right)
    found: list[np.ndarray] = []
    values: list[Any] = []
    error: BaseException | None = None
    try:
        with within_budget():  # not quiet: the user's function may have all threads that this caller has
            for left, right in lines:
                values.extend(map(function, left, right))  # keeps what came before an exception
                if len(values) >= _AS_OBJECTS:
                    called = _real_values(values, None)
                    found.append(called.values)
                    if called.problem:
                        return Called(np.concatenate(found), problem=called.problem)
                    values = []
    except BaseException as ended:  # Ctrl-C as well: what was computed goes into the cache before it goes on its way
        error = ended
    called = _real_values(values, error)
    return Called(np.concatenate([*found, called.values]), called.error, called.problem)


def _real_values(values: list[Any], error: BaseException | None) -> Called:
    """Numbers from what a function of two objects returned."""
    try:
        array = np.asarray(values)
    except ValueError:  # arrays of different shapes among them
        array = np.empty(0, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "fiub" and array.shape[0] == len(values):
        numbers = array.astype(np.float64, copy=False)
        finite = np.isfinite(numbers)
        if finite.all():
            return Called(numbers, error)
        first = int(np.flatnonzero(~finite)[0])
        return Called(numbers[:first], problem=f"it returned {numbers[first]}; define its value for every pair")
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
        with within_budget():
            values = function(piece.left, piece.right)
    except BaseException as ended:
        return Called(nothing, ended)
    try:
        matrix = real_matrix(values, piece.shape)
    except ValueError as wrong:
        return Called(nothing, problem=str(wrong))
    return Called(matrix.ravel(order="F"))


def real_matrix(values: Any, shape: tuple[int, int]) -> np.ndarray:
    """What a function of two sequences returned as a matrix of finite numbers.

    Parameters
    ----------
    values : array-like or sparse matrix
    shape : pair of int
        What it must have.

    Returns
    -------
    ndarray of that shape, float32 or float64
    """
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
