"""Rows with their classes and weights: equal rows merged, assigned to folds, sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from krein.rows.equal import distinct_groups
from krein.rows.sample import sample_numbers
from krein.rows.targets import LabelTargets

__all__ = ["CHOICE_ROWS", "LabeledRows", "class_codes", "deal_folds"]

# Rows that choose C, λ or a kernel by cross-validation: the error of an accuracy of 0.9 is 0.2 % there
CHOICE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Rows with their classes and weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        The class of each row, counted from zero.
    weight : ndarray of shape (n_rows,) or None
        None means one each.
    """

    X: Any
    codes: np.ndarray
    weight: np.ndarray | None

    @classmethod
    def of(cls, X: Any, y: np.ndarray, weight: np.ndarray | None, targets: LabelTargets) -> LabeledRows:
        """Rows with their labels as places among the sorted classes, and the weights of these."""
        classes = targets.sorted_classes()[0]
        codes = np.minimum(np.searchsorted(classes, y), classes.size - 1)  # any for rows of weight zero
        return cls(X, codes, targets.weigh(y, weight))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row, whether given or not."""
        return np.ones(self.codes.size) if self.weight is None else self.weight

    def merged(self) -> LabeledRows:
        """Equal rows of the same class as one, with the weight of all, in an order that does not depend on theirs.

        So a row of weight 2 and two equal rows give the same model, to the last digit, and so do rows in another order.
        """
        present = np.flatnonzero(self.weights)
        codes, weight = self.codes[present], self.weights[present]
        group = distinct_groups(self.X[present])[1]
        _, first, place = np.unique(group * (codes.max() + 1) + codes, return_index=True, return_inverse=True)
        rows = present[first]
        return LabeledRows(self.X[rows], self.codes[rows], np.bincount(place, weight))

    def head(self, limit: int) -> LabeledRows:
        """The rows of smallest key, at most `limit`: those that a stream would keep, see `RowSample`."""
        if self.codes.size <= limit:
            return self
        rows = sample_numbers(self.codes.size, limit)
        return LabeledRows(self.X[rows], self.codes[rows], None if self.weight is None else self.weight[rows])


def deal_folds(X: Any, codes: np.ndarray, n_folds: int) -> np.ndarray:
    """A fold for each row: class by class in turns, in an order that looks random and depends on the rows only.

    Equal rows go to the same fold, so that no row is held out whose twin is not. The order of the rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0)[:, None]
    >>> fold = deal_folds(X, np.repeat([0, 1], 6), 3)
    >>> [np.bincount(fold[:6]).tolist(), np.bincount(fold[6:]).tolist()]
    [[2, 2, 2], [2, 2, 2]]
    """
    first, group = distinct_groups(X)
    owner = np.full(first.size, codes.max() + 1)
    np.minimum.at(owner, group, codes)  # a row of several classes is dealt with the first of them
    fold = np.full(first.size, -1)
    start = 0
    for code in np.unique(owner):
        mine = np.flatnonzero(owner == code)
        if mine.size > 1:
            fold[mine] = (start + np.arange(mine.size)) % n_folds
            start += mine.size  # where the last class ended, so that small classes do not all fill the first fold
    dealt: np.ndarray = fold[group]
    return dealt


def class_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the classes, for rows that were seen before."""
    codes: np.ndarray = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        raise ValueError(
            f"y contains the label {labels[strange[0]]!r}, which no row of positive weight had in the first pass; the rows "
            "must be the same in every pass"
        )
    return codes
