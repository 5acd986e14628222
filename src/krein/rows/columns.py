"""A summary of the columns from a pass over all rows: range, mean and spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["ColumnSummary"]


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Least and greatest value, mean and variance of each column, over rows of positive weight.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    least, greatest, mean, variance : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from krein.rows.columns import ColumnSummary
    >>> X = np.array([[0.0], [4.0], [2.0]])
    >>> both = ColumnSummary.of(X[:1]).merged(ColumnSummary.of(X[1:]))
    >>> both.least, both.greatest, both.mean
    (array([0.]), array([4.]), array([2.]))
    """

    weight: float
    least: np.ndarray
    greatest: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def __post_init__(self) -> None:
        shapes = {column.shape for column in (self.least, self.greatest, self.mean, self.variance)}
        if len(shapes) != 1 or self.least.ndim != 1:
            raise ValueError(f"a summary of columns has one number for each column, got shapes {sorted(shapes)}")
        if not self.weight > 0.0:
            raise ValueError(f"a summary of columns needs rows of positive weight, got a weight of {self.weight}")

    @classmethod
    def of(cls, X: np.ndarray, weight: np.ndarray | None = None) -> ColumnSummary | None:
        """The summary of a block of finite rows; None if no row has a positive weight."""
        if weight is not None:
            present = np.flatnonzero(weight > 0.0)
            X, weight = X[present], weight[present]
        if not X.shape[0]:
            return None
        share = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
        mean = share @ X.astype(np.float64, copy=False)
        with np.errstate(over="ignore"):  # infinite where squares are no numbers
            variance = share @ np.square(X - mean)
        total = float(X.shape[0] if weight is None else weight.sum())
        least, greatest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        return cls(total, least, greatest, mean, variance)

    def merged(self, other: ColumnSummary | None) -> ColumnSummary:
        """The summary of these rows and others."""
        if other is None:
            return self
        total = self.weight + other.weight
        share = other.weight / total
        apart = other.mean - self.mean
        # the variance of a mixture: of its parts, and between their means
        variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * apart**2
        return ColumnSummary(
            total,
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
            self.mean + share * apart,
            variance,
        )
