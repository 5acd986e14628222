"""Rows of the paper's data sets for timing: columns to [0, 1], rows to unit length."""

from __future__ import annotations

import numpy as np

from krein import datasets

__all__ = ["rows_of", "split_of"]


def rows_of(name: str, n: int | None = None, dtype: type = np.float64) -> np.ndarray:
    """All rows of a data set in a random order, or n of them, repeated if there are fewer."""
    X, _ = datasets.load(name, split=False)
    (X,) = datasets.minmax_unit(X.astype(dtype))
    order = np.random.default_rng(0).permutation(len(X))
    if n is not None:
        order = np.resize(order, n)
    return X[order]


def split_of(name: str, n: int, n_new: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """``n`` rows to fit on and to map, repeated if there are fewer, and others that neither saw."""
    X = rows_of(name)
    return X[np.resize(np.arange(n_new, len(X)), n)], X[:n_new]
