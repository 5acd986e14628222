"""Values of λ: the one grid they are taken from, as given by a user, in pairs for two regularizers, and the best of some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from krein._core.checks import one_of
from krein.learning.limits import MARGINS
from krein.learning.path import Regularizer

__all__ = ["COARSE_GRID", "GRID", "RIDGES", "best_candidate", "by_ratio", "check_lam", "with_ratios"]

# λ in units of the size of the problem, two a decade. It reaches far down because the columns of a signed map differ much in size:
# those of the tail of a least-mass measure carry what distinguishes near rows, at 1e-4 of the length of the head's.
GRID = np.geomspace(1e-13, 1e1, 29)
COARSE_GRID = GRID[6::2]  # one a decade, down to where 4,000 rows are interpolated
RIDGES = GRID[16:]  # of the mean size of the eigenvalues of a matrix of similarities

_RATIOS = (1e-2, 1.0, 1e2)  # of λ₋ to λ₊ under "auto"
_LARGEST = 1e150  # λ: its square is still a number
_REGULARIZERS = ("hilbert", "two", "krein")
_SELECTIONS = ("loo", "validation", "gcv")


def check_lam(lam: Any, regularizer: Any, selection: Any = "loo") -> np.ndarray | None:
    """Candidates (λ₊, λ₋), checked; None for those of the grid."""
    one_of(regularizer, "regularizer", _REGULARIZERS)
    one_of(selection, "selection", _SELECTIONS)
    if isinstance(lam, str):
        one_of(lam, "lam", ("auto",), otherwise=", a positive number or several of them")
        return None
    try:
        values = np.array(lam, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"lam must be 'auto', a positive number or several of them, got {lam!r}") from error
    if not values.size or not (values <= _LARGEST).all() or (values <= 0.0).any():
        raise ValueError(
            f"lam must be positive and at most {_LARGEST:.0e}, got {lam!r}; for almost no regularization use a small number "
            "such as 1e-10"
        )
    if regularizer == "two":
        if values.ndim == 0:
            values = np.full(2, values)
        values = values.reshape(1, -1) if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(f"lam must be a pair (λ₊, λ₋) or a list of pairs for regularizer='two', got {lam!r}")
        return values
    if values.ndim > 1:
        raise ValueError(f"lam must be a number or a list of numbers for regularizer={regularizer!r}, got {lam!r}")
    return np.repeat(values.reshape(-1, 1), 2, axis=1)


def with_ratios(grid: np.ndarray, regularizer: Regularizer) -> np.ndarray:
    """Candidates from values of λ₊: with λ₋ a hundredth of it, the same and a hundred times as much for ``"two"``."""
    ratios = _RATIOS if regularizer == "two" else (1.0,)
    return np.concatenate([np.stack([grid, ratio * grid], axis=1) for ratio in ratios])


def by_ratio(candidates: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Candidates of one ratio together, since they share a factorization."""
    logarithms = np.log(candidates[:, 1]) - np.log(candidates[:, 0])
    order = np.argsort(logarithms, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(logarithms[order]) > MARGINS.last_digit) + 1):
        first = rows.min()
        yield float(candidates[first, 1] / candidates[first, 0]), np.sort(rows)


def best_candidate(lam: np.ndarray, scores: np.ndarray, rounding: float = 0.0) -> int:
    """The strongest regularization whose score is the best but for a thousandth; of equally strong ones the first.

    Where less regularization gains nothing, as when the features interpolate, it costs digits.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.strengths import best_candidate
    >>> best_candidate(np.array([1e-3, 1e-2, 1e-1]), np.array([0.5, 0.5001, 0.9]))
    1
    """
    strength = lam if lam.ndim == 1 else lam[:, 0] * lam[:, 1]
    known = np.isfinite(scores)
    if not known.any() or np.isnan(rounding):  # nothing can be told: the strongest is the safe one
        return int(np.argmax(strength))
    good = np.flatnonzero(known & (scores <= scores[known].min() * (1.0 + MARGINS.equal) + rounding))
    # a product of two λ has an error in its last digit, which must not decide between equals
    strongest = good[strength[good] >= strength[good].max() * (1.0 - MARGINS.last_digit)]
    return int(strongest[0])
