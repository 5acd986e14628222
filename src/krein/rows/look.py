"""What is gathered of a table before a feature map is fitted: a bounded sample of rows, and the range of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.rows import row_blocks
from krein.rows.columns import ColumnSummary
from krein.rows.equal import MergedRows, distinct_rows, merge_rows
from krein.rows.feature_blocks import finite_rows
from krein.rows.sample import RowSample, sample_numbers
from krein.rows.targets import NumberTargets, Targets

__all__ = ["FEATURE_ROWS", "ChunkPass", "Examples", "FirstPass", "comparable", "look_at_matrix"]

FEATURE_ROWS = 50_000  # rows a feature map is fitted on: enough for every map here, and 22 MB at 54 columns
_COLUMN_ROWS = 8192  # rows summarized at a time


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What a feature map is fitted on, or chosen by.

    Parameters
    ----------
    sample : array or CSR matrix of shape (n_sampled, n_features)
        Distinct rows of positive weight, in an order that does not depend on theirs. So a row of weight 2, two equal rows
        and rows in another order give the same map. Similarities are taken as they are.
    columns : ColumnSummary or None
        Of all rows, for a map that wants it.
    merged : MergedRows or None, default=None
        The first rows of the sample with their targets, for a choice from the data.
    n_rows : int, default=0
        Rows the sample was drawn from.
    complete : bool, default=True
        Whether that is all of them, and each of positive weight is in the sample.
    given : tuple of X, y and weight or None, default=None
        The sampled rows as they came, where there are targets.
    fitted : fitted feature map or None, default=None
        A map of objects, which is fitted on all of them at once: what is passed over are their features, which came with the fit.
    """

    sample: Any
    columns: ColumnSummary | None
    merged: MergedRows | None = None
    n_rows: int = 0
    complete: bool = True
    given: tuple[Any, np.ndarray, np.ndarray | None] | None = None
    fitted: Any = None

    def __post_init__(self) -> None:
        if not self.sample.shape[0]:
            raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")

    @classmethod
    def of(
        cls,
        X: Any,
        weight: np.ndarray | None,
        columns: ColumnSummary | None = None,
        examples: Examples | None = None,
        n_rows: int | None = None,
        *,
        complete: bool = True,
    ) -> FirstPass:
        """From sampled rows as they came."""
        n_rows = int(X.shape[0]) if n_rows is None else n_rows
        present = None if weight is None or weight.all() else np.flatnonzero(weight > 0)
        if examples is None:
            return cls(distinct_rows(X if present is None else X[present]), columns, None, n_rows, complete)
        y, given = examples.y, (X, examples.y, weight)
        if present is not None and weight is not None:
            X, y, weight = X[present], y[present], weight[present]
        if not X.shape[0]:
            return cls(X, columns)
        codes = examples.targets.encode(y)
        merged = merge_rows(X, codes, weight, columns=examples.targets.columns, most=examples.most)
        whole = examples.most is None or len(merged) < examples.most
        return cls(merged.X if whole else distinct_rows(X), columns, merged, n_rows, complete, given)


def comparable(seen: FirstPass, targets: Targets) -> FirstPass:
    """The same with targets that can be compared: several numbers per row may have several units, classes have one."""
    if seen.merged is None or not isinstance(targets, NumberTargets):
        return seen
    return replace(seen, merged=seen.merged.equalized())


@dataclass(frozen=True, eq=False)
class Examples:
    """Targets of the rows that are looked at.

    Parameters
    ----------
    y : ndarray of n_rows entries
    targets : Targets
        What they are; classes are announced to it.
    most : int or None
        Distinct rows to keep with their targets; None for all that are sampled.
    """

    y: np.ndarray
    targets: Targets
    most: int | None


def look_at_matrix(
    X: Any,
    weight: np.ndarray | None,
    *,
    summarize: bool = False,
    whole: bool = False,
    examples: Examples | None = None,
) -> tuple[Any, FirstPass, bool]:
    """Sample the rows of a matrix."""
    n_rows = X.shape[0]
    if whole or n_rows <= FEATURE_ROWS:
        X = finite_rows(X, 0)
        if whole:
            return X, FirstPass(X, None), True
        return X, FirstPass.of(X, weight, _summary(X, weight) if summarize else None, examples), True
    rows = sample_numbers(n_rows, FEATURE_ROWS)
    sample = finite_rows(X[rows], rows)
    w = None if weight is None else weight[rows]
    if examples is not None:
        examples = replace(examples, y=examples.y[rows])
    columns = _summary(X, weight) if summarize else None
    return X, FirstPass.of(sample, w, columns, examples, n_rows, complete=False), False


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
    targets : Targets or None, default=None
        What the targets are, where a map is chosen by them.
    most : int or None, default=None
        Distinct rows to keep with their targets; None for all that are sampled.
    """

    def __init__(self, *, summarize: bool = False, targets: Targets | None = None, most: int | None = None) -> None:
        self._kept = RowSample(FEATURE_ROWS)
        self._columns: ColumnSummary | None = None
        self._summarize = summarize
        self._targets = targets
        self._most = most
        self.rows = 0

    def add(self, X: Any, weight: np.ndarray | None, y: np.ndarray | None = None) -> None:
        """Look at the next chunk."""
        X = finite_rows(X, self.rows)
        numbers = np.arange(self.rows, self.rows + X.shape[0])
        beside = [] if self._targets is None or y is None else [y]
        self._kept.add(numbers, X, np.ones(X.shape[0]) if weight is None else weight, *beside)
        self.rows += X.shape[0]
        if self._summarize and not sp.issparse(X):
            part = ColumnSummary.of(X, weight)
            self._columns = part if self._columns is None else self._columns.merged(part)

    def seen(self, *, complete: bool = True) -> FirstPass:
        """What was gathered."""
        if not self.rows:
            raise ValueError("chunks is empty: there is nothing to fit on")
        X, weight, *y = self._kept.columns()
        examples = Examples(y[0], self._targets, self._most) if y and self._targets is not None else None
        complete = complete and self.rows <= FEATURE_ROWS
        return FirstPass.of(X, weight, self._columns, examples, self.rows, complete=complete)
