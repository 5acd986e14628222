"""The sums over rows that every ridge problem here needs, and nothing else of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

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
    r"""Running sums :math:`\sum_i w_i a_i a_i^\top` and :math:`\sum_i w_i a_i b_i^\top` of shifted features and targets.

    With :math:`a = z - c` and :math:`b = y - e` for a shift :math:`(c, e)` fixed at the start. Any shift gives the same
    solution; one near the mean keeps the digits that the later subtraction of the exact mean would cancel. All sums are
    float64, whatever the dtype of the features.

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
        width = self.shift.shape[0]
        self.rows = 0
        self.weight = 0.0
        self.counts = True
        self.total = np.zeros(width)
        self.y_total = np.zeros(self.y_shift.shape[0])
        self.square = np.zeros(self.y_shift.shape[0])
        self.cross = np.zeros((width, self.y_shift.shape[0]))
        self._gram = np.zeros((width, width), order="F")  # upper triangle only, as syrk writes it

    @property
    def n_targets(self) -> int:
        return self.y_shift.shape[0]

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
        if not Z.shape[0]:
            return
        A = np.subtract(Z, self.shift, dtype=np.float64)
        B = np.subtract(Y, self.y_shift, dtype=np.float64)
        if weight is None:
            self.rows += A.shape[0]
            self.weight += float(A.shape[0])
            self.total += A.sum(axis=0)
            self.y_total += B.sum(axis=0)
        else:
            weight = np.asarray(weight, dtype=np.float64)
            self.rows += int(np.count_nonzero(weight))
            self.weight += float(weight.sum())
            self.counts &= bool((weight == np.floor(weight)).all())
            self.total += weight @ A
            self.y_total += weight @ B
            root = np.sqrt(weight)[:, None]
            A *= root
            B *= root
        self.square += np.einsum("ij,ij->j", B, B)
        self.cross += A.T @ B
        # half the work of a general product, added in place: no second D × D matrix
        self._gram = blas.dsyrk(1.0, A.T, beta=1.0, c=self._gram, overwrite_c=1)

    def merge(self, other: NormalSums) -> None:
        """Add the sums of other rows about the same shift."""
        if other.n_targets < self.n_targets:
            other = other.copy()
            other.widen(self.n_targets)
        self.widen(other.n_targets)
        self.rows += other.rows
        self.weight += other.weight
        self.counts &= other.counts
        self.total += other.total
        self.y_total += other.y_total
        self.square += other.square
        self.cross += other.cross
        self._gram += other._gram

    def widen(self, n_targets: int) -> None:
        """Make room for targets that were zero on all rows so far, such as the indicator of a class not yet seen."""
        new = n_targets - self.n_targets
        if new > 0:
            shift = np.full(new, self.new_shift)
            self.y_shift = np.concatenate([self.y_shift, shift])
            self.y_total = np.concatenate([self.y_total, -shift * self.weight])
            self.square = np.concatenate([self.square, shift**2 * self.weight])
            self.cross = np.concatenate([self.cross, -np.multiply.outer(self.total, shift)], axis=1)

    def copy(self) -> NormalSums:
        """Sums that can be added to without touching these."""
        twin = NormalSums(self.shift, self.y_shift, self.new_shift)
        twin.merge(self)
        return twin

    def centred(self, *, intercept: bool = True) -> CentredSums:
        """The sums about the weighted means, or as they are if there is no intercept (`shift` must then be zero)."""
        gram = np.triu(self._gram)
        gram += np.triu(gram, 1).T
        common = (self.weight, self.weight if self.counts else float(self.rows), self.counts)
        if not intercept:
            if self.shift.any():
                raise ValueError("sums about a shift cannot serve a model without intercept; start them with shift 0")
            means = self.shift.copy(), self.y_shift.copy()
            return CentredSums(gram, self.cross.copy(), self.square.copy(), *common, *means, intercept=False)
        drift, y_drift = self.total / self.weight, self.y_total / self.weight
        gram -= self.weight * np.multiply.outer(drift, drift)
        cross = self.cross - self.weight * np.multiply.outer(drift, y_drift)
        square = np.maximum(self.square - self.weight * y_drift**2, 0.0)
        return CentredSums(gram, cross, square, *common, self.shift + drift, self.y_shift + y_drift, intercept=True)
