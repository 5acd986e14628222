"""Every limit and margin of what is chosen and solved here, with its reason: one table for all engines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

__all__ = ["EXACT_MACHINE_ROWS", "EXACT_ROWS", "MARGINS", "Margins", "default_width"]

# Distinct rows up to which the kernel problem is solved exactly. Ridge: one factor, 200 MB and some seconds of one processor.
# Machines and logistic regression solve a system a Newton step, so they stop earlier.
EXACT_ROWS = 5000
EXACT_MACHINE_ROWS = 2000


@final
@dataclass(frozen=True)
class Margins:
    """When two numbers count as equal, and when one counts as zero.

    Parameters
    ----------
    equal : float
        Relative: errors that differ by less are equal, and the plainer kernel or the stronger λ is taken. Far above the rounding of
        a score, so that no choice hangs on the processor or on the order of rows.
    rounding : float
        Of the targets' variance: a squared error below it is rounding, since solutions have nine digits.
    last_digit : float
        Relative: products and quotients of λ that differ by less are the same.
    negative : float
        Of the largest eigenvalue: a negative one beyond it is no rounding.
    freedom : float
        1 − leverage below this has no digits left, in a problem solved from its spectrum or its factor.
    freedom_of_sums : float
        The same where the problem was squared into sums over rows.
    sure : float
        Standard errors by which the mean of paired differences must differ from zero to count as different.
    nearly_singular : float
        Distance of μ from a singular system, relative: some direction is amplified a thousandfold against hilbert ridge.
    singular : float
        The same where rounding decides the solution.
    """

    equal: float = 1e-3
    rounding: float = 1e-18
    last_digit: float = 1e-9
    negative: float = 1e-8
    freedom: float = 1e-12
    freedom_of_sums: float = 1e-6
    sure: float = 2.0
    nearly_singular: float = 1e-3
    singular: float = 1e-10


MARGINS = Margins()

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
