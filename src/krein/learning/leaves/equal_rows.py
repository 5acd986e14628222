"""Equal rows of a part or a leaf: found once, and taken as one row with their total weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["MergedLeaf", "equal_rows", "merge_equal"]


@final
@dataclass(frozen=True, eq=False)
class MergedLeaf:
    """Distinct rows, in the order of their first copies.

    Parameters
    ----------
    X : ndarray of shape (n_distinct, n_features)
    means : ndarray of shape (n_distinct, n_outputs)
        Of the targets of equal rows.
    weight : ndarray of shape (n_distinct,) or None
        Total of each; None where all are 1.
    scatter : ndarray of shape (n_distinct, n_outputs)
        Weighted squares of how far the targets of equal rows lie from their mean.
    counts : bool
        Whether weights are whole numbers, which are numbers of copies.
    """

    X: np.ndarray
    means: np.ndarray
    weight: np.ndarray | None
    scatter: np.ndarray
    counts: bool


def equal_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are equal.

    Examples
    --------
    >>> import numpy as np
    >>> equal_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    whole = np.ascontiguousarray(X + 0.0)  # minus zero is zero
    bits = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1])))[:, 0]
    _, first, group = np.unique(bits, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return np.sort(first), rank[group.reshape(-1)]


def merge_equal(X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> MergedLeaf:
    """Take equal rows as one, which is the same ridge problem."""
    counts = weight is None or bool((weight == np.rint(weight)).all())
    first, group = equal_rows(X)
    if first.size == X.shape[0]:
        return MergedLeaf(X, targets, weight, np.zeros(targets.shape), counts)
    each = np.ones(X.shape[0]) if weight is None else weight
    total = np.bincount(group, each)

    def summed(columns: np.ndarray) -> np.ndarray:
        return np.column_stack([np.bincount(group, each * column) for column in columns.T])

    means = summed(targets) / total[:, None]
    return MergedLeaf(X[first], means, total, summed(np.square(targets - means[group])), counts)
