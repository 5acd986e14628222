r"""Columns by their ranks: each value becomes the normal quantile of the share of rows below it.

.. math:: x \mapsto \Phi^{-1}\bigl(P(X < x) + \tfrac12 P(X = x)\bigr)

linear between knots, constant beyond the least and the greatest value seen. Tails of any length come to the same: what is left
of a column is its order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtri

from krein._core.checks import frozen_array

__all__ = ["NormalScores", "normal_scores"]

_KNOTS = 257  # of a column: a step between scores is then 1/30 of a standard deviation


@final
@dataclass(frozen=True, eq=False)
class NormalScores:
    """A broken line for each column.

    Parameters
    ----------
    knots : ndarray of shape (n_features, n_knots)
        Values of each column, ascending; a column of fewer knots repeats its last.
    scores : ndarray of shape (n_features, n_knots)
        What they become, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning.tuning.normal_scores import normal_scores
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
    # the last sum may be above 1 by rounding, half of the last share below it never is
    scores = ndtri(np.cumsum(each) - 0.5 * each)
    if values.size > _KNOTS:
        wanted = np.searchsorted(scores, np.linspace(scores[0], scores[-1], _KNOTS))
        kept = np.unique(np.minimum(wanted, values.size - 1))
        values, scores = values[kept], scores[kept]
    return np.stack([values, scores])
