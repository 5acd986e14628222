"""What is gathered of all rows before a model is chosen: a bounded sample of them, and the range of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein.rows.columns import ColumnSummary
from krein.rows.equal import MergedRows, distinct_groups, merge_rows
from krein.rows.sample import RowSample
from krein.rows.targets import Targets

__all__ = ["FEATURE_ROWS", "Look", "LookSums"]

FEATURE_ROWS = 50_000  # rows a feature map is fitted on: enough for every map here, and 22 MB at 54 columns


@final
@dataclass(frozen=True, eq=False)
class Look:
    """What a kernel is chosen by, and a feature map fitted on.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_sampled, n_features)
        Sampled rows as they came, finite.
    y : ndarray of n_sampled entries, or None
    weight : ndarray of shape (n_sampled,) or None
    n_rows : int
        Rows the sample was drawn from.
    complete : bool
        Whether the sample is all of them.
    columns : ColumnSummary or None, default=None
        Of all rows, where somebody wants it.
    pairwise : bool, default=False
        Whether rows are similarities to all rows, which are taken as they are.
    """

    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None
    n_rows: int
    complete: bool
    columns: ColumnSummary | None = None
    pairwise: bool = False

    def __post_init__(self) -> None:
        if not self.n_rows:
            raise ValueError("there are no rows to fit on: chunks is empty")
        if self.weight is not None and not self.weight.any():
            raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")

    @cached_property
    def _present(self) -> Any:
        return slice(None) if self.weight is None or self.weight.all() else np.flatnonzero(self.weight > 0.0)

    @cached_property
    def _rows(self) -> Any:
        X = self.X[self._present]
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        return distinct_groups(self._rows)

    @cached_property
    def distinct(self) -> Any:
        """Distinct rows of positive weight, in an order that does not depend on theirs.

        So a row of weight 2, two equal rows and rows in another order give the same map.
        """
        return self.X if self.pairwise else self._rows[self._groups[0]]

    @property
    def size(self) -> int:
        """Distinct rows of a whole table, else all that there are."""
        return int(self.distinct.shape[0]) if self.complete else self.n_rows

    def sample(self, targets: Targets) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Sampled rows of positive weight in their order, columns of their targets, and weights."""
        assert self.y is not None
        y, weight = self.y[self._present], None if self.weight is None else self.weight[self._present]
        return self._rows, targets.columns(targets.encode(y)), targets.weigh(y, weight)

    def merged(self, targets: Targets, most: int | None = None) -> MergedRows:
        """The first distinct rows with their targets."""
        X, columns, weight = self.sample(targets)
        return merge_rows(X, columns, weight, most=most, groups=self._groups)


@final
class LookSums:
    """What one pass keeps of the rows it sees; that of parts of a stream merges into that of the whole.

    Parameters
    ----------
    targets : Targets or None
        To which all targets are shown.
    with_targets : bool
        Whether sampled rows keep their targets.
    summarize : bool
        Whether the columns of all rows are summarized.
    """

    def __init__(self, targets: Targets | None, *, with_targets: bool, summarize: bool) -> None:
        self.targets = targets
        self.rows = 0
        self._with_targets = with_targets and targets is not None
        self._summarize = summarize
        self._columns: ColumnSummary | None = None
        self._kept = RowSample(FEATURE_ROWS)

    def add(self, start: int, X: Any, y: Any, weight: np.ndarray | None, sampled: np.ndarray | None = None) -> None:
        """Look at a block of finite rows; `sampled` are the numbers of the rows to keep, where they are known already."""
        n_rows = X.shape[0]
        self.rows += n_rows
        if self.targets is not None:
            self.targets.note(y, start, weight)
        columns = [X, np.ones(n_rows) if weight is None else weight, *([y] if self._with_targets else [])]
        if sampled is None:
            self._kept.add(np.arange(start, start + n_rows), *columns)
        else:
            self._kept.add(sampled, *(column[sampled - start] for column in columns))
        if self._summarize and not sp.issparse(X):
            self._merge_columns(ColumnSummary.of(X, weight))

    def merge(self, other: LookSums) -> None:
        """Take over what a look at later rows has found."""
        self.rows += other.rows
        if self.targets is not None and other.targets is not None:
            self.targets.merge(other.targets)
        self._kept.merge(other._kept)
        self._merge_columns(other._columns)

    def look(self, *, complete: bool = True) -> Look:
        """What was gathered; `complete`: no more rows are to come."""
        if not self.rows:
            raise ValueError("chunks is empty: there is nothing to fit on")
        X, weight, *y = self._kept.columns()
        whole = complete and self.rows <= FEATURE_ROWS
        return Look(X, y[0] if y else None, weight, self.rows, whole, self._columns)

    def _merge_columns(self, part: ColumnSummary | None) -> None:
        if part is not None:
            self._columns = part if self._columns is None else self._columns.merged(part)
