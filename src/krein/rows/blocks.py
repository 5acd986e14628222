"""Rows in blocks: each block is checked to be finite once, turned into features once, and never kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.rows import row_blocks
from krein.features import RowMap
from krein.similarities.objects import Objects

__all__ = ["FeatureBlock", "all_features", "block_length", "checked_weight", "feature_blocks", "finite_rows"]

_BLOCK_BYTES = 2**26  # one float64 block of features; more gains no speed, see benchmarks/learners.py
_WEIGHTS = 1e-100, 1e100  # the least and the largest but for 0
_FEWEST, _MOST = 256, 65_536  # rows of a block, however wide or narrow the features


def block_length(n_components: int) -> int:
    """Rows per block, so that a float64 block of so many columns takes 64 MiB."""
    return int(np.clip(_BLOCK_BYTES // (8 * max(1, n_components)), _FEWEST, _MOST))


def finite_rows(X: Any, start: int | np.ndarray) -> Any:
    """Rows as float32 or float64, checked to be finite."""
    if isinstance(X, Objects):  # whose similarities are checked when they are computed
        return X
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    sparse = sp.issparse(X)
    if not np.isfinite(X.data if sparse else X).all():
        finite = np.isfinite(X.toarray() if sparse else X).all(axis=1)
        first = int(np.flatnonzero(~finite)[0])
        number = start + first if isinstance(start, int) else start[first]
        raise ValueError(f"Input X contains NaN or infinity, first in row {number}; impute or drop such rows")
    return X


def checked_weight(weight: np.ndarray, start: int) -> np.ndarray:
    """Weights of some rows as float64: zero, or such that sums, squares and quotients of them are numbers."""
    weight = np.asarray(weight, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0.0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} in row {start + int(bad[0])}"
        )
    bad = np.flatnonzero((weight > _WEIGHTS[1]) | ((weight < _WEIGHTS[0]) & (weight > 0.0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be 0 or between {_WEIGHTS[0]:.0e} and {_WEIGHTS[1]:.0e}, got {weight[bad[0]]} in row "
            f"{start + int(bad[0])}; multiply all weights by one factor, or pass 0 to leave a row out"
        )
    return weight


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Some rows of positive weight, and their features.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        Of the rows in their source.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    Z : ndarray of shape (n_rows, n_components)
    y : ndarray of n_rows entries, or None
    weight : ndarray of shape (n_rows,) or None
    """

    numbers: np.ndarray
    X: Any
    Z: np.ndarray
    y: Any
    weight: np.ndarray | None


def feature_blocks(
    features: RowMap, X: Any, y: Any = None, weight: np.ndarray | None = None, *, start: int = 0
) -> Iterator[FeatureBlock]:
    """Features of finite rows, block by block; rows of weight zero are as if they were not there, but for their numbers."""
    for rows in row_blocks(X.shape[0], block_length(features.signature.shape[0])):
        here: slice | np.ndarray = rows
        w = None if weight is None else weight[rows]
        if w is not None and not w.all():
            here = rows.start + np.flatnonzero(w)
            w = w[here - rows.start]
        numbers = np.arange(rows.start, rows.stop) if isinstance(here, slice) else here
        if numbers.size:
            some = X[here]
            yield FeatureBlock(numbers + start, some, features(some), None if y is None else y[here], w)


def all_features(features: RowMap, X: Any) -> np.ndarray:
    """The features of all rows at once, for a method that needs them."""
    Z = np.empty((X.shape[0], features.signature.shape[0]), dtype=np.float32 if X.dtype == np.float32 else np.float64)
    for block in feature_blocks(features, X):
        Z[block.numbers] = block.Z
    return Z
