r"""Random sign matrices, the projections behind product features.

Every column is uniform on :math:`\{\pm1\}^d` (or on :math:`\{\pm1, \pm i\}^d`), so a feature map built on either kind of
matrix has the same mean. With Hadamard columns [1]_ those of one block are orthogonal, which lowers the variance at no cost.

References
----------
.. [1] K. Choromanski, M. Rowland and A. Weller. "The unreasonable effectiveness of structured random orthogonal
   embeddings". NeurIPS, 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PROJECTIONS", "check_projection", "draw_signs"]

PROJECTIONS = ("hadamard", "rademacher")


def check_projection(projection: Any) -> str:
    """The name, or an error that lists the known ones."""
    if projection not in PROJECTIONS:
        raise ValueError(f"projection must be one of {', '.join(map(repr, PROJECTIONS))}, got {projection!r}")
    return str(projection)


def draw_signs(dim: int, count: int, rng: np.random.Generator, *, projection: str) -> np.ndarray:
    """Signs of shape (dim, count), as float64; columns independent, or orthogonal within blocks.

    Examples
    --------
    >>> import numpy as np
    >>> signs = draw_signs(4, 4, np.random.default_rng(0), projection="hadamard")
    >>> (signs.T @ signs == 4 * np.eye(4)).all()
    np.True_
    """
    if projection == "rademacher":
        return 1.0 - 2.0 * rng.integers(2, size=(dim, count))
    size = 1 << max(0, dim - 1).bit_length()
    blocks = []
    for start in range(0, count, size):
        rows = rng.permutation(size)[: min(size, count - start)]
        flips = 1.0 - 2.0 * rng.integers(2, size=(dim, 1))
        blocks.append(flips * _hadamard(np.arange(dim)[:, None], rows))
    return np.hstack(blocks) if blocks else np.empty((dim, 0))


def _hadamard(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Entries :math:`(-1)^{|i \\wedge j|}` of the Sylvester matrix, without the matrix."""
    bits = rows & columns
    for shift in (32, 16, 8, 4, 2, 1):  # folds the parity of all bits into the lowest
        bits = bits ^ (bits >> shift)
    return 1.0 - 2.0 * (bits & 1)
