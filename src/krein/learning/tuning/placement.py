"""Where a kernel sees a row: columns shifted and scaled, rows lifted to the sphere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from krein._core.checks import frozen_array, one_of
from krein._core.rows import unit_rows
from krein.rows.columns import ColumnSummary

__all__ = ["SCALINGS", "NormalScores", "Placement", "normal_scores", "scaled_columns"]

SCALINGS = ("standard", "minmax", "none")
_ROUNDED = 4.0 * np.finfo(np.float64).eps  # of a column's largest value: what rounding cannot tell from a constant
_DOWN = 2.0**-200  # takes any float to where sums and products of some are floats
_SMALLEST_SHARE = 1e-300  # of the rows
_KNOTS = 257  # of a column: a step between scores is then 1/30 of a standard deviation


@final
@dataclass(frozen=True, eq=False)
class NormalScores:
    r"""A broken line for each column: each value becomes the normal quantile of the share of rows below it.

    .. math:: x \mapsto \Phi^{-1}\bigl(P(X < x) + \tfrac12 P(X = x)\bigr)

    linear between knots, constant beyond the least and the greatest value seen. Tails of any length come to the same: what is left
    of a column is its order.

    Parameters
    ----------
    knots : ndarray of shape (n_features, n_knots)
        Values of each column, ascending; a column of fewer knots repeats its last.
    scores : ndarray of shape (n_features, n_knots)
        What they become, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.tuning.placement import normal_scores
    >>> X = np.array([[1.0], [10.0], [100.0]])
    >>> normal_scores(X)(X).round(2)
    array([[-0.97],
           [ 0.  ],
           [ 0.97]])
    """

    knots: np.ndarray
    scores: np.ndarray

    def __post_init__(self) -> None:
        for name in ("knots", "scores"):
            object.__setattr__(self, name, frozen_array(getattr(self, name), name, (None, None)))
        if self.knots.shape != self.scores.shape or not self.knots.shape[1]:
            raise ValueError(f"knots of shape {self.knots.shape} cannot have scores of shape {self.scores.shape}")
        if (np.diff(self.knots, axis=1) < 0.0).any() or (np.diff(self.scores, axis=1) < 0.0).any():
            raise ValueError("knots and their scores must ascend in each column")

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Scores of rows, shape (n_rows, n_features), float64."""
        out = np.empty(X.shape)
        for column, (knots, scores) in enumerate(zip(self.knots, self.scores, strict=True)):
            out[:, column] = np.interp(X[:, column], knots, scores)
        return out


def normal_scores(X: np.ndarray, weight: np.ndarray | None = None) -> NormalScores:
    """The scores of some rows' columns."""
    share = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
    lines = [_line(column, share) for column in X.T.astype(np.float64)]
    longest = max(line.shape[1] for line in lines)
    padded = np.stack([np.pad(line, ((0, 0), (0, longest - line.shape[1])), mode="edge") for line in lines])
    return NormalScores(padded[:, 0], padded[:, 1])


def _line(column: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Knots and scores of one column, shape (2, n_knots)."""
    values, group = np.unique(column, return_inverse=True)
    each = np.bincount(group, share)
    # a share may be so small that sums do not see it, and the last sum may be above 1 by rounding: no score is infinite
    scores = ndtri(np.clip(np.cumsum(each) - 0.5 * each, _SMALLEST_SHARE, 1.0 - np.finfo(np.float64).epsneg))
    if values.size > _KNOTS:
        wanted = np.searchsorted(scores, np.linspace(scores[0], scores[-1], _KNOTS))
        kept = np.unique(np.minimum(wanted, values.size - 1))
        values, scores = values[kept], scores[kept]
    return np.stack([values, scores])


@dataclass(frozen=True, eq=False)
class Placement:
    r"""Raw rows to the rows a kernel sees: :math:`(x - a) \odot s` or :math:`(x - a) P`, then perhaps onto the sphere.

    Columns may become normal scores before all that.

    Parameters
    ----------
    shift : ndarray of shape (n_features,), default=None
        :math:`a`; None shifts nothing, so that sparse rows stay sparse.
    scale : ndarray of shape (n_features,) or (n_features, n_directions), default=None
        :math:`s`, a factor for each column, or the matrix :math:`P` of directions. None leaves columns as they are.
    limits : pair of float, default=None
        Entries are cut to this interval.
    lift : float, default=None
        A constant column of this size is appended, and rows are brought to unit length.
    scores : NormalScores, default=None
        What replaces values by the normal quantiles of their ranks, first of all.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.tuning.placement import Placement
    >>> place = Placement(shift=[1.0, 0.0], scale=[1.0, 0.5], lift=1.0)
    >>> place(np.array([[1.0, 0.0], [1.0, 2.0]])).round(3)
    array([[0.   , 0.   , 1.   ],
           [0.   , 0.707, 0.707]])
    """

    shift: np.ndarray | None = None
    scale: np.ndarray | None = None
    limits: tuple[float, float] | None = None
    lift: float | None = None
    scores: NormalScores | None = None

    def __post_init__(self) -> None:
        if self.shift is not None:
            object.__setattr__(self, "shift", frozen_array(self.shift, "shift", (None,)))
        if self.scale is not None:
            shape = (None,) * max(1, np.ndim(self.scale))
            object.__setattr__(self, "scale", frozen_array(self.scale, "scale", shape))
            if self.scale.ndim > 2:
                raise ValueError(f"scale must be a vector or a matrix, got shape {self.scale.shape}")
            if self.shift is not None and self.shift.shape[0] != self.scale.shape[0]:
                raise ValueError(f"shift has {self.shift.shape[0]} columns and scale {self.scale.shape[0]}")
        if self.scores is not None and self.n_features != self.scores.knots.shape[0]:
            raise ValueError(f"scores of {self.scores.knots.shape[0]} columns cannot be placed as {self.n_features}")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(f"limits must be an interval, got {self.limits}")
        if self.lift is not None and not (np.isfinite(self.lift) and self.lift > 0.0):
            raise ValueError(f"lift must be positive, got {self.lift}; a row of zeros has no direction otherwise")

    @property
    def n_features(self) -> int | None:
        """Number of columns of a raw row; None if any number is allowed."""
        for part in (self.shift, self.scale):
            if part is not None:
                return int(part.shape[0])
        return None if self.scores is None else int(self.scores.knots.shape[0])

    def n_outputs(self, n_features: int) -> int:
        """Columns of a placed row."""
        turned = n_features if self.scale is None or self.scale.ndim == 1 else int(self.scale.shape[1])
        return turned + (self.lift is not None)

    def __call__(self, X: Any) -> Any:
        """Place rows."""
        dtype = X.dtype if X.dtype == np.float32 else np.float64
        rows = X
        if self.scores is not None:
            rows = self.scores(rows.toarray() if sp.issparse(rows) else rows)
        if self.shift is not None or self.scale is not None:
            rows = self._within_range(rows, dtype)
        if self.limits is not None:
            rows = np.clip(rows.toarray() if sp.issparse(rows) else rows, *self.limits)
        if self.lift is not None:
            constant = np.full((rows.shape[0], 1), self.lift)
            rows = sp.hstack([rows, constant], format="csr") if sp.issparse(rows) else np.hstack([rows, constant])
            rows = unit_rows(rows)
        return rows.astype(dtype, copy=False)

    def _within_range(self, rows: Any, dtype: Any) -> Any:
        """Shifted and scaled; entries so large that their squares would not be numbers of the type are cut."""
        largest = 0.25 * float(np.finfo(dtype).max) ** 0.5
        with np.errstate(over="ignore", invalid="ignore"):
            placed = self._moved(rows, 1.0)
        values = placed.data if sp.issparse(placed) else placed
        if values.size and not -largest < values.min() <= values.max() < largest:
            small = self._moved(rows.astype(np.float64) * _DOWN, _DOWN)
            far = ~(np.abs(values) < largest)
            values[far] = np.clip((small.data if sp.issparse(small) else small)[far] / _DOWN, -largest, largest)
        return placed

    def _moved(self, rows: Any, unit: float) -> Any:
        if self.shift is not None:
            rows = (rows.toarray() if sp.issparse(rows) else rows) - unit * self.shift
        if self.scale is not None and self.scale.ndim == 1:
            return rows.multiply(self.scale).tocsr() if sp.issparse(rows) else rows * self.scale
        return rows if self.scale is None else rows @ self.scale

    def lifted(self, lift: float | None) -> Placement:
        """The same with another constant column, or none."""
        return replace(self, lift=lift)

    def followed_by(self, directions: np.ndarray) -> Placement:
        """The same with placed columns scaled or turned once more, before the lift."""
        if self.limits is not None:
            raise ValueError("rows that were clipped to limits cannot be rotated afterwards; use scaling='standard'")
        directions = np.asarray(directions, dtype=np.float64)
        if self.scale is None:
            return replace(self, scale=directions)
        if self.scale.ndim == 1:
            return replace(self, scale=(self.scale * directions.T).T)
        return replace(self, scale=self.scale * directions if directions.ndim == 1 else self.scale @ directions)


def scaled_columns(scaling: str, columns: ColumnSummary | None) -> Placement:
    """Columns brought to one scale."""
    one_of(scaling, "scaling", SCALINGS)
    if columns is None or scaling == "none":
        return Placement()
    largest = np.maximum(np.abs(columns.least), np.abs(columns.greatest))
    with np.errstate(over="ignore"):
        width = columns.greatest - columns.least
    constant = ~(width > np.maximum(_ROUNDED * largest, np.finfo(np.float64).tiny))
    low = columns.least
    if scaling == "standard":
        # squares of a column of tiny or huge values may be zero or infinite where its values are not
        spread = np.where((columns.variance > 0.0) & np.isfinite(columns.variance), np.sqrt(columns.variance), width)
        low, width = columns.mean, spread
    factor = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, width))
    return Placement(low, factor, (0.0, 1.0) if scaling == "minmax" else None)
