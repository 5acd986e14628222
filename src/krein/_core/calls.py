"""Calling a user's function on pairs of objects, here or in another process: values as far as they came, and what went wrong.

Another process imports nothing of this library but this module and what it imports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.threads import within_budget

__all__ = ["Called", "Piece", "call_elsewhere", "call_piece", "gives_matrix", "real_matrix"]


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


def gives_matrix(function: Callable[[Any, Any], Any], piece: Piece) -> bool:
    """Whether a function called with two sequences gives something of the shape of a matrix of their pairs.

    Parameters
    ----------
    function : callable
    piece : Piece
        With sequences.

    Returns
    -------
    bool
        False also where it raises an exception: it may well take two objects.
    """
    try:
        with within_budget():
            return tuple(np.shape(function(piece.left, piece.right))) == piece.shape
    except Exception:
        return False


def _call_pairs(function: Callable[[Any, Any], Any], piece: Piece) -> Called:
    values: list[Any] = []
    error: BaseException | None = None
    try:
        with within_budget():  # not quiet: the user's function may have all threads that this caller has
            if piece.zipped:
                values.extend(map(function, piece.left, piece.right))  # keeps what came before an exception
            else:
                for right in piece.right:
                    values.extend(map(function, piece.left, repeat(right)))
    except BaseException as ended:  # Ctrl-C as well: what was computed goes into the cache before it goes on its way
        error = ended
    return _real_values(values, error)


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
    matrix = np.asarray(values.toarray() if sp.issparse(values) else values)
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
