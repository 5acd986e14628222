"""Products of many rows with a small matrix, shared among threads without a bit depending on their number."""

from __future__ import annotations

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import share

__all__ = ["rows_times"]

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
