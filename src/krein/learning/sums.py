"""The sums over rows that a model needs, and nothing else of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from krein._core.rows import row_blocks
from krein._core.threads import blas_threads

__all__ = ["CenteredSums", "NormalSums"]

# Rows that are shifted at a time. All at once would be a second matrix of features, in fresh memory, which now and then takes the
# system ten times as long to find as the subtraction itself.
_BLOCK_ROWS = 2048
_SHIFT_ROWS = 1024  # rows whose mean serves as the shift of the sums: near the mean is near enough


@dataclass(frozen=True, eq=False)
class CenteredSums:
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
        What z̄ is: the weighted mean, or zero without an intercept.
    y_mean : ndarray of shape (n_targets,)
        What ȳ is: the weighted mean, or the fixed shift of the targets without an intercept.
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

    @classmethod
    def of(cls, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray, *, intercept: bool = True) -> CenteredSums:
        """Of features that are all there."""
        sums = NormalSums(None if intercept else np.zeros(Z.shape[1]), Y[0] if intercept else np.zeros(Y.shape[1]))
        sums.add(Z, Y, weight)
        return sums.centered(intercept=intercept)


class NormalSums:
    r"""Running sums of a stream of rows: one matrix :math:`\sum_i w_i\, u_i u_i^\top` with :math:`u = (z - c,\ 1,\ y - e)`.

    Everything a ridge problem needs is a block of the matrix: the Gram matrix of the features, their products with the
    targets, the totals and the weight. One symmetric rank-n update per block of rows fills its upper triangle, in float64 whatever
    the dtype of the features. The shift :math:`(c, e)` is fixed at the start; any gives the same result, and one near the mean
    keeps the digits that the later subtraction of the exact mean would cancel. Sums about different shifts are brought to one.

    Parameters
    ----------
    shift : array of shape (n_components,) or None, default=None
        Zero for sums that are not to be centered. None: the mean of the first rows that come.
    y_shift : ndarray of shape (n_targets,), default=()
        Empty for features without targets.
    late_shift : float, default=0.0
        Shift of targets that appear later, see `widen`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import NormalSums
    >>> Z = np.random.default_rng(0).normal(size=(50, 3))
    >>> y = Z @ [[1.0], [2.0], [3.0]] + 5
    >>> left, right = NormalSums(Z[0], y[0]), NormalSums(Z[0], y[0])
    >>> left.add(Z[:20], y[:20]); right.add(Z[20:], y[20:]); left.merge(right)
    >>> s = left.centered()
    >>> np.linalg.solve(s.gram, s.cross).ravel().round(6)
    array([1., 2., 3.])
    """

    def __init__(
        self, shift: np.ndarray | None = None, y_shift: np.ndarray | tuple[()] = (), late_shift: float = 0.0
    ) -> None:
        self.shift = None if shift is None else np.array(shift, dtype=np.float64)
        self.y_shift = np.array(y_shift, dtype=np.float64)
        self.late_shift = late_shift
        self.rows = 0  # of positive weight
        self.counts = True  # whether all weights are whole numbers
        self._matrix: np.ndarray | None = None
        self._block = np.empty((0, 0))

    @property
    def n_targets(self) -> int:
        """Number of targets so far."""
        return int(self.y_shift.shape[0])

    @property
    def weight(self) -> float:
        """Σ w."""
        return 0.0 if self._matrix is None else float(self._matrix[self._one, self._one])

    @property
    def _one(self) -> int:
        """The column of ones."""
        return int(self._known_shift().shape[0])

    def _known_shift(self) -> np.ndarray:
        if self.shift is None:
            raise ValueError("there are no sums yet: no row of positive weight has come")
        return self.shift

    def _opened(self) -> np.ndarray:
        if self._matrix is None:
            size = self._one + 1 + self.n_targets
            self._matrix = np.zeros((size, size), order="F")
        return self._matrix

    def start_at(self, Z: np.ndarray) -> None:
        """Fix the shift, if it is not fixed yet, as the mean of some features."""
        if self.shift is None:
            self.shift = Z[:_SHIFT_ROWS].mean(axis=0, dtype=np.float64)

    def add(self, Z: np.ndarray, Y: np.ndarray | None = None, weight: np.ndarray | None = None) -> None:
        """Add a block of rows."""
        if not Z.shape[0]:
            return
        self.start_at(Z)
        if weight is None:
            self.rows += Z.shape[0]
        else:
            weight = np.asarray(weight, dtype=np.float64)
            self.rows += int(np.count_nonzero(weight))
            self.counts &= bool((weight == np.floor(weight)).all())
        targets = np.empty((Z.shape[0], 0)) if Y is None else Y - self.y_shift
        for some in row_blocks(Z.shape[0], _BLOCK_ROWS):
            self._add_block(Z[some], targets[some], None if weight is None else weight[some])

    def _add_block(self, Z: np.ndarray, targets: np.ndarray, weight: np.ndarray | None) -> None:
        n, width = Z.shape
        matrix = self._opened()
        if self._block.shape[0] < n or self._block.shape[1] != matrix.shape[0]:
            # kept from block to block: fresh memory of this size costs as much as the subtraction
            self._block = np.empty((n, matrix.shape[0]))
        U = self._block[:n]
        np.subtract(Z, self._known_shift(), out=U[:, :width])
        U[:, width] = 1.0
        U[:, width + 1 :] = targets
        if weight is not None:
            U *= np.sqrt(weight)[:, None]
        # half the work of a general product, added in place: no second D × D matrix
        with blas_threads(0.5 * n * matrix.size):
            self._matrix = blas.dsyrk(1.0, U.T, beta=1.0, c=matrix, overwrite_c=1)

    def merge(self, other: NormalSums) -> None:
        """Add the sums of other rows, about whatever shift."""
        if other.n_targets < self.n_targets:
            other = other.copy()
            other.widen(self.n_targets)
        self.widen(other.n_targets)
        if other._matrix is None:
            return
        if self.shift is None:
            self.shift = other._known_shift().copy()
        drift = np.concatenate([other._known_shift() - self.shift, [0.0], other.y_shift - self.y_shift])
        matrix = self._opened()
        matrix += other._about(drift) if drift.any() else other._matrix
        self.rows += other.rows
        self.counts &= other.counts

    def _about(self, drift: np.ndarray) -> np.ndarray:
        """The matrix for rows that are larger by a constant: a multiple of the column of ones is added to the others."""
        matrix = self._opened()
        ones = self._products_with_one(matrix)
        moved: np.ndarray = blas.dsyr2(1.0, drift, ones + 0.5 * self.weight * drift, a=matrix, overwrite_a=0)
        return moved

    def _products_with_one(self, matrix: np.ndarray) -> np.ndarray:
        one = self._one
        return np.concatenate([matrix[: one + 1, one], matrix[one, one + 1 :]])  # only the upper triangle is there

    def widen(self, n_targets: int) -> None:
        """Add targets that were zero on all rows so far, such as the indicator of a class not yet seen."""
        new, value = n_targets - self.n_targets, -self.late_shift
        if new <= 0:
            return
        self.y_shift = np.concatenate([self.y_shift, np.full(new, self.late_shift)])
        if self._matrix is None:
            return
        old = self._matrix.shape[0]
        wider = np.zeros((old + new, old + new), order="F")
        wider[:old, :old] = self._matrix
        # a constant column has the products of the column of ones
        wider[:old, old:] = value * self._products_with_one(self._matrix)[:, None]
        wider[old:, old:] = value**2 * self.weight
        self._matrix = wider

    def copy(self) -> NormalSums:
        """Sums that can be added to without touching these."""
        twin = NormalSums(self.shift, self.y_shift, self.late_shift)
        twin.merge(self)
        return twin

    def centered(self, *, intercept: bool = True) -> CenteredSums:
        """The sums about the weighted means, or as they are if there is no intercept (the shift must then be zero)."""
        shift, matrix = self._known_shift(), self._opened()
        one, weight = self._one, self.weight
        gram = np.triu(matrix[:one, :one])
        gram += np.triu(gram, 1).T
        cross = matrix[:one, one + 1 :].copy()
        square = np.diagonal(matrix)[one + 1 :].copy()
        mean, y_mean = shift, self.y_shift
        if intercept:
            drift, y_drift = matrix[:one, one] / weight, matrix[one, one + 1 :] / weight
            gram -= weight * np.multiply.outer(drift, drift)
            cross -= weight * np.multiply.outer(drift, y_drift)
            square = np.maximum(square - weight * y_drift**2, 0.0)
            mean, y_mean = shift + drift, self.y_shift + y_drift
        elif shift.any():
            raise ValueError("sums about a shift cannot serve a model without intercept; start them with shift 0")
        rows = weight if self.counts else float(self.rows)
        return CenteredSums(gram, cross, square, weight, rows, self.counts, mean, y_mean, intercept)

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_block": np.empty((0, 0))}  # a buffer need not be sent to another machine
