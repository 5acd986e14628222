"""Errors on rows that were held out, and the one rule by which they choose.

Near-equal errors are equal, and among equals the first in a fixed order is taken. Every choice of a fit lists its candidates from
the plainest to the boldest: unbiased before calibrated, a strong ridge before a weak one, a coarse truncation before a fine one,
the narrow map before a projection. Errors that differ by less than `MARGIN` say nothing about new rows, and differ between
processors in their last digits: then the plainer one stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from krein.features.feature_map import FeatureMap

__all__ = [
    "CHECK_COLUMNS",
    "Gram",
    "estimated_gram",
    "held_out_gram",
    "relative_error",
    "relative_to",
    "upper_error",
    "EQUAL",
    "MARGIN",
    "first_nearly_best",
]

Gram = Callable[..., np.ndarray]

CHECK_COLUMNS = 128  # rows that all held-out rows are paired with
_STANDARD_ERRORS = 2.0
_MATRIX_ROWS = 1000  # of the kernel matrix whose error is meant
MARGIN = 0.005  # relative: far above rounding, far below the spread of an error estimated on some hundred rows
EQUAL = 1e-10  # of the kernel matrix: relative errors below this are rounding


def held_out_gram(rows: np.ndarray, gram: Gram, check_columns: int = CHECK_COLUMNS) -> np.ndarray:
    """Exact kernel values to compare a map with: all rows with the first of them.

    Equal rows have the same share of these pairs as of all, so they cost a fraction and mean the same.
    """
    return gram(rows, rows[:check_columns])


def relative_error(feature_map: FeatureMap, rows: np.ndarray, exact: np.ndarray) -> float:
    """Relative Frobenius error of the map's kernel matrix of some rows, or of its first columns, as many as `exact` has."""
    return relative_to(estimated_gram(feature_map, rows, exact.shape[1]), exact)


def estimated_gram(feature_map: FeatureMap, rows: np.ndarray, count: int) -> np.ndarray:
    """The map's kernel matrix of some rows and the first of them."""
    features = np.empty((rows.shape[0], feature_map.n_outputs), dtype=rows.dtype)
    feature_map.write(rows, features)
    others = features[:count] * feature_map.signature.astype(rows.dtype)
    return np.asarray(features @ others.T)


def upper_error(left: np.ndarray, exact: np.ndarray) -> float:
    """A relative error with twice its standard error added: other rows of the same kind will hardly have a larger one.

    The squared error is a mean over rows and over those they are paired with; where it hangs on a few of them, as it does in data
    with rare rows, it says little about others. A row paired with itself has the share it has in a matrix of 1,000 rows: the
    error is largest there, and how much that counts depends on the number of rows.
    """
    squares = left * left
    own = np.arange(min(left.shape))
    squares[own, own] *= left.shape[0] / _MATRIX_ROWS
    total, variance = float(squares.sum()), 0.0
    for axis, count in enumerate(left.shape):
        if count > 1:
            variance += count * float(np.var(squares.sum(axis=1 - axis), ddof=1))
    size = float(np.linalg.norm(exact)) or 1.0
    return math.sqrt(total + _STANDARD_ERRORS * math.sqrt(variance)) / size


def relative_to(estimate: np.ndarray, exact: np.ndarray) -> float:
    """Relative Frobenius error of a matrix."""
    size = float(np.linalg.norm(exact))
    return float(np.linalg.norm(estimate - exact)) / (size if size > 0 else 1.0)


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
