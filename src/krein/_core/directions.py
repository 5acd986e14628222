"""Directions on the unit sphere: independent, orthogonal in blocks, and by products of Hadamard matrices with signs."""

from __future__ import annotations

import numpy as np

from krein._core.checks import positive_integer

__all__ = [
    "independent_directions",
    "orthogonal_directions",
    "hadamard_entries",
    "hadamard_order",
    "structured_rows",
]


def independent_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Independent rows, each uniform on the sphere."""
    vectors = rng.standard_normal((n, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def orthogonal_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Rows orthogonal within blocks of ``dim``, each uniform on the sphere (Haar: QR with the signs of R's diagonal)."""
    blocks = [np.empty((0, dim))]
    for first in range(0, n, dim):
        q, r = np.linalg.qr(rng.standard_normal((dim, min(dim, n - first))))
        blocks.append((q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T)
    return np.concatenate(blocks)


def hadamard_order(dim: int) -> int:
    """The least power of two that is no smaller than ``dim``: the order of the transform for rows of that length.

    Examples
    --------
    >>> hadamard_order(5)
    8
    """
    return 1 << (positive_integer(dim, "dim") - 1).bit_length()


def hadamard_entries(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Entries of the matrix at some rows and columns, without the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> hadamard_entries(np.arange(2)[:, None], np.arange(2))
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    bits = np.bitwise_and(rows, columns)
    for shift in (32, 16, 8, 4, 2, 1):  # folds the parity of all bits into the lowest
        bits = bits ^ (bits >> shift)
    return np.asarray(1.0 - 2.0 * (bits & 1))


def structured_rows(signs: np.ndarray, count: int, dim: int) -> np.ndarray:
    r"""The first rows of :math:`p^{-3/2} H D_3 H D_2 H D_1` over all blocks, cut to some coordinates.

    Whole rows of a block are orthonormal; cut to d coordinates they have a squared length of :math:`d/p` in the mean.
    """
    p = signs.shape[2]
    rows = np.empty((count, dim))
    for start, diagonals in zip(range(0, count, p), signs, strict=False):
        block = np.eye(min(p, count - start), p)
        for diagonal in diagonals[::-1]:  # H is symmetric: row j is e_jᵀ H D₃ H D₂ H D₁
            for half in 2 ** np.arange(p.bit_length() - 1):  # times H, by butterflies
                pairs = block.reshape(len(block), p // (2 * half), 2, half)  # a view: it only splits an axis
                upper, lower = pairs[:, :, 0], pairs[:, :, 1]
                upper[:], lower[:] = upper + lower, upper - lower
            block *= diagonal
        rows[start : start + p] = block[:, :dim] / p**1.5
    return rows
