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
    "Folds",
    "Split",
    "larger_fold",
    "larger_rows",
    "larger_split",
    "regression_folds",
    "regression_rows",
    "regression_splits",
    "small_folds",
    "small_rows",
    "small_splits",
]

SMALL_ROWS, LARGER_ROWS, FOLDS = 900, 5800, 3
Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Split:
    """Raw rows to fit on and others to test on."""

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


def small_folds(y: np.ndarray) -> Folds:
    """Three stratified folds of a small set, as numbers of rows."""
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))


def small_splits(X: np.ndarray, y: np.ndarray) -> Iterator[Split]:
    """The rows of the three folds of a small set."""
    X, y = small_rows(X, y)
    for train, test in small_folds(y):
        yield Split(X[train], y[train], X[test], y[test])


def larger_rows(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first 5,800 rows in a fixed random order."""
    first = np.random.default_rng(0).permutation(len(y))[:LARGER_ROWS]
    return X[first], y[first]


def larger_fold(y: np.ndarray) -> Folds:
    """The 30 % of the rows of a larger set to test on, as numbers of rows."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0, stratify=y)
    return [(train, test)]


def larger_split(X: np.ndarray, y: np.ndarray) -> Split:
    """The rows of a larger set to fit on, and those to test on."""
    X, y = larger_rows(X, y)
    ((train, test),) = larger_fold(y)
    return Split(X[train], y[train], X[test], y[test])


def regression_rows(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 900 rows in a fixed random order."""
    first = np.random.default_rng(0).permutation(len(y))[:SMALL_ROWS]
    return X[first], y[first]


def regression_folds(y: np.ndarray) -> Folds:
    """Three folds, as numbers of rows."""
    return list(KFold(FOLDS, shuffle=True, random_state=0).split(y))


def regression_splits(X: np.ndarray, y: np.ndarray) -> Iterator[Split]:
    """The rows of the three folds of a regression."""
    X, y = regression_rows(X, y)
    for train, test in regression_folds(y):
        yield Split(X[train], y[train], X[test], y[test])
