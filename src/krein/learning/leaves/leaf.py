r"""Exact ridge on the rows of one leaf.

.. math:: \alpha = (K + n\lambda W^{-1})^{-1} (r - \bar r), \qquad n = m\, \mathrm{median}(w)

by Cholesky, all outputs at once, where m is the number of distinct rows: that is the sum of equal weights. A sum would let a row of
many copies raise the regularization of all others in its leaf, though leaves share λ.

In exact arithmetic no pivot of a positive definite kernel's matrix is below
:math:`\min_i n\lambda/w_i`; where rounding in single precision has eaten half of that, the leaf is solved in double precision, and
where that does not help either, :math:`\lambda` grows tenfold until it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.errors import SingularSystemError
from krein.kernels import Kernel
from krein.learning.leave_one_out import factor_residuals
from krein.learning.single_gram import lower_gram, median_distance
from krein.learning.solve import RidgeFactor, ridge_factor
from krein.rows.equal import MergedRows, merge_rows

__all__ = ["LeafSettings", "LeftOutErrors", "SolvedLeaf", "leave_one_out", "solve_leaf"]

_MOST_TENFOLDS = 16  # of λ: from 1e-16 to 1, where K + nλ is definite whatever the bounded kernel


@final
@dataclass(frozen=True)
class LeafSettings:
    """What all leaves share.

    Parameters
    ----------
    kernel : Kernel
        Of length scale 1, positive definite.
    factor : float
        A leaf's length scale is this times the median distance of its distinct rows.
    lam : float
        λ, per distinct row of the leaf; where it is infinite a leaf adds nothing to the global model.
    """

    kernel: Kernel
    factor: float
    lam: float

    def scale(self, X: np.ndarray) -> float:
        """The length scale for some rows."""
        return self.factor * median_distance(X)


@final
@dataclass(frozen=True, eq=False)
class SolvedLeaf:
    r"""The function of a leaf, :math:`k(x, X)\alpha + b`.

    Parameters
    ----------
    scale : float
        Length scale of the kernel.
    rows : ndarray of shape (n_distinct, n_features)
    dual : ndarray of shape (n_distinct, n_outputs)
        float32, or float64 where single precision did not do.
    offset : ndarray of shape (n_outputs,)
    """

    scale: float
    rows: np.ndarray
    dual: np.ndarray
    offset: np.ndarray


def solve_leaf(
    X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, settings: LeafSettings, *, alone: bool = False
) -> SolvedLeaf:
    """Fit a leaf. Equal rows become one, with their total weight and the mean of their targets, which is the same problem.

    Threads share the work on a leaf that is alone.
    """
    rows = merge_rows(X, targets, weight, in_order=True)
    X, targets, scale = rows.X, rows.Y, settings.scale(rows.X)
    if not np.isfinite(settings.lam):
        nothing = np.zeros((1, targets.shape[1]))
        return SolvedLeaf(scale, X[:1], nothing.astype(np.float32), nothing[0])
    if (targets == targets[0]).all():  # one class, one value or one row: the constant is exact
        return SolvedLeaf(scale, X, np.zeros(targets.shape, dtype=np.float32), targets[0])
    offset = np.average(targets, axis=0, weights=rows.weight)
    factor = _factorized(settings.kernel.scaled(scale), X, _ridge(rows.weight, settings.lam), alone=alone)
    return SolvedLeaf(scale, X, factor.solve(targets - offset), offset)


@final
@dataclass(frozen=True, eq=False)
class LeftOutErrors:
    """Squared errors of a leaf at some of its distinct rows, each had it not been there.

    Parameters
    ----------
    squares : ndarray of shape (n_scored, n_outputs)
        Means over the copies of a row.
    weight : ndarray of shape (n_scored,)
    left : ndarray of shape (n_scored,)
        The share of each that was left out.
    """

    squares: np.ndarray
    weight: np.ndarray
    left: np.ndarray


def leave_one_out(rows: MergedRows, settings: LeafSettings | None, count: int | None = None) -> LeftOutErrors:
    """Squared leave-one-out residuals of a leaf, at its last rows; without settings those of a leaf that adds nothing."""
    count = len(rows) if count is None else min(count, len(rows))
    tail = slice(len(rows) - count, None)
    weight, left = rows.weight[tail], rows.left_out[tail] / rows.weight[tail]
    scatter = rows.scatter[tail] / weight[:, None]
    if settings is None:
        return LeftOutErrors(np.square(rows.Y[tail]) + scatter, weight, left)
    ridge = _ridge(rows.weight, settings.lam)
    factor = _factorized(settings.kernel.scaled(settings.scale(rows.X)), rows.X, ridge)
    rest = rows.Y - np.average(rows.Y, axis=0, weights=rows.weight)
    residual, free = factor_residuals(factor, ridge, rest, rows.left_out / rows.weight, count, intercept=False)
    return LeftOutErrors((np.square(residual) + scatter) / np.square(free)[:, None], weight, left)


def _ridge(weight: np.ndarray, lam: float) -> np.ndarray:
    """What is added to the diagonal."""
    return np.asarray(weight.size * np.median(weight) * lam / weight)


def _factorized(kernel: Kernel, X: np.ndarray, ridge: np.ndarray, *, alone: bool = False) -> RidgeFactor:
    for dtype, tenfolds in [(np.float32, 0), *((np.float64, i) for i in range(_MOST_TENFOLDS + 1))]:
        gram = lower_gram(kernel, X.astype(dtype, copy=False))
        factor = ridge_factor(gram, ridge * 10.0**tenfolds, overwrite=True, pieces=alone)
        if factor is not None:
            return factor
    raise SingularSystemError(
        f"the kernel matrix of a leaf of {X.shape[0]} rows is not positive definite with {kernel!r} at any λ; use a positive "
        "definite kernel, or solver='features'"
    )
