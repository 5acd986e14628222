"""Rows with their classes and weights: equal rows merged, assigned to folds, sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from krein.rows.equal import distinct_groups
from krein.rows.sample import RowSample, sample_numbers

__all__ = ["CHOICE_ROWS", "LabeledRows", "LabeledSample", "balanced_weights", "deal_folds"]

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
    checked : bool, default=False
        Whether all rows are known to be finite.
    """

    X: Any
    codes: np.ndarray
    weight: np.ndarray | None
    checked: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        classes: np.ndarray,
        factors: np.ndarray | None,
        *,
        checked: bool = False,
    ) -> LabeledRows:
        """Rows with their labels as places among the classes."""
        codes = np.minimum(np.searchsorted(classes, y), classes.size - 1)
        if factors is not None:
            weight = factors[codes] if weight is None else weight * factors[codes]
        return cls(X, codes, weight, checked)

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
        return LabeledRows(self.X[rows], self.codes[rows], np.bincount(place, weight), self.checked)

    def head(self, limit: int) -> LabeledRows:
        """The rows of smallest key, at most `limit`: those that a stream would keep, see `RowSample`."""
        if self.codes.size <= limit:
            return self
        rows = sample_numbers(self.codes.size, limit)
        return LabeledRows(
            self.X[rows], self.codes[rows], None if self.weight is None else self.weight[rows], self.checked
        )


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


def balanced_weights(class_weight: np.ndarray) -> np.ndarray:
    """Factors that give every class the same weight, and leave the weight of all rows as it is."""
    factors: np.ndarray = class_weight.sum() / (class_weight.size * class_weight)
    return factors


class LabeledSample:
    """What a pass over rows finds out about their classes: labels, weights, and a bounded sample of rows with both.

    Samples of parts of a stream merge into that of the whole, whatever the parts.

    Parameters
    ----------
    limit : int, default=CHOICE_ROWS
        Most rows to keep.
    """

    def __init__(self, limit: int = CHOICE_ROWS) -> None:
        self._kept = RowSample(limit)
        self._totals: dict[Any, float] = {}
        self._labels: list[np.ndarray] = []

    def add(self, start: int, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Look at some rows of the stream."""
        numbers = np.arange(start, start + X.shape[0])
        self._kept.add(numbers, X, y, np.ones(numbers.size) if weight is None else weight)
        self.count(y, weight)

    def count(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Look at the labels of some rows only."""
        labels, inverse = np.unique(y, return_inverse=True)
        self._count(labels, np.bincount(inverse, weight, minlength=labels.size))

    def merge(self, other: LabeledSample) -> None:
        """Take over what another pass over other rows has found."""
        self._kept.merge(other._kept)
        for labels in other._labels:
            self._count(labels, np.array([other._totals[label] for label in labels.tolist()]))

    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes among rows of positive weight, sorted, and the weight of each."""
        found = np.unique(np.concatenate(self._labels)) if self._labels else np.empty(0)
        totals = np.array([self._totals[label] for label in found.tolist()])
        return found[totals > 0.0], totals[totals > 0.0]

    def sample(self, classes: np.ndarray, factors: np.ndarray | None) -> LabeledRows:
        """The rows that were kept."""
        X, y, weight = self._kept.columns()
        return LabeledRows.of(X, y, weight, classes, factors, checked=True)

    def _count(self, labels: np.ndarray, totals: np.ndarray) -> None:
        new = np.array([label not in self._totals for label in labels.tolist()], dtype=bool)
        if new.any():
            self._labels.append(labels[new])
        for label, total in zip(labels.tolist(), totals.tolist(), strict=True):
            self._totals[label] = self._totals.get(label, 0.0) + total
