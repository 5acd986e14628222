"""The sums over rows that every ridge problem here needs, and nothing else of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from krein._core.threads import blas_threads

__all__ = ["CentredSums", "NormalSums"]


@dataclass(frozen=True, eq=False)
class CentredSums:
    """Weighted least squares in five numbers per pair of columns, about the means if there is an intercept.

    Parameters
    ----------
    gram : ndarray of shape (n_components, n_components)
        Σ w (z − z̄)(z − z̄)ᵀ.
    cross : ndarray of shape (n_components, n_targets)
        Σ w (z − z̄)(y − ȳ)ᵀ.
    square : ndarray of shape (n_targets,)
        Σ w (y − ȳ)².
    weight : float
        Σ w.
    effective_rows : float
        Σ w where all weights are whole numbers, the number of rows of positive weight otherwise.
    counts : bool
        Whether all weights are whole numbers: a row of weight 3 is then three rows.
    mean : ndarray of shape (n_components,)
    y_mean : ndarray of shape (n_targets,)
        What z̄ and ȳ are: the weighted means, or without an intercept zero and the fixed shift of the targets.
    intercept : bool
        Whether the sums are about the means.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: np.ndarray
    weight: float
    effective_rows: float
    counts: bool
    mean: np.ndarray
    y_mean: np.ndarray
    intercept: bool


class NormalSums:
    r"""Running sums of a stream of rows: one matrix :math:`\sum_i w_i\, u_i u_i^\top` with :math:`u = (z - c,\ 1,\ y - e)`.

    The shift :math:`(c, e)` is fixed at the start. Any shift gives the same solution; one near the mean keeps the digits
    that the later subtraction of the exact mean would cancel. Everything a ridge problem needs is a block of the matrix:
    the Gram matrix of the features, their products with the targets, the totals and the weight. One symmetric rank-n
    update per block of rows fills it, in float64 whatever the dtype of the features.

    Parameters
    ----------
    shift : array of shape (n_components,)
        Zero for a model without intercept.
    y_shift : array of shape (n_targets,)
    new_shift : float, default=0.0
        Shift of targets that appear later, see `widen`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import NormalSums
    >>> Z = np.random.default_rng(0).normal(size=(50, 3))
    >>> y = Z @ [[1.0], [2.0], [3.0]] + 5
    >>> left, right = NormalSums(Z[0], y[0]), NormalSums(Z[0], y[0])
    >>> left.add(Z[:20], y[:20]); right.add(Z[20:], y[20:]); left.merge(right)
    >>> s = left.centred()
    >>> np.linalg.solve(s.gram, s.cross).ravel().round(6)
    array([1., 2., 3.])
    """

    def __init__(self, shift: np.ndarray, y_shift: np.ndarray, new_shift: float = 0.0) -> None:
        self.shift = np.array(shift, dtype=np.float64)
        self.y_shift = np.array(y_shift, dtype=np.float64)
        self.new_shift = new_shift
        self.rows = 0
        self.counts = True
        size = self.shift.shape[0] + 1 + self.y_shift.shape[0]
        self._sums = np.zeros((size, size), order="F")  # upper triangle only, as syrk writes it
        self._block = np.empty((0, size))

    @property
    def n_targets(self) -> int:
        return self.y_shift.shape[0]

    @property
    def weight(self) -> float:
        """Σ w."""
        one = self.shift.shape[0]
        return float(self._sums[one, one])

    def add(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add a block of rows.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_components), float32 or float64
            Products of float32 features are formed in float64: their rounding would drown λ below 1e-8 otherwise.
        Y : ndarray of shape (n_rows, n_targets)
        weight : ndarray of shape (n_rows,), default=None
            Non-negative.
        """
        n, width = Z.shape
        if not n:
            return
        if self._block.shape[0] < n or self._block.shape[1] != self._sums.shape[0]:
            # kept from block to block: fresh memory of this size costs as much as the subtraction
            self._block = np.empty((n, self._sums.shape[0]))
        U = self._block[:n]
        np.subtract(Z, self.shift, out=U[:, :width])
        U[:, width] = 1.0
        np.subtract(Y, self.y_shift, out=U[:, width + 1 :])
        if weight is None:
            self.rows += n
        else:
            weight = np.asarray(weight, dtype=np.float64)
            self.rows += int(np.count_nonzero(weight))
            self.counts &= bool((weight == np.floor(weight)).all())
            U *= np.sqrt(weight)[:, None]
        # half the work of a general product, added in place: no second D × D matrix
        with blas_threads(0.5 * n * self._sums.size):
            self._sums = blas.dsyrk(1.0, U.T, beta=1.0, c=self._sums, overwrite_c=1)

    def merge(self, other: NormalSums) -> None:
        """Add the sums of other rows about the same shift."""
        if other.n_targets < self.n_targets:
            other = other.copy()
            other.widen(self.n_targets)
        self.widen(other.n_targets)
        self.rows += other.rows
        self.counts &= other.counts
        self._sums += other._sums

    def widen(self, n_targets: int) -> None:
        """Make room for targets that were zero on all rows so far, such as the indicator of a class not yet seen."""
        new = n_targets - self.n_targets
        if new <= 0:
            return
        old, one = self._sums.shape[0], self.shift.shape[0]
        wider = np.zeros((old + new, old + new), order="F")
        wider[:old, :old] = self._sums
        # a target that was zero is the constant −shift so far: its products are those of the column of ones
        ones = np.concatenate([self._sums[: one + 1, one], self._sums[one, one + 1 :]])
        wider[:old, old:] = -self.new_shift * ones[:, None]
        wider[old:, old:] = self.new_shift**2 * self.weight
        self._sums = wider
        self.y_shift = np.concatenate([self.y_shift, np.full(new, self.new_shift)])

    def copy(self) -> NormalSums:
        """Sums that can be added to without touching these."""
        twin = NormalSums(self.shift, self.y_shift, self.new_shift)
        twin.merge(self)
        return twin

    def centred(self, *, intercept: bool = True) -> CentredSums:
        """The sums about the weighted means, or as they are if there is no intercept (`shift` must then be zero)."""
        one, weight = self.shift.shape[0], self.weight
        gram = np.triu(self._sums[:one, :one])
        gram += np.triu(gram, 1).T
        cross = self._sums[:one, one + 1 :].copy()
        square = np.diagonal(self._sums)[one + 1 :].copy()
        common = (weight, weight if self.counts else float(self.rows), self.counts)
        if not intercept:
            if self.shift.any():
                raise ValueError("sums about a shift cannot serve a model without intercept; start them with shift 0")
            means = self.shift.copy(), self.y_shift.copy()
            return CentredSums(gram, cross, square, *common, *means, intercept=False)
        drift, y_drift = self._sums[:one, one] / weight, self._sums[one, one + 1 :] / weight
        gram -= weight * np.multiply.outer(drift, drift)
        cross -= weight * np.multiply.outer(drift, y_drift)
        square = np.maximum(square - weight * y_drift**2, 0.0)
        return CentredSums(gram, cross, square, *common, self.shift + drift, self.y_shift + y_drift, intercept=True)

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_block": np.empty((0, 0))}  # room to work in is not worth sending to another machine
