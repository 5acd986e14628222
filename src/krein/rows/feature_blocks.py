"""Passing over rows in blocks: each is checked once, turned into features once, and never kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from krein._core.rows import row_blocks, rows_times
from krein.features import RowMap
from krein.similarities.objects import Objects

__all__ = [
    "FeatureBlock",
    "Features",
    "LinearModel",
    "RowModel",
    "all_features",
    "block_length",
    "checked_weight",
    "feature_blocks",
    "finite_rows",
]

Features = RowMap

_BLOCK_BYTES = 2**26  # one float64 block of features; more gains no speed, see benchmarks/learners.py
_FEWEST, _MOST = 256, 65_536  # rows of a block, however wide or narrow the features


def block_length(n_components: int) -> int:
    """Rows per block, so that a float64 block of features takes 64 MiB."""
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
    """Weights of some rows as float64, finite and not negative."""
    weight = np.asarray(weight, dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0.0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} in row {start + int(bad[0])}"
        )
    return weight


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Some rows of positive weight, and their features.

    Parameters
    ----------
    index : slice or ndarray
        Which rows of the matrix that was passed over.
    numbers : ndarray of shape (n_rows,)
        Their numbers in the stream.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    Z : ndarray of shape (n_rows, n_components)
    weight : ndarray of shape (n_rows,) or None
    """

    index: slice | np.ndarray
    numbers: np.ndarray
    X: Any
    Z: np.ndarray
    weight: np.ndarray | None


def feature_blocks(
    features: Features, X: Any, weight: np.ndarray | None = None, *, start: int = 0, checked: bool = False
) -> Iterator[FeatureBlock]:
    """Pass over the rows of a matrix; rows of weight zero are as if they were not there, but for their numbers."""
    for rows in row_blocks(X.shape[0], block_length(features.signature.shape[0])):
        block = X[rows] if checked else finite_rows(X[rows], start + rows.start)
        index: slice | np.ndarray = rows
        numbers = np.arange(start + rows.start, start + rows.stop)
        w = None if weight is None else weight[rows]
        if w is not None and not w.all():
            present = np.flatnonzero(w)
            index, block, w, numbers = rows.start + present, block[present], w[present], numbers[present]
        if numbers.size:
            yield FeatureBlock(index, numbers, block, features(block), w)


def all_features(features: Features, X: Any, *, checked: bool = False) -> np.ndarray:
    """The features of all rows at once, for a method that needs them."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    Z = np.empty((X.shape[0], features.signature.shape[0]), dtype=dtype)
    for block in feature_blocks(features, X, checked=checked):
        Z[block.index] = block.Z
    return Z


class RowModel(Protocol):
    """A fitted model as a function of raw rows; it can be sent to workers."""

    @property
    def width(self) -> int:
        """Number of outputs."""
        ...

    def __call__(self, X: Any) -> np.ndarray:
        """Values of shape (n_rows, n_outputs), float64; rows are checked to be finite here."""
        ...


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Rows to values of linear functions of their features: the part of a fitted model that travels to workers."""

    features: Features
    coef: np.ndarray
    intercept: np.ndarray

    @property
    def width(self) -> int:
        """Number of outputs."""
        return int(self.coef.shape[0])

    def __call__(self, X: Any) -> np.ndarray:
        """Values of shape (n_rows, n_outputs), float64, without ever holding the features of all rows."""
        out = np.empty((X.shape[0], self.coef.shape[0]))
        for block in feature_blocks(self.features, X):
            rows_times(block.Z, self.coef.T, out[block.index])
        out += self.intercept
        return out
