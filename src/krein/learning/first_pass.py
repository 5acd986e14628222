"""What is gathered of a table before a feature map is fitted: a bounded sample of rows, and the range of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.rows import row_blocks
from krein.learning.columns import ColumnSummary
from krein.learning.row_sample import RowSample, distinct_rows, sample_numbers
from krein.learning.stream import finite_rows

__all__ = ["FEATURE_ROWS", "ChunkPass", "FirstPass", "look_at_matrix"]

FEATURE_ROWS = 50_000  # rows a feature map is fitted on: enough for every map here, and 22 MB at 54 columns
_COLUMN_ROWS = 8192  # rows summarized at a time


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What a feature map is fitted on.

    Parameters
    ----------
    sample : array or CSR matrix of shape (n_sampled, n_features)
        Distinct rows of positive weight, in an order that does not depend on theirs. So a row of weight 2, two equal rows
        and rows in another order give the same map. Similarities are taken as they are.
    columns : ColumnSummary or None
        Of all rows, for a map that wants it.
    """

    sample: Any
    columns: ColumnSummary | None

    def __post_init__(self) -> None:
        if not self.sample.shape[0]:
            raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")


def look_at_matrix(
    X: Any, weight: np.ndarray | None, *, summarize: bool = False, whole: bool = False
) -> tuple[Any, FirstPass, bool]:
    """Sample the rows of a matrix.

    Parameters
    ----------
    X : ndarray, memory map or CSR matrix of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,) or None
    summarize : bool, default=False
        Whether the columns of all rows are to be summarized.
    whole : bool, default=False
        Whether the sample is to be the matrix as it is, because it holds similarities of its rows.

    Returns
    -------
    X : as given, or as floating point numbers
    seen : FirstPass
    checked : bool
        Whether all rows were found to be finite. A table of more rows than are sampled is not read from end to end for it.
    """
    n_rows = X.shape[0]
    if whole or n_rows <= FEATURE_ROWS:
        X = finite_rows(X, 0)
        if whole:
            return X, FirstPass(X, None), True
        sample = X if weight is None else X[np.flatnonzero(weight > 0)]
        return X, FirstPass(distinct_rows(sample), _summary(X, weight) if summarize else None), True
    rows = sample_numbers(n_rows, FEATURE_ROWS)
    sample = finite_rows(X[rows], rows)
    if weight is not None:
        sample = sample[np.flatnonzero(weight[rows] > 0)]
    return X, FirstPass(distinct_rows(sample), _summary(X, weight) if summarize else None), False


def _summary(X: Any, weight: np.ndarray | None) -> ColumnSummary | None:
    if sp.issparse(X):
        return None
    total: ColumnSummary | None = None
    for rows in row_blocks(X.shape[0], _COLUMN_ROWS):
        part = ColumnSummary.of(X[rows], None if weight is None else weight[rows])
        total = part if total is None else total.merged(part)
    return total


class ChunkPass:
    """A first pass over rows that come in chunks.

    Parameters
    ----------
    summarize : bool, default=False
        Whether the columns of all rows are to be summarized.
    """

    def __init__(self, *, summarize: bool = False) -> None:
        self._kept = RowSample(FEATURE_ROWS)
        self._columns: ColumnSummary | None = None
        self._summarize = summarize
        self.rows = 0

    def add(self, X: Any, weight: np.ndarray | None) -> None:
        """Look at the next chunk.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_rows, n_features)
        weight : ndarray of shape (n_rows,) or None
        """
        X = finite_rows(X, self.rows)
        numbers = np.arange(self.rows, self.rows + X.shape[0])
        self._kept.add(numbers, X, np.ones(X.shape[0]) if weight is None else weight)
        self.rows += X.shape[0]
        if self._summarize and not sp.issparse(X):
            part = ColumnSummary.of(X, weight)
            self._columns = part if self._columns is None else self._columns.merged(part)

    def seen(self) -> FirstPass:
        """What was gathered.

        Returns
        -------
        FirstPass
        """
        if not self.rows:
            raise ValueError("chunks is empty: there is nothing to fit on")
        X, weight = self._kept.columns()
        return FirstPass(distinct_rows(X[np.flatnonzero(weight > 0)]), self._columns)
