r"""Random sign matrices, the projections behind product features.

Every column is uniform on :math:`\{\pm1\}^d` (or on :math:`\{\pm1, \pm i\}^d`), so a feature map built on either kind of
matrix has the same mean. With Hadamard columns [1]_ those of one block are orthogonal, which lowers the variance at no cost.

References
----------
.. [1] K. Choromanski, M. Rowland and A. Weller. "The unreasonable effectiveness of structured random orthogonal
   embeddings". NeurIPS, 2017.
"""

from __future__ import annotations

import numpy as np

from krein._core.directions import hadamard_entries, hadamard_order

__all__ = ["PROJECTIONS", "draw_signs"]

PROJECTIONS = ("hadamard", "rademacher")


def draw_signs(dim: int, count: int, rng: np.random.Generator, *, projection: str) -> np.ndarray:
    """Random signs whose columns are independent, or orthogonal within blocks.

    Examples
    --------
    >>> import numpy as np
    >>> signs = draw_signs(4, 4, np.random.default_rng(0), projection="hadamard")
    >>> bool((signs.T @ signs == 4 * np.eye(4)).all())
    True
    """
    if projection == "rademacher":
        return 1.0 - 2.0 * rng.integers(2, size=(dim, count))
    size = hadamard_order(dim)
    blocks = []
    for start in range(0, count, size):
        rows = rng.permutation(size)[: min(size, count - start)]
        flips = 1.0 - 2.0 * rng.integers(2, size=(dim, 1))
        blocks.append(flips * hadamard_entries(np.arange(dim)[:, None], rows))
    return np.hstack(blocks) if blocks else np.empty((dim, 0))
