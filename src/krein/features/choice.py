"""One rule for choices by held-out error: near-equal errors are equal, and among equals the first in a fixed order is taken.

Every choice of a fit lists its candidates from the plainest to the boldest: unbiased before calibrated, a strong ridge
before a weak one, a coarse truncation before a fine one, the narrow map before a projection. Errors that differ by less than
`MARGIN` say nothing about new rows, and differ between processors in their last digits: then the plainer one stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["EQUAL", "MARGIN", "first_nearly_best"]

MARGIN = 0.005  # relative: far above rounding, far below the spread of an error estimated on some hundred rows
EQUAL = 1e-10  # of the kernel matrix: relative errors below this are rounding


def first_nearly_best(errors: Sequence[float]) -> int:
    """The first error that is no more than `MARGIN` above the least.

    Examples
    --------
    >>> first_nearly_best([0.2, 0.1003, 0.1, 0.15])
    1
    """
    comparable = [math.inf if math.isnan(error) else error for error in errors]
    bound = (1.0 + MARGIN) * min(comparable) + EQUAL
    return next(i for i, error in enumerate(comparable) if error <= bound)
