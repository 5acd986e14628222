"""How far the exact way goes, and how wide features are beyond it."""

from __future__ import annotations

import math

__all__ = ["EXACT_ROWS", "default_width"]

# Distinct rows up to which the kernel problem is solved exactly: 200 MB and some seconds of one processor
EXACT_ROWS = 5000
_NARROW, _WIDE = 1024, 4096  # columns of features, at least and at most
_COLUMNS_PER_ROOT = 20.0  # columns for each unit of the square root of the number of rows
_STEP = 64  # widths are multiples of it


def default_width(n_rows: int) -> int:
    """Columns of the features for so many rows.

    Examples
    --------
    >>> [default_width(n) for n in (100, 5_000, 20_000, 1_000_000)]
    [100, 1472, 2880, 4096]
    """
    width = _STEP * math.ceil(_COLUMNS_PER_ROOT * math.sqrt(n_rows) / _STEP)
    return min(n_rows, max(_NARROW, min(width, _WIDE)))
