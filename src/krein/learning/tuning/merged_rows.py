"""Rows of a least-squares problem with equal ones merged: weights are then numbers of copies, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.learning.row_sample import distinct_groups

__all__ = ["MergedRows", "merge_rows"]


@dataclass(frozen=True, eq=False)
class MergedRows:
    r"""Distinct rows with their weights, mean targets, and how far the targets of equal rows lie apart.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_distinct, n_features)
        In an order that does not depend on that of the rows given, and has no order to it.
    Y : ndarray of shape (n_distinct, n_targets)
        Weighted means of the targets.
    weight : ndarray of shape (n_distinct,)
        Total weights.
    scatter : ndarray of shape (n_distinct,)
        :math:`\sum_j w_{ij} \|y_{ij} - \bar y_i\|^2` over equal rows.
    left_out : ndarray of shape (n_distinct,)
        What leave-one-out takes away: one copy where all weights are whole numbers, else the whole weight.
    """

    X: Any
    Y: np.ndarray
    weight: np.ndarray
    scatter: np.ndarray
    left_out: np.ndarray

    def __len__(self) -> int:
        return int(self.Y.shape[0])

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @property
    def variance(self) -> float:
        """Squared error of a constant, per unit of weight, summed over the targets."""
        mean = self.weight @ self.Y / self.total
        apart = float(self.weight @ np.square(self.Y - mean).sum(axis=1))
        return (apart + float(self.scatter.sum())) / self.total

    def head(self, n_rows: int) -> MergedRows:
        """The first rows: a sample, as rows are in no order.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        MergedRows
        """
        if n_rows >= len(self):
            return self
        cut = slice(0, n_rows)
        return MergedRows(self.X[cut], self.Y[cut], self.weight[cut], self.scatter[cut], self.left_out[cut])

    def with_rows(self, X: Any) -> MergedRows:
        """The same problem on other rows, such as placed ones.

        Parameters
        ----------
        X : ndarray or CSR matrix of n_distinct rows

        Returns
        -------
        MergedRows
        """
        return MergedRows(X, self.Y, self.weight, self.scatter, self.left_out)


def merge_rows(X: Any, Y: np.ndarray, weight: np.ndarray | None = None) -> MergedRows:
    """Merge equal rows, and drop those of weight zero.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features), finite
    Y : ndarray of shape (n_rows, n_targets)
    weight : ndarray of shape (n_rows,), default=None

    Returns
    -------
    MergedRows

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.tuning import merge_rows
    >>> rows = merge_rows(np.array([[1.0], [2.0], [1.0]]), np.array([[0.0], [5.0], [1.0]]))
    >>> dict(zip(rows.X[:, 0].tolist(), rows.Y[:, 0].tolist()))
    {1.0: 0.5, 2.0: 5.0}
    """
    w = np.ones(Y.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    present = np.flatnonzero(w > 0.0)
    if not present.size:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    if present.size < w.size:
        X, Y, w = X[present], Y[present], w[present]
    first, group = distinct_groups(X)
    rows, total, scatter = X[first], w[first], np.zeros(first.size)
    if first.size == w.size:
        Y = Y[first]
    else:
        join = sp.csr_array((w, (group, np.arange(w.size))), shape=(first.size, w.size))
        total = join @ np.ones(w.size)
        mean = (join @ Y) / total[:, None]
        scatter = join @ np.square(Y - mean[group]).sum(axis=1)
        Y = mean
    counts = bool((w == np.rint(w)).all())
    return MergedRows(rows, np.asarray(Y, dtype=np.float64), total, scatter, np.ones(total.size) if counts else total)
