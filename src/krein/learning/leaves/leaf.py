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
from scipy.linalg import lapack

from krein._core.errors import SingularSystemError
from krein.kernels import Kernel
from krein.learning.leaves.equal_rows import MergedLeaf, merge_equal
from krein.learning.leaves.gram import lower_gram, median_distance

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


def solve_leaf(X: np.ndarray, targets: np.ndarray, weight: np.ndarray | None, settings: LeafSettings) -> SolvedLeaf:
    """Fit a leaf. Equal rows become one, with their total weight and the mean of their targets, which is the same problem."""
    merged = merge_equal(X, targets, weight)
    X, targets, weight = merged.X, merged.means, merged.weight
    scale = settings.scale(X)
    if not np.isfinite(settings.lam):
        nothing = np.zeros((1, targets.shape[1]))
        return SolvedLeaf(scale, X[:1], nothing.astype(np.float32), nothing[0])
    offset = np.average(targets, axis=0, weights=weight)
    if (targets == targets[0]).all():  # one class, one value or one row: the constant is exact
        return SolvedLeaf(scale, X, np.zeros(targets.shape, dtype=np.float32), targets[0].astype(np.float64))
    factor = _factorized(settings.kernel.scaled(scale), X, _ridge(weight, X.shape[0], settings.lam))
    potrs = lapack.spotrs if factor.dtype == np.float32 else lapack.dpotrs
    dual, _ = potrs(factor, np.asfortranarray(targets - offset, dtype=factor.dtype))
    return SolvedLeaf(scale, X, np.ascontiguousarray(dual), offset)


@final
@dataclass(frozen=True, eq=False)
class LeftOutErrors:
    """Squared errors of a leaf at its distinct rows, each had it not been there.

    Parameters
    ----------
    squares : ndarray of shape (n_distinct, n_outputs)
        Means over the copies of a row.
    weight : ndarray of shape (n_distinct,)
    left : ndarray of shape (n_distinct,)
        The share of each that was left out: one copy where weights are whole numbers, else all of it.
    """

    squares: np.ndarray
    weight: np.ndarray
    left: np.ndarray


def leave_one_out(leaf: MergedLeaf, settings: LeafSettings | None) -> LeftOutErrors:
    r"""Squared leave-one-out residuals of a leaf.

    .. math:: r_i = \frac{\mu_i \alpha_i}{1 - s_i (1 - \mu_i A_{ii})}, \qquad \mu_i = \frac{n\lambda}{w_i}, \quad
              A = (K + \mathrm{diag}\,\mu)^{-1}

    where :math:`s_i` is the share of the row that is left out: one copy where weights are whole numbers, else all of it.
    """
    X, means, total, scatter = leaf.X, leaf.means, leaf.weight, leaf.scatter
    rest = means - np.average(means, axis=0, weights=total)
    w = np.ones(X.shape[0]) if total is None else total
    left = 1.0 / w if leaf.counts else np.ones(w.size)
    if settings is None:
        return LeftOutErrors(np.square(means) + scatter / w[:, None], w, left)
    ridge = _ridge(total, X.shape[0], settings.lam)
    factor = _factorized(settings.kernel.scaled(settings.scale(X)), X, ridge)
    single = factor.dtype == np.float32
    dual, _ = (lapack.spotrs if single else lapack.dpotrs)(factor, np.asfortranarray(rest, dtype=factor.dtype))
    inverse, _ = (lapack.spotri if single else lapack.dpotri)(factor, overwrite_c=1)
    kept = ridge * np.diagonal(inverse).astype(np.float64)  # 1 − h
    squares = np.square(ridge[:, None] * dual.astype(np.float64)) + scatter / w[:, None]
    return LeftOutErrors(squares / np.square(1.0 - left * (1.0 - kept))[:, None], w, left)


def _ridge(weight: np.ndarray | None, n_rows: int, lam: float) -> np.ndarray:
    """What is added to the diagonal."""
    if weight is None:
        return np.full(n_rows, n_rows * lam)
    return np.asarray(n_rows * np.median(weight) * lam / weight)


def _factorized(kernel: Kernel, X: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """The Cholesky factor, upper in Fortran's order."""
    for dtype in (np.float32, np.float64):
        factor = _cholesky(kernel, X.astype(dtype, copy=False), ridge)
        if factor is not None:
            return factor
    for tenfolds in range(1, _MOST_TENFOLDS + 1):
        factor = _cholesky(kernel, X.astype(np.float64, copy=False), ridge * 10.0**tenfolds)
        if factor is not None:
            return factor
    raise SingularSystemError(
        f"the kernel matrix of a leaf of {X.shape[0]} rows is not positive definite with {kernel!r} at any λ; use a positive "
        "definite kernel, or solver='features'"
    )


def _cholesky(kernel: Kernel, X: np.ndarray, ridge: np.ndarray) -> np.ndarray | None:
    """The factor, or None where rounding or a negative eigenvalue has eaten half of the ridge."""
    gram = lower_gram(kernel, X)
    diagonal = gram.reshape(-1)[:: gram.shape[0] + 1]
    diagonal += ridge.astype(gram.dtype)
    potrf = lapack.spotrf if gram.dtype == np.float32 else lapack.dpotrf
    # the lower triangle of a matrix in C's order is the upper one of its transpose in Fortran's
    factor, failed = potrf(gram.T, lower=0, clean=0, overwrite_a=1)
    if failed or not bool((np.square(np.diagonal(factor), dtype=np.float64) >= 0.5 * ridge.min()).all()):
        return None
    return np.asarray(factor)
