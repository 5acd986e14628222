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
from krein.learning.single_gram import lower_gram, median_distance
from krein.learning.solve import RidgeFactor, ridge_factor
from krein.rows.equal import MergedRows

__all__ = ["LeafSettings", "LeftOutErrors", "SolvedLeaf", "solve_leaf"]

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
class LeftOutErrors:
    """Squared errors of a leaf at some of its distinct rows, each had it not been there.

    Parameters
    ----------
    squares, plain : ndarray of shape (n_scored, n_outputs)
        Means over the copies of a row; and those of zero.
    weight : ndarray of shape (n_scored,)
    left : ndarray of shape (n_scored,)
        The share of each that was left out.
    targets, residuals : ndarray of shape (n_scored, n_outputs)
        Means over the copies of a row, and what the rest of the leaf misses of them.
    """

    squares: np.ndarray
    plain: np.ndarray
    weight: np.ndarray
    left: np.ndarray
    targets: np.ndarray
    residuals: np.ndarray


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
    errors : LeftOutErrors
        At its last rows.
    """

    scale: float
    rows: np.ndarray
    dual: np.ndarray
    offset: np.ndarray
    errors: LeftOutErrors


def solve_leaf(rows: MergedRows, settings: LeafSettings, scored: int, *, alone: bool = False) -> SolvedLeaf:
    """Fit a leaf, and leave each of some last rows out. Threads share the work on a leaf that is alone."""
    scale, tail = settings.scale(rows.X), slice(-min(scored, len(rows)), None)
    weight, left = rows.weight[tail], rows.left_out[tail] / rows.weight[tail]
    scatter = rows.scatter[tail] / weight[:, None]
    offset = np.average(rows.Y, axis=0, weights=rows.weight)
    if not (rows.Y - rows.Y[0]).any():  # one class, one value or one row: the constant is exact
        dual, offset = np.zeros(rows.Y.shape, dtype=np.float32), rows.Y[0]
        squares, missed = scatter, np.zeros(rows.Y[tail].shape)
    else:
        ridge = _ridge(rows.weight, settings.lam)
        factor = _factorized(settings.kernel.scaled(scale), rows.X, ridge, alone=alone)
        dual = factor.solve(rows.Y - offset)
        free = (1.0 - left) + left * ridge[tail] * factor.inverse_diagonal(weight.size)
        missed = ridge[tail, None] * dual[tail]
        squares = (np.square(missed) + scatter) / np.square(free)[:, None]
        missed = missed / free[:, None]
    errors = LeftOutErrors(squares, np.square(rows.Y[tail]) + scatter, weight, left, rows.Y[tail], missed)
    return SolvedLeaf(scale, rows.X, dual, offset, errors)


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
