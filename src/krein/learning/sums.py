"""The sums over rows that a model needs, and nothing else of the rows: of features alone, and of features with targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from krein._core.rows import row_blocks
from krein._core.threads import blas_threads

__all__ = ["CenteredFeatures", "CenteredSums", "FeatureSums", "NormalSums"]

# Rows that are shifted at a time. All at once would be a second matrix of features, in fresh memory, which now and then takes the
# system ten times as long to find as the subtraction itself.
_BLOCK_ROWS = 2048
_SHIFT_ROWS = 1024  # rows whose mean serves as the shift of the sums: near the mean is near enough


@dataclass(frozen=True, eq=False)
class CenteredFeatures:
    """The scatter of features about their mean, or about zero.

    Parameters
    ----------
    gram : ndarray of shape (n_components, n_components)
        Σ w (z − z̄)(z − z̄)ᵀ.
    mean : ndarray of shape (n_components,)
        What z̄ is: the weighted mean, or zero.
    weight : float
        Σ w.
    """

    gram: np.ndarray
    mean: np.ndarray
    weight: float


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


class FeatureSums:
    r"""Running sums of a stream of features: one matrix :math:`\sum_i w_i\, u_i u_i^\top` with :math:`u = (z - c,\ 1)`.

    The shift :math:`c` is fixed at the start. Any shift gives the same result; one near the mean keeps the digits that the
    later subtraction of the exact mean would cancel. Sums are float64 whatever the dtype of the features.

    Parameters
    ----------
    shift : array of shape (n_components,) or None, default=None
        Zero for sums that are not to be centered. None: the mean of the first rows that come.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import FeatureSums
    >>> Z = np.random.default_rng(0).normal(size=(50, 3))
    >>> sums = FeatureSums()
    >>> sums.add(Z[:20]); sums.add(Z[20:])
    >>> bool(np.allclose(sums.centered().gram / 50, np.cov(Z.T, bias=True)))
    True
    """

    def __init__(self, shift: np.ndarray | None = None) -> None:
        self._products = _Products(shift, 0)

    @property
    def rows(self) -> int:
        """Number of rows of positive weight so far."""
        return self._products.rows

    def add(self, Z: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add a block of rows."""
        self._products.add(Z, np.empty((Z.shape[0], 0)), weight)

    def merge(self, other: FeatureSums) -> None:
        """Add the sums of other rows about the same shift."""
        self._products.merge(other._products)

    def centered(self, *, center: bool = True) -> CenteredFeatures:
        """The sums about the weighted mean, or as they are (the shift must then be zero)."""
        gram, _, _, drift, _ = self._products.blocks(center=center)
        return CenteredFeatures(gram, self._products.known_shift() + drift, self._products.weight)


class NormalSums:
    r"""Running sums of a stream of rows: one matrix :math:`\sum_i w_i\, u_i u_i^\top` with :math:`u = (z - c,\ 1,\ y - e)`.

    Everything a ridge problem needs is a block of the matrix: the Gram matrix of the features, their products with the
    targets, the totals and the weight. One symmetric rank-n update per block of rows fills it. For the shift :math:`(c, e)`
    see `FeatureSums`.

    Parameters
    ----------
    shift : array of shape (n_components,) or None
        Zero for a model without intercept. None: the mean of the first rows that come.
    y_shift : array of shape (n_targets,)
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

    def __init__(self, shift: np.ndarray | None, y_shift: np.ndarray, late_shift: float = 0.0) -> None:
        self.y_shift = np.array(y_shift, dtype=np.float64)
        self.late_shift = late_shift
        self._products = _Products(shift, self.y_shift.shape[0])

    @property
    def shift(self) -> np.ndarray | None:
        """What is subtracted from features; None before the first row, if it is to be their mean."""
        return self._products.shift

    @property
    def rows(self) -> int:
        """Number of rows of positive weight so far."""
        return self._products.rows

    @property
    def n_targets(self) -> int:
        """Number of targets so far."""
        return int(self.y_shift.shape[0])

    @property
    def weight(self) -> float:
        """Σ w."""
        return self._products.weight

    def start_at(self, Z: np.ndarray) -> None:
        """Fix the shift, if it is not fixed yet, as the mean of some features."""
        self._products.start_at(Z)

    def add(self, Z: np.ndarray, Y: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add a block of rows."""
        self._products.add(Z, Y - self.y_shift, weight)

    def merge(self, other: NormalSums) -> None:
        """Add the sums of other rows about the same shift."""
        if other.n_targets < self.n_targets:
            other = other.copy()
            other.widen(self.n_targets)
        self.widen(other.n_targets)
        self._products.merge(other._products)

    def widen(self, n_targets: int) -> None:
        """Add targets that were zero on all rows so far, such as the indicator of a class not yet seen."""
        new = n_targets - self.n_targets
        if new <= 0:
            return
        self._products.widen(new, -self.late_shift)
        self.y_shift = np.concatenate([self.y_shift, np.full(new, self.late_shift)])

    def copy(self) -> NormalSums:
        """Sums that can be added to without touching these."""
        twin = NormalSums(self.shift, self.y_shift, self.late_shift)
        twin._products.merge(self._products)
        return twin

    def centered(self, *, intercept: bool = True) -> CenteredSums:
        """The sums about the weighted means, or as they are if there is no intercept (the shift must then be zero)."""
        gram, cross, square, drift, y_drift = self._products.blocks(center=intercept)
        products = self._products
        return CenteredSums(
            gram,
            cross,
            square,
            products.weight,
            products.weight if products.counts else float(products.rows),
            products.counts,
            products.known_shift() + drift,
            self.y_shift + y_drift,
            intercept,
        )


class _Products:
    """Σ w u uᵀ of rows u = (z − c, 1, t), of which the upper triangle is filled; t are any further columns."""

    def __init__(self, shift: np.ndarray | None, n_further: int) -> None:
        self.shift = None if shift is None else np.array(shift, dtype=np.float64)
        self.rows = 0
        self.counts = True  # whether all weights are whole numbers
        self._n_further = n_further
        self._matrix: np.ndarray | None = None
        self._block = np.empty((0, 0))

    @property
    def weight(self) -> float:
        return 0.0 if self._matrix is None else float(self._matrix[self._one, self._one])

    @property
    def _one(self) -> int:
        """The column of ones."""
        return int(self.known_shift().shape[0])

    def known_shift(self) -> np.ndarray:
        if self.shift is None:
            raise ValueError("there are no sums yet: no row of positive weight has come")
        return self.shift

    def _opened(self) -> np.ndarray:
        if self._matrix is None:
            size = self._one + 1 + self._n_further
            self._matrix = np.zeros((size, size), order="F")
        return self._matrix

    def start_at(self, Z: np.ndarray) -> None:
        if self.shift is None:
            self.shift = Z[:_SHIFT_ROWS].mean(axis=0, dtype=np.float64)

    def add(self, Z: np.ndarray, further: np.ndarray, weight: np.ndarray | None) -> None:
        n = Z.shape[0]
        if not n:
            return
        self.start_at(Z)
        if weight is None:
            self.rows += n
        else:
            weight = np.asarray(weight, dtype=np.float64)
            self.rows += int(np.count_nonzero(weight))
            self.counts &= bool((weight == np.floor(weight)).all())
        for some in row_blocks(n, _BLOCK_ROWS):
            self._add_block(Z[some], further[some], None if weight is None else weight[some])

    def _add_block(self, Z: np.ndarray, further: np.ndarray, weight: np.ndarray | None) -> None:
        n, width = Z.shape
        matrix = self._opened()
        if self._block.shape[0] < n or self._block.shape[1] != matrix.shape[0]:
            # kept from block to block: fresh memory of this size costs as much as the subtraction
            self._block = np.empty((n, matrix.shape[0]))
        U = self._block[:n]
        np.subtract(Z, self.known_shift(), out=U[:, :width])
        U[:, width] = 1.0
        U[:, width + 1 :] = further
        if weight is not None:
            U *= np.sqrt(weight)[:, None]
        # half the work of a general product, added in place: no second D × D matrix
        with blas_threads(0.5 * n * matrix.size):
            self._matrix = blas.dsyrk(1.0, U.T, beta=1.0, c=matrix, overwrite_c=1)

    def merge(self, other: _Products) -> None:
        if other._matrix is None:
            return
        if self.shift is None:
            self.shift = other.known_shift().copy()
        elif not np.array_equal(self.shift, other.known_shift()):
            raise ValueError("sums about different shifts cannot be added; start both with the same shift")
        matrix = self._opened()
        matrix += other._matrix
        self.rows += other.rows
        self.counts &= other.counts

    def widen(self, new: int, value: float) -> None:
        """Further columns, which had this value on all rows so far."""
        self._n_further += new
        if self._matrix is None:
            return
        old, one = self._matrix.shape[0], self._one
        wider = np.zeros((old + new, old + new), order="F")
        wider[:old, :old] = self._matrix
        # a constant column has the products of the column of ones
        ones = np.concatenate([self._matrix[: one + 1, one], self._matrix[one, one + 1 :]])
        wider[:old, old:] = value * ones[:, None]
        wider[old:, old:] = value**2 * self.weight
        self._matrix = wider

    def blocks(self, *, center: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gram matrix, products with the further columns, their squares, and the means of both; about the means or not."""
        shift, matrix = self.known_shift(), self._opened()
        one, weight = self._one, self.weight
        gram = np.triu(matrix[:one, :one])
        gram += np.triu(gram, 1).T
        cross = matrix[:one, one + 1 :].copy()
        square = np.diagonal(matrix)[one + 1 :].copy()
        if not center:
            if shift.any():
                raise ValueError("sums about a shift cannot serve a model without intercept; start them with shift 0")
            return gram, cross, square, np.zeros(one), np.zeros(self._n_further)
        drift, further_drift = matrix[:one, one] / weight, matrix[one, one + 1 :] / weight
        gram -= weight * np.multiply.outer(drift, drift)
        cross -= weight * np.multiply.outer(drift, further_drift)
        return gram, cross, np.maximum(square - weight * further_drift**2, 0.0), drift, further_drift

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_block": np.empty((0, 0))}  # a buffer need not be sent to another machine
