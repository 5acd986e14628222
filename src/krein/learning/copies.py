"""Equal rows of a kernel matrix taken as one: weights are then numbers of copies, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein.learning.row_sample import distinct_groups

__all__ = ["Copies", "find_copies"]


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
