"""The local part of a model: where rows are placed, the tree they fall through, and the leaves that predict them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.checks import real
from krein._core.rows import row_blocks
from krein.learning.columns import ColumnSummary
from krein.learning.leaves.choice import LeafRows
from krein.learning.leaves.dealt_rows import DealtRows
from krein.learning.leaves.fit import LeafFit, Report, coarse_tree, fit_leaves, leaf_rows_for
from krein.learning.leaves.model import LeafModel
from krein.learning.leaves.splits import SplitTree
from krein.learning.left_out import LeftOutModel
from krein.learning.metric import LearnedMetric, learn_metric
from krein.learning.stream import finite_rows
from krein.learning.tuning import Placement, merge_rows, scaled_columns

__all__ = ["LocalPart", "LocalPlan", "fit_local", "local_part", "placed_block", "plan_local"]

_ROWS_AT_A_TIME = 2**14


@final
@dataclass(frozen=True, eq=False)
class LocalPlan:
    """What is fixed before rows are dealt to leaves, from a sample of them.

    Parameters
    ----------
    placement : Placement
    metric : LearnedMetric
        Which the placement has in it.
    tree : SplitTree
        The coarse tree.
    leaf_rows : int
    """

    placement: Placement
    metric: LearnedMetric
    tree: SplitTree
    leaf_rows: int


@final
@dataclass(frozen=True, eq=False)
class LocalPart:
    """What leaves add to a part of the global model.

    Parameters
    ----------
    placement : Placement
    leaves : LeafModel
    part : float
        Of the global model, between 0 and 1.
    lam : float
        λ of the leaves.
    metric : LearnedMetric
    """

    placement: Placement
    leaves: LeafModel
    part: float
    lam: float
    metric: LearnedMetric

    def __post_init__(self) -> None:
        if not 0.0 <= real(self.part, "part") <= 1.0:
            raise ValueError(f"part must be between 0 and 1, got {self.part}")

    def __call__(self, X: Any) -> np.ndarray:
        """Values of the leaves at raw rows, shape (n_rows, n_outputs), float64."""
        out = np.empty((X.shape[0], self.leaves.offsets.shape[1]))
        step = max(
            _ROWS_AT_A_TIME, 256 * self.leaves.n_leaves
        )  # so that a leaf finds some rows of its own in each block
        for rows in row_blocks(X.shape[0], step):
            out[rows] = self.leaves(_single(self.placement(finite_rows(X[rows], rows.start))))
        return out


def plan_local(
    X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, n_rows: int, *, metric: bool = True
) -> LocalPlan:
    """Standardize columns, learn a metric, and find the coarse splits, from a sample of all rows.

    Parameters
    ----------
    X : ndarray of shape (n_sampled, n_features)
        Raw rows, finite, in the order of their numbers.
    targets : ndarray of shape (n_sampled, n_outputs)
    weight : ndarray of shape (n_sampled,) or None
    n_rows : int
        Of all rows.
    metric : bool, default=True
        Whether to try a learned metric.

    Returns
    -------
    LocalPlan
    """
    present = slice(None) if weight is None else np.flatnonzero(weight > 0.0)
    X, targets, weight = X[present], targets[present], None if weight is None else weight[present]
    placement = scaled_columns("standard", ColumnSummary.of(X, weight))
    placed = placement(X)
    if metric:
        learned = learn_metric(merge_rows(placed, targets, weight))
    else:
        learned = LearnedMetric("none", None, np.full(X.shape[1], 1.0 / X.shape[1]), ())
    if learned.directions is not None:
        placement = placement.followed_by(learned.directions)
        placed = placement(X)
    leaf_rows = leaf_rows_for(n_rows)
    return LocalPlan(placement, learned, coarse_tree(_single(placed), n_rows, leaf_rows=leaf_rows), leaf_rows)


def placed_block(
    plan: LocalPlan, trend: LeftOutModel | None, X: Any, targets: np.ndarray, weight: np.ndarray | None, *, start: int
) -> LeafRows:
    """Rows as leaves learn from them.

    Parameters
    ----------
    plan : LocalPlan
    trend : LeftOutModel or None
        The global model.
    X : ndarray of shape (n_rows, n_features)
        Raw rows.
    targets : ndarray of shape (n_rows, n_outputs)
    weight : ndarray of shape (n_rows,) or None
    start : int
        Number of the first row, for an error message.

    Returns
    -------
    LeafRows
    """
    X = finite_rows(X, start)
    without = None if trend is None else trend(X, targets, weight).astype(np.float32)
    return LeafRows(_single(plan.placement(X)), targets.astype(np.float32), without, weight)


def fit_local(
    plan: LocalPlan,
    trend: LeftOutModel | None,
    X: Any,
    targets: Any,
    weight: np.ndarray | None,
    *,
    report: Report | None = None,
) -> LocalPart:
    """Deal the rows of a matrix to leaves and solve them.

    Parameters
    ----------
    plan : LocalPlan
    trend : LeftOutModel or None
    X : ndarray or memory map of shape (n_rows, n_features)
    targets : callable
        From a slice of rows to their targets, an ndarray of shape (n_rows, n_outputs).
    weight : ndarray of shape (n_rows,) or None
    report : callable, default=None
        Called with the number of parts of the tree done, and of all.

    Returns
    -------
    LocalPart
    """
    dealt = DealtRows(plan.tree)
    for rows in row_blocks(X.shape[0], _ROWS_AT_A_TIME):
        w = None if weight is None else weight[rows]
        dealt.add(placed_block(plan, trend, X[rows], targets(rows), w, start=rows.start))
    return local_part(plan, fit_leaves(plan.tree, dealt.rows, leaf_rows=plan.leaf_rows, done=dealt.drop, report=report))


def local_part(plan: LocalPlan, fit: LeafFit) -> LocalPart:
    """What is kept of a fit.

    Parameters
    ----------
    plan : LocalPlan
    fit : LeafFit

    Returns
    -------
    LocalPart
    """
    return LocalPart(plan.placement, fit.model, fit.choice.part, fit.choice.settings.lam, plan.metric)


def _single(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float32, copy=False)
