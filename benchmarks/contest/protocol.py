"""How rows are chosen and split: one protocol for small sets, one for larger ones, the same for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

__all__ = [
    "FOLDS",
    "LARGER_ROWS",
    "SMALL_ROWS",
    "Split",
    "larger_split",
    "regression_splits",
    "small_rows",
    "small_splits",
]

SMALL_ROWS, LARGER_ROWS, FOLDS = 900, 5800, 3


@dataclass(frozen=True, eq=False)
class Split:
    """Raw rows to fit on and others to be judged on."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def small_rows(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 900 rows in a fixed random order, of classes that have three of them or more."""
    first = np.random.default_rng(0).permutation(len(y))[:SMALL_ROWS]
    X, y = X[first], y[first]
    classes, counts = np.unique(y, return_counts=True)
    enough = np.isin(y, classes[counts >= FOLDS])
    return X[enough], y[enough]


def small_splits(X: np.ndarray, y: np.ndarray) -> Iterator[Split]:
    """Three stratified folds of the small set."""
    X, y = small_rows(X, y)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        yield Split(X[train], y[train], X[test], y[test])


def larger_split(X: np.ndarray, y: np.ndarray) -> Split:
    """Of the first 5,800 rows in a fixed random order, 30 % to be judged on."""
    first = np.random.default_rng(0).permutation(len(y))[:LARGER_ROWS]
    X, X_new, y, y_new = train_test_split(X[first], y[first], test_size=0.3, random_state=0, stratify=y[first])
    return Split(X, y, X_new, y_new)


def regression_splits(X: np.ndarray, y: np.ndarray) -> Iterator[Split]:
    """Three folds of at most 900 rows in a fixed random order."""
    first = np.random.default_rng(0).permutation(len(y))[:SMALL_ROWS]
    X, y = X[first], y[first]
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        yield Split(X[train], y[train], X[test], y[test])
