"""Rows mapped block by block, so that a transform needs little more memory than its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import share

__all__ = ["map_rows"]

_BLOCK_BYTES = 1 << 22  # input, output and scratch of one block: they stay in a core's cache
_WORTH_THREADS = 1 << 20  # bytes of output from which on threads pay


def map_rows(X: Any, width: int, fill: Callable[[Any, np.ndarray], None], *, scratch: float = 1.0) -> np.ndarray:
    """The output of a map, filled block by block; blocks are shared among threads."""
    out = np.empty((X.shape[0], width), dtype=X.dtype)
    row_bytes = (X.shape[1] + (1.0 + scratch) * width) * out.itemsize
    blocks = row_blocks(X.shape[0], max(64, int(_BLOCK_BYTES / row_bytes)))
    share(lambda rows: fill(X[rows], out[rows]), blocks, threads=None if out.nbytes >= _WORTH_THREADS else 1)
    return out
