"""A tree of exact leaves over a global model: where rows are placed, the tree they fall through, what leaves add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from krein._core.checks import real
from krein._core.rows import row_blocks
from krein.learning.leave_one_out import LeftOutModel
from krein.learning.leaves.choice import LeafRows
from krein.learning.leaves.dealt_rows import DealtRows
from krein.learning.leaves.fit import Report, coarse_tree, fit_leaves, leaf_rows_for
from krein.learning.leaves.model import LeafModel
from krein.learning.leaves.splits import SplitTree
from krein.learning.link import LeftOut
from krein.learning.metric import LearnedMetric, placed_metric
from krein.learning.model import Model
from krein.learning.tuning.placement import Placement, normal_scores, scaled_columns
from krein.rows.columns import ColumnSummary
from krein.rows.equal import merge_rows
from krein.rows.source import RowSource
from krein.rows.targets import Targets
from krein.show.progress import report as told

__all__ = ["LocalModel", "LocalPart", "LocalPlan", "LocalTask", "fit_local", "plan_local"]

_ROWS_AT_A_TIME = 2**14
# Steps of the trend that leaves learn from, in units of the targets: about what single precision leaves of their predictions. Sums
# of rows in another order move a trend by some 1e-12, so hardly one in a million crosses a step, and all leaves are the same.
_STEP = 2.0**-18
_FARTHEST = 1e15  # in units of a column's spread


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
    center, unit : ndarray of shape (n_outputs,)
        Leaves learn targets less the center, in these units: several targets count alike, and none loses digits in single
        precision.
    """

    placement: Placement
    metric: LearnedMetric
    tree: SplitTree
    leaf_rows: int
    center: np.ndarray
    unit: np.ndarray


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
        λ of the leaves, infinite where they add nothing.
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

    @property
    def width(self) -> int:
        """Number of outputs."""
        return int(self.leaves.offsets.shape[1])

    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> LocalPart:
        """What is added to the global model when outputs become ``f(x) @ weights + constant``, its own as well."""
        return replace(self, leaves=self.leaves.combined(weights, (1.0 - self.part) * np.asarray(constant)))

    def __call__(self, X: Any) -> np.ndarray:
        """Values of the leaves at finite rows, shape (n_rows, n_outputs), float64."""
        return self.leaves(_single(self.placement(X)))


@final
@dataclass(frozen=True, eq=False)
class LocalTask:
    """From raw rows and targets to what leaves learn from; it can be sent to workers.

    Parameters
    ----------
    plan : LocalPlan
    trend : LeftOutModel
        The global model.
    targets : Targets
    """

    plan: LocalPlan
    trend: LeftOutModel
    targets: Targets

    def __call__(self, start: int, X: Any, y: np.ndarray, weight: np.ndarray | None) -> LeafRows:
        """Placed rows with targets and trend, in single precision, the trend in steps of :math:`2^{-18}`."""
        plan, targets = self.plan, self.targets
        columns, weight = targets.columns(targets.encode(y)), targets.weigh(y, weight)
        trend = self.trend(X, columns, weight)
        columns, trend = ((values - plan.center) / plan.unit for values in (columns, trend))
        stepped = np.rint(trend / _STEP) * _STEP
        return LeafRows(_single(plan.placement(X)), _single(columns), _single(stepped), weight)


def plan_local(
    X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, n_rows: int, *, numbers: bool = True
) -> LocalPlan:
    """Bring columns to one scale, learn a metric, and find the coarse splits, from a sample of all rows.

    Columns are standardized, or become normal scores first where that is better on rows that had no part in it.
    """
    present = slice(None) if weight is None else np.flatnonzero(weight > 0.0)
    X, targets, weight = X[present], targets[present], None if weight is None else weight[present]
    center, unit = np.zeros(targets.shape[1]), np.ones(targets.shape[1])
    if numbers:
        center = np.average(targets, axis=0, weights=weight)
        spread = np.sqrt(np.average(np.square(targets - center), axis=0, weights=weight))
        unit = np.where(spread > 0.0, spread, 1.0)
    rows = merge_rows(X, (targets - center) / unit, weight)
    scores = normal_scores(X, weight)
    standard = scaled_columns("standard", ColumnSummary.of(X, weight))
    ranked = replace(scaled_columns("standard", ColumnSummary.of(scores(X), weight)), scores=scores)
    placement, metric = placed_metric(rows, (standard, ranked))
    if metric.directions is not None:
        placement = placement.followed_by(metric.directions)
    leaf_rows = leaf_rows_for(n_rows)
    tree = coarse_tree(_single(placement(X)), n_rows, leaf_rows=leaf_rows)
    return LocalPlan(placement, metric, tree, leaf_rows, center, unit)


def fit_local(task: LocalTask, rows: RowSource, *, report: Report | None = None) -> tuple[LocalPart, LeftOut]:
    """Deal rows to leaves and solve them; what is kept, and what is said of some rows without them, in the units of the targets."""
    plan, report = task.plan, report or partial(told, "parts")
    parts = rows.deal(DealtRows(plan.tree, task))
    fit = fit_leaves(parts, plan.tree, leaf_rows=plan.leaf_rows, report=report)
    found = LocalPart(plan.placement, fit.model, fit.choice.part, fit.choice.settings.lam, plan.metric)
    values, targets = (part * plan.unit + plan.center for part in (fit.left_out.values, fit.left_out.targets))
    return found.combined(np.diag(plan.unit), plan.center), LeftOut(values, targets, fit.left_out.weight)


@final
@dataclass(frozen=True, eq=False)
class LocalModel(Model):
    """A part of a global model, and what leaves add to it.

    Parameters
    ----------
    trend : Model
    local : LocalPart
    """

    trend: Model
    local: LocalPart

    @property
    def width(self) -> int:
        return self.local.width

    @property
    def constant(self) -> np.ndarray:
        return self.trend.constant

    @property
    def block_rows(self) -> int:
        # so that a leaf finds some rows of its own in each block
        return max(_ROWS_AT_A_TIME, 256 * self.local.leaves.n_leaves)

    def values(self, X: Any) -> np.ndarray:
        out = self.local(X)
        if self.local.part:
            for rows in row_blocks(X.shape[0], self.trend.block_rows):
                out[rows] += self.local.part * self.trend.values(X[rows])
        return out

    def combined(self, weights: np.ndarray, constant: np.ndarray | float = 0.0) -> LocalModel:
        return LocalModel(self.trend.combined(weights, constant), self.local.combined(weights, constant))

    def check(self, n_features: int | None) -> None:
        self.trend.check(n_features)
        local = self.local
        if n_features is None or (local.width, local.metric.importances.size, local.leaves.rows.shape[1]) != (
            self.trend.width,
            n_features,
            local.placement.n_outputs(n_features),
        ):
            raise ValueError("the leaves do not fit the number of columns or of outputs")


def _single(X: np.ndarray) -> np.ndarray:
    """In single precision, entries cut to what has a square there: farther away every kernel of a leaf is zero."""
    return np.asarray(np.clip(X, -_FARTHEST, _FARTHEST), dtype=np.float32)
