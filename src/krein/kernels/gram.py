"""Exact Gram matrices of radial kernels, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein.kernels.rows import dense_block, row_blocks, row_norms

__all__ = ["radial_gram"]

_BLOCK = 1024  # rows per side: three float64 blocks of this size stay within a few tens of MiB
_CANCELLED = 1e-5  # below this fraction of ‖x‖² + ‖y‖² the expanded square has lost too many digits


def radial_gram(
    radial: Callable[[np.ndarray], np.ndarray], X: Any, Y: Any | None, *, max_distance: float = np.inf
) -> np.ndarray:
    """Evaluate ``radial`` on all pairwise distances.

    Distances come from ‖x‖² + ‖y‖² − 2x·y (one matrix product per block); the few pairs so close that this
    cancels are computed again from the differences, so equal rows are at distance exactly zero. With ``Y=None`` only
    blocks on and above the diagonal are computed and mirrored: the result is symmetric to the last bit.

    Returns
    -------
    ndarray of shape (n, m), float32 if both inputs are float32, else float64
    """
    symmetric = Y is None
    Y = X if Y is None else Y
    both_single = X.dtype == np.float32 and Y.dtype == np.float32
    gram = np.empty((X.shape[0], Y.shape[0]), dtype=np.float32 if both_single else np.float64)
    origin = _origin(X, Y)
    for columns in row_blocks(Y.shape[0], _BLOCK):
        right = dense_block(Y, columns)
        for rows in row_blocks(X.shape[0], _BLOCK):
            if symmetric and rows.start > columns.start:
                break
            left = right if symmetric and rows == columns else dense_block(X, rows)
            values = radial(np.minimum(_distances(left, right, origin), max_distance))
            if symmetric and rows == columns:
                values = np.triu(values) + np.triu(values, 1).T
            gram[rows, columns] = values
            if symmetric and rows != columns:
                gram[columns, rows] = gram[rows, columns].T
    return gram


def _origin(X: Any, Y: Any) -> np.ndarray:
    """A point amid the data: distances do not depend on it, but fewer digits cancel."""
    sample = [dense_block(A, slice(0, _BLOCK)) for A in (X, Y) if A.shape[0]]
    if not sample:
        return np.zeros(X.shape[1])
    return np.median(np.concatenate([rows[:: max(1, len(rows) // 64)] for rows in sample]), axis=0)


def _distances(left: np.ndarray, right: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Euclidean distances between the rows of two dense float64 blocks."""
    a = left - origin
    b = a if right is left else right - origin
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.add.outer(np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b))
        scale = np.maximum(squares * _CANCELLED, 1e-280)  # squares below are out of range themselves
        squares -= 2.0 * (a @ b.T)
        # Not "<=": pairs whose squares overflowed are done again as well.
        i, j = np.nonzero(~(squares > scale))
    distances = np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
    step = max(1, 2**18 // max(1, left.shape[1]))
    for part in row_blocks(i.size, step):
        distances[i[part], j[part]] = row_norms(left[i[part]] - right[j[part]])
    return distances
