"""Equal rows taken as one: weights are then numbers of copies, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein.rows.row_order import canonical_order, lexicographic_order
from krein.rows.sample import row_keys

__all__ = ["Copies", "MergedRows", "distinct_groups", "equal_rows", "find_copies", "merge_rows"]


_MIXTURES = 64  # of targets, where there are more


@dataclass(frozen=True, eq=False)
class MergedRows:
    r"""Distinct rows with their weights, mean targets, and how far the targets of equal rows lie apart.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_distinct, n_features)
        In an order that does not depend on that of the rows given, and has no order to it; or in that of their first copies.
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

    def sketched(self) -> MergedRows:
        r"""The same with at most 64 targets, random mixtures of all, for comparisons by squared errors summed over targets.

        A mixture :math:`Y \mapsto YR` with independent normal entries of variance 1/64 keeps such a sum in expectation, with a
        standard deviation of 18 % for one row, and less than 1 % for some hundreds. The order of targets does not matter.
        """
        rows, count = self.Y.shape
        if count <= _MIXTURES:
            return self
        mixtures = np.empty((count, _MIXTURES))
        order = np.argsort(row_keys(np.arange(rows)) @ self.Y, kind="stable")
        mixtures[order] = np.random.default_rng(0).normal(scale=_MIXTURES**-0.5, size=mixtures.shape)
        scatter = np.repeat(self.scatter.sum(axis=1, keepdims=True) / _MIXTURES, _MIXTURES, axis=1)
        return MergedRows(self.X, self.Y @ mixtures, self.weight, scatter, self.left_out)


def merge_rows(
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    most: int | None = None,
    in_order: bool = False,
    groups: tuple[np.ndarray, np.ndarray] | None = None,
) -> MergedRows:
    """Merge equal rows, and drop those of weight zero; `groups` where it is known which rows are equal, and none is dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.rows.equal import merge_rows
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
    first, group = groups or (equal_rows(X) if in_order else distinct_groups(X))
    if most is not None and most < first.size:
        kept = np.flatnonzero(group < most)
        first, group, y, w = first[:most], group[kept], y[kept], w[kept]
    Y = np.asarray(y, dtype=np.float64)
    left = np.ones(first.size)
    if in_order and first.size == w.size:
        return MergedRows(X, Y, w, np.zeros(Y.shape), left if counts else w)
    join = sp.csr_array((w, (group, np.arange(w.size))), shape=(first.size, w.size))
    total = join @ np.ones(w.size)
    mean = (join @ Y) / total[:, None]
    scatter = join @ np.square(Y - mean[group])
    return MergedRows(X[first], mean, total, scatter, left if counts else total)


@final
@dataclass(frozen=True, eq=False)
class Copies:
    """Rows of positive weight, equal ones together.

    Parameters
    ----------
    first : ndarray of shape (n_distinct,)
        The number of one row of each group of equal rows.
    group : ndarray of shape (n_rows,)
        The group of each row; any for a row of weight zero.
    share : ndarray of shape (n_rows,)
        The part of each row in the weight of its group.
    weight : ndarray of shape (n_distinct,)
        Of each group.
    """

    first: np.ndarray
    group: np.ndarray
    share: np.ndarray
    weight: np.ndarray

    def matrix(self, gram: np.ndarray) -> np.ndarray:
        """The kernel matrix of distinct rows."""
        return np.asarray(gram[np.ix_(self.first, self.first)])

    def means(self, y: np.ndarray) -> np.ndarray:
        """Weighted means of targets over equal rows."""
        columns = [np.bincount(self.group, self.share * column, minlength=self.first.size) for column in y.T]
        return np.stack(columns, axis=1)

    def spread(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of distinct rows, dealt to the rows they stand for."""
        return np.asarray(self.share[:, None] * coefficients[self.group])


def find_copies(n_rows: int, rows: Any, weight: np.ndarray | None, codes: np.ndarray | None = None) -> Copies:
    """Which rows are equal, and of the same class if they have one.

    Examples
    --------
    >>> import numpy as np
    >>> found = find_copies(3, np.array([[1.0], [2.0], [1.0]]), np.array([1.0, 1.0, 3.0]))
    >>> sorted(found.weight.tolist()), found.share.tolist()
    ([1.0, 4.0], [0.25, 1.0, 0.75])
    """
    weights = np.ones(n_rows) if weight is None else weight
    present = np.flatnonzero(weights)
    if not present.size:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    group = np.arange(present.size) if rows is None else distinct_groups(rows[present])[1]
    if codes is not None:
        group = group * (int(codes.max()) + 1) + codes[present]
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    total = np.bincount(place, weights[present])
    where = np.zeros(n_rows, dtype=np.int64)
    where[present] = place
    return Copies(present[first], where, np.where(weights > 0.0, weights / total[where], 0.0), total)


def equal_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are equal, in the order of their first copies.

    Examples
    --------
    >>> import numpy as np
    >>> equal_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    order, start = lexicographic_order(X)
    group = np.empty(order.size, dtype=np.int64)
    group[order] = np.cumsum(start) - 1
    first = order[start]  # sorting is stable: the first copy of each
    order = np.argsort(first)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return first[order], rank[group]


def distinct_groups(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are equal, in an order that depends on their values only and has no order to it; see `canonical_order`."""
    order, start = canonical_order(X)
    run = np.cumsum(start) - 1
    shuffled = np.argsort(row_keys(np.arange(run[-1] + 1)))
    group = np.empty(order.size, dtype=np.int64)
    group[order] = np.argsort(shuffled)[run]
    return order[start][shuffled], group
