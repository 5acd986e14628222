"""Rows of a data matrix: dense blocks of them, rows of unit length, and products with a small matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.threads import share

__all__ = [
    "UNIT_TOLERANCE",
    "as_rows",
    "check_finite",
    "check_magnitude",
    "dense_block",
    "row_blocks",
    "row_norms",
    "unit_rows",
    "rows_times",
]

UNIT_TOLERANCE = 1e-3  # how far from 1 the length of a row may be that counts as a unit vector: float16 rows pass
_SQUARES = 1e-140, 1e140  # lengths whose squares are exact to rounding in float64, far from overflow and underflow
_BLOCK_ENTRIES = 2**20  # of a dense block: 8 MiB in float64
_SUMMED_COLUMNS = 2**12  # at once: numpy adds up more than 2^13 of one row in another order than those of several


def as_rows(X: Any, name: str = "X") -> Any:
    """Check that X is a finite real matrix; float32 stays, everything else becomes float64."""
    if sp.issparse(X):
        X = X.tocsr()
        if X.ndim == 2 and not X.has_canonical_format:  # entries given twice are added up, on a copy
            X = X.copy()
            X.sum_duplicates()
        values = X.data
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"{name} must be a matrix with one row per sample, got an array of shape {X.shape}; "
                "use X.reshape(-1, 1) for a single column or X.reshape(1, -1) for a single row"
            )
        values = X
    if X.ndim != 2:
        raise ValueError(f"{name} must be a matrix with one row per sample, got a sparse array of shape {X.shape}")
    if values.dtype.kind in "USMm":
        raise ValueError(f"{name} must hold numbers, got dtype {values.dtype}; encode text and dates as numbers first")
    if np.iscomplexobj(values):
        raise ValueError(f"{name} must be real, got dtype {values.dtype}; pass its real and imaginary parts as columns")
    if values.dtype not in (np.float32, np.float64):
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers, got dtype {values.dtype}: {error}") from error
        values = X.data if sp.issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; impute or drop those rows first")
    return X


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` rows."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def dense_block(X: Any, rows: slice | np.ndarray, dtype: Any = np.float64) -> np.ndarray:
    """Some rows as a dense array, so that a sparse matrix is never made dense whole."""
    block = X[rows]
    if sp.issparse(block):
        block = block.toarray()
    return np.asarray(block, dtype=dtype)


def row_norms(X: Any) -> np.ndarray:
    """Euclidean length of each row; squares may over- or underflow without harm."""
    norms, step = np.empty(X.shape[0]), max(1, _BLOCK_ENTRIES // max(1, X.shape[1]))
    if sp.issparse(X):
        rows_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        with np.errstate(over="ignore", under="ignore"):
            norms[:] = np.sqrt(np.bincount(rows_of, X.data.astype(np.float64) ** 2, minlength=X.shape[0]))
    else:
        for rows in row_blocks(X.shape[0], step):
            block = dense_block(X, rows)
            norms[rows] = np.sqrt(_squared_lengths(block))
    outside = ~((norms > _SQUARES[0]) & (norms < _SQUARES[1]))
    extreme = np.flatnonzero(outside & (np.diff(X.indptr) > 0) if sp.issparse(X) else outside)
    for part in row_blocks(extreme.size, step):
        block = dense_block(X, extreme[part])
        largest = np.abs(block).max(axis=1, initial=0.0)
        norms[extreme[part]] = 0.0
        some = np.flatnonzero(largest)
        block = block[some] / largest[some, None]
        norms[extreme[part][some]] = largest[some] * np.sqrt(_squared_lengths(block))
    return norms


def _squared_lengths(block: np.ndarray) -> np.ndarray:
    """Of each row, to the last bit the same among any other rows of a block in C order."""
    total = np.zeros(len(block))
    for columns in row_blocks(block.shape[1], _SUMMED_COLUMNS):
        part = block[:, columns]
        total += np.einsum("ij,ij->i", part, part)
    return total


def check_magnitude(X: Any, *, power: int = 2, name: str = "X", first: int = 0) -> None:
    """Refuse finite rows so long that what is made of them would not be finite in their own type.

    A row may be as long as a quarter of the root, of order ``power``, of the largest number of the type: sums of a few such powers
    are then finite, and so are squared distances for a power of 2.
    """
    values = X.data if sp.issparse(X) else X
    if not values.size:
        return
    longest = 0.25 * float(np.finfo(values.dtype).max) ** (1.0 / power)
    largest = max(float(values.max()), -float(values.min()))
    if largest * math.sqrt(X.shape[1]) <= longest:  # one fast pass, nearly always the last
        return
    norms = row_norms(X)
    for row in np.flatnonzero(norms > longest)[:1]:
        raise ValueError(
            f"row {first + row} of {name} has length {norms[row]:.3g}, too large for {values.dtype}: its power {power} would not "
            f"be finite beyond {longest:.2g}; scale the columns first, by sklearn.preprocessing.StandardScaler for one"
        )


def check_finite(features: np.ndarray, first: int = 0) -> None:
    """Refuse features that left the range of their type: rows that are finite may be too far away for a map."""
    if np.isfinite(features.sum(dtype=np.float64)):  # adds up without a copy
        return
    for row in np.flatnonzero(~np.isfinite(features).all(axis=1))[:1]:
        way_out = "pass float64 rows, or scale the columns" if features.dtype == np.float32 else "scale the columns"
        raise ValueError(f"features of row {first + row} of X leave the range of {features.dtype}; {way_out} first")


def unit_rows(X: Any, *, normalize: bool = True, name: str = "X", first: int = 0) -> Any:
    """Rows of unit length."""
    norms = row_norms(X)
    if not normalize:
        off = np.flatnonzero(np.abs(norms - 1.0) > UNIT_TOLERANCE)
        if off.size:
            raise ValueError(
                f"row {first + off[0]} of {name} has length {norms[off[0]]:.6g}, but this kernel is defined on the unit sphere "
                "and has normalize=False; use normalize=True or scale the rows to unit length"
            )
        return X
    zero = np.flatnonzero(norms == 0.0)
    if zero.size:
        raise ValueError(
            f"row {first + zero[0]} of {name} is zero ({zero.size} such row{'s' if zero.size > 1 else ''}) and has no direction, "
            "but this kernel is defined on the unit sphere; drop the row or shift the data"
        )
    if sp.issparse(X):
        scaled = (X.data / np.repeat(norms, np.diff(X.indptr))).astype(X.dtype)
        return type(X)((scaled, X.indices, X.indptr), shape=X.shape)
    unit = np.empty(X.shape, dtype=X.dtype)
    for rows in row_blocks(X.shape[0], max(1, _BLOCK_ENTRIES // max(1, X.shape[1]))):
        unit[rows] = X[rows] / norms[rows, None]  # divided in float64: float32 rows are as long as they can be
    return unit


_BLOCK = 512  # rows; the edges of blocks are the same for any number of threads
_WORTH_THREADS = 2**23  # multiply–adds, some two milliseconds: starting threads takes a tenth of that


def rows_times(left: np.ndarray, right: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``left @ right``, whose bits do not depend on the number of threads, as those of one BLAS product may.

    Examples
    --------
    >>> rows_times(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    if out is None:
        out = np.empty(left.shape[:1] + right.shape[1:], dtype=np.result_type(left, right))

    def multiply(rows: slice) -> None:
        np.matmul(left[rows], right, out=out[rows])

    few = left.shape[0] * right.size < _WORTH_THREADS
    share(multiply, row_blocks(left.shape[0], _BLOCK), threads=1 if few else None)
    return out
