"""Exact Gram matrices of radial kernels, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.memory import check_memory
from krein._core.rows import dense_block, row_blocks, row_norms
from krein._core.threads import share

__all__ = ["radial_gram"]

_BLOCK = 384  # rows per side: a float64 block stays in a core's cache while a kernel's passes go over it
_WORTH_THREADS = 4 * _BLOCK**2  # pairs from which on threads pay
_SPARSE = (
    0.05  # share of entries that are not zero, up to which a product of sparse rows is faster than one of dense rows
)
_CANCELLED = 1e-5  # below this fraction of ‖x‖² + ‖y‖² the expanded square has lost too many digits


def radial_gram(
    radial: Callable[[np.ndarray], np.ndarray], X: Any, Y: Any | None, *, max_distance: float = np.inf
) -> np.ndarray:
    """Evaluate ``radial`` on all pairwise distances.

    Distances come from ‖x‖² + ‖y‖² − 2x·y (one matrix product per block); the few pairs so close that this
    cancels are computed again from the differences, so equal rows are at distance exactly zero. Sparse rows are multiplied as they
    are, at a cost that does not grow with the number of columns. With ``Y=None`` only
    blocks on and above the diagonal are computed and mirrored: the result is symmetric to the last bit. Blocks are shared
    among threads, as numpy's passes hold no lock; each is computed by one, so their number changes no bit.
    """
    symmetric = Y is None
    Y = X if Y is None else Y
    both_single = X.dtype == np.float32 and Y.dtype == np.float32
    shape, dtype = (X.shape[0], Y.shape[0]), np.float32 if both_single else np.float64
    numbers = float(shape[0]) * shape[1]
    check_memory(
        numbers * np.dtype(dtype).itemsize,
        f"a kernel matrix of {shape[0]:,} × {shape[1]:,} numbers",
        "use features, or fewer rows",
    )
    gram = np.empty(shape, dtype=dtype)
    sparse = _is_sparse(X) and _is_sparse(Y)
    origin = None if sparse else _origin(X, Y)
    pairs = [
        (rows, columns)
        for columns in row_blocks(Y.shape[0], _BLOCK)
        for rows in row_blocks(X.shape[0], _BLOCK)
        if not (symmetric and rows.start > columns.start)
    ]

    def fill(pair: tuple[slice, slice]) -> None:
        rows, columns = pair
        right = Y[columns] if sparse else dense_block(Y, columns)
        left = right if symmetric and rows == columns else X[rows] if sparse else dense_block(X, rows)
        distances = _distances(left, right, origin)
        if np.isfinite(max_distance):
            np.minimum(distances, max_distance, out=distances)
        with np.errstate(over="ignore", invalid="ignore"):  # far outside of any data: a caller sees what is not finite
            values = radial(distances)
            if symmetric and rows == columns:
                values = 0.5 * values + 0.5 * values.T  # the same to the last bit on both sides
            gram[rows, columns] = values
        if symmetric and rows != columns:
            gram[columns, rows] = gram[rows, columns].T

    share(fill, pairs, threads=None if gram.size >= _WORTH_THREADS else 1)
    return gram


def _origin(X: Any, Y: Any) -> np.ndarray:
    """A point amid the data: distances do not depend on it, but fewer digits cancel."""
    sample = [dense_block(A, slice(0, _BLOCK)) for A in (X, Y) if A.shape[0]]
    if not sample:
        return np.zeros(X.shape[1])
    return np.asarray(np.median(np.concatenate([rows[:: max(1, len(rows) // 64)] for rows in sample]), axis=0))


def _is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X) and X.nnz <= _SPARSE * X.shape[0] * X.shape[1])


def _distances(left: Any, right: Any, origin: np.ndarray | None) -> np.ndarray:
    """Euclidean distances between the rows of two float64 blocks, both dense or, without an origin, both sparse."""
    with np.errstate(over="ignore", invalid="ignore"):
        if origin is None:
            here, there = np.square(row_norms(left))[:, None], np.square(row_norms(right))[:, None]
            squares: np.ndarray = here + there.T - 2.0 * (left.astype(np.float64) @ right.T).toarray()
        else:
            a = left - origin
            b = a if right is left else right - origin
            here, there = np.einsum("ij,ij->i", a, a)[:, None], np.einsum("ij,ij->i", b, b)[:, None]
            # Both squared lengths as two more columns of the product, which saves two passes over the block.
            squares = np.hstack([-2.0 * a, here, np.ones_like(here)]) @ np.hstack([b, np.ones_like(there), there]).T
        if right is left:  # the diagonal is known to be zero, and need not make every row a suspect
            np.fill_diagonal(squares, np.inf)
        # Squares below 1e-280 are out of range themselves; "not >" as pairs whose squares overflowed are done again as well.
        limit = np.maximum((here[:, 0] + there.max(initial=0.0)) * _CANCELLED, 1e-280)
        suspects = np.flatnonzero(~(squares.min(axis=1, initial=np.inf) > limit))
        i, j = np.nonzero(~(squares[suspects] > np.maximum((here[suspects] + there.T) * _CANCELLED, 1e-280)))
        i = suspects[i]
        squares[i, j] = 0.0
    if right is left:
        np.fill_diagonal(squares, 0.0)
    distances: np.ndarray = np.sqrt(squares, out=squares)
    step = max(1, 2**18 // max(1, left.shape[1] if origin is not None else left.nnz // max(1, left.shape[0])))
    for part in row_blocks(i.size, step):
        distances[i[part], j[part]] = row_norms(left[i[part]] - right[j[part]])
    return distances
