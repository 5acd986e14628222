"""Rows of a least-squares problem with equal ones merged: weights are then numbers of copies, in any order."""

from __future__ import annotations

from collections.abc import Callable
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
    scatter : ndarray of shape (n_distinct, n_targets)
        :math:`\sum_j w_{ij} (y_{ij} - \bar y_i)^2` over equal rows.
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
        return float(self._variances().sum())

    def _variances(self) -> np.ndarray:
        apart = self.weight @ np.square(self.Y - self.weight @ self.Y / self.total)
        return np.asarray((apart + self.scatter.sum(axis=0)) / self.total)

    def head(self, n_rows: int) -> MergedRows:
        """The first rows: a sample, as rows are in no order."""
        if n_rows >= len(self):
            return self
        cut = slice(0, n_rows)
        return MergedRows(self.X[cut], self.Y[cut], self.weight[cut], self.scatter[cut], self.left_out[cut])

    def equalized(self) -> MergedRows:
        """The same with targets of variance one, so that each counts as much as any other whatever its unit."""
        variances = self._variances()
        scale = 1.0 / np.sqrt(np.where(variances > 0.0, variances, 1.0))
        return MergedRows(self.X, self.Y * scale, self.weight, self.scatter * scale**2, self.left_out)


def merge_rows(
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    columns: Callable[[np.ndarray], np.ndarray] | None = None,
    most: int | None = None,
) -> MergedRows:
    """Merge equal rows, and drop those of weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.tuning import merge_rows
    >>> rows = merge_rows(np.array([[1.0], [2.0], [1.0]]), np.array([[0.0], [5.0], [1.0]]))
    >>> sorted(zip(rows.X[:, 0].tolist(), rows.Y[:, 0].tolist()))
    [(1.0, 0.5), (2.0, 5.0)]
    """
    w = np.ones(y.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    present = np.flatnonzero(w > 0.0)
    if not present.size:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    if present.size < w.size:
        X, y, w = X[present], y[present], w[present]
    counts = bool((w == np.rint(w)).all())
    first, group = distinct_groups(X)
    if most is not None and most < first.size:
        kept = np.flatnonzero(group < most)
        first, group, y, w = first[:most], group[kept], y[kept], w[kept]
    Y = np.asarray(y if columns is None else columns(y), dtype=np.float64)
    join = sp.csr_array((w, (group, np.arange(w.size))), shape=(first.size, w.size))
    total = join @ np.ones(w.size)
    mean = (join @ Y) / total[:, None]
    scatter = join @ np.square(Y - mean[group])
    return MergedRows(X[first], mean, total, scatter, np.ones(total.size) if counts else total)
