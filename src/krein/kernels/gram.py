"""Exact Gram matrices of radial kernels, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein.kernels.rows import dense_block, row_blocks

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
    origin = np.asarray(dense_block(Y, slice(0, 1))).mean(axis=0) if Y.shape[0] else 0.0  # a nearby origin cancels less
    for columns in row_blocks(Y.shape[0], _BLOCK):
        right = dense_block(Y, columns) - origin
        for rows in row_blocks(X.shape[0], _BLOCK):
            if symmetric and rows.start > columns.start:
                break
            left = right if symmetric and rows == columns else dense_block(X, rows) - origin
            values = radial(np.minimum(_distances(left, right), max_distance))
            if symmetric and rows == columns:
                values = np.triu(values) + np.triu(values, 1).T
            gram[rows, columns] = values
            if symmetric and rows != columns:
                gram[columns, rows] = gram[rows, columns].T
    return gram


def _distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Euclidean distances between the rows of two dense float64 blocks."""
    squares = np.add.outer(np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right))
    scale = squares * _CANCELLED
    squares -= 2.0 * (left @ right.T)
    i, j = np.nonzero(squares <= scale)
    step = max(1, 2**18 // max(1, left.shape[1]))
    for part in row_blocks(i.size, step):
        difference = left[i[part]] - right[j[part]]
        squares[i[part], j[part]] = np.einsum("ij,ij->i", difference, difference)
    return np.sqrt(squares, out=squares)
