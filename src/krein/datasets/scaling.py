r"""Scaling of rows and columns before a kernel sees them.

The paper writes that its data are "normalized to :math:`[0, 1]^d` by an :math:`\ell_2`-norm scaling scheme", which can be
read in more than one way. Here it means, exactly: columns are shifted and stretched to :math:`[0, 1]` by the minimum and
maximum *of the training rows*, values of other rows outside that range are clipped to it, and then every row is divided
by its Euclidean length (:func:`minmax_unit`). What the tables call *raw* is the last step alone (:func:`unit`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from krein._core.checks import frozen_array, one_of, real_array, truth_value
from krein._core.rows import unit_rows

__all__ = ["MinMax", "minmax_unit", "unit"]

ZeroRows = Literal["raise", "keep"]

_BLOCK = 1 << 14  # rows scaled at a time, so that no second copy in double precision is made of the whole table


@dataclass(frozen=True, eq=False)
class MinMax:
    r"""The map of columns :math:`x_j \mapsto (x_j - l_j) / (h_j - l_j)`, and :math:`x_j \mapsto 0` where :math:`h_j = l_j`.

    Parameters
    ----------
    low, high : array-like of shape (n_features,)
        Values that are mapped to 0 and to 1; finite, ``low <= high``.

    Examples
    --------
    >>> import numpy as np
    >>> scaler = MinMax.fit(np.array([[0.0, 5.0, 1.0], [4.0, 5.0, 3.0]]))
    >>> scaler.apply(np.array([[1.0, 7.0, 9.0]]))
    array([[0.25, 0.  , 1.  ]])
    >>> scaler.apply(np.array([[1.0, 7.0, 9.0]]), clip=False)
    array([[0.25, 0.  , 4.  ]])
    """

    low: np.ndarray
    high: np.ndarray

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, frozen_array(getattr(self, name), name, (None,)))
        if self.low.shape != self.high.shape:
            raise ValueError(
                f"low and high must be vectors of one length, got shapes {self.low.shape} and {self.high.shape}"
            )
        with np.errstate(over="ignore"):
            span = self.high - self.low
        if not (np.isfinite(span) & (span >= 0)).all():
            raise ValueError("low, high and their difference must be finite, with low <= high in every column")

    @classmethod
    def fit(cls, X: ArrayLike) -> MinMax:
        """Bounds of the columns of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least one row.

        Returns
        -------
        MinMax
        """
        X = _matrix(X)
        if X.shape[0] == 0:
            raise ValueError("X has no rows, so its columns have no minimum and maximum; pass the training rows")
        return cls(X.min(axis=0), X.max(axis=0))

    def apply(self, X: ArrayLike, *, clip: bool = True) -> np.ndarray:
        """Scaled copy of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        clip : bool, default=True
            Whether values outside [low, high] are set to 0 and 1. Otherwise rows that were not fitted on may leave the cube,
            as 16 % of ijcnn1's test rows do.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            float32 if ``X`` is float32, else float64.
        """
        clip = truth_value(clip, "clip")
        X = _matrix(X)
        if X.shape[1] != self.low.size:
            raise ValueError(f"X has {X.shape[1]} columns, but the bounds were made for {self.low.size}")
        constant = self.high == self.low
        span = np.where(constant, 1.0, self.high - self.low)
        scaled = np.empty(X.shape, dtype=X.dtype)
        # double precision, so that the bounds go to exactly 0 and 1, but only a block of rows at a time
        for start in range(0, X.shape[0], _BLOCK):
            rows = slice(start, start + _BLOCK)
            scaled[rows] = (X[rows] - self.low) / span
        scaled[:, constant] = 0
        return np.clip(scaled, 0, 1, out=scaled) if clip else scaled


def unit(X: ArrayLike, *, zero_rows: ZeroRows = "raise") -> np.ndarray:
    r"""Rows divided by their Euclidean length, :math:`x \mapsto x / \|x\|_2`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    zero_rows : {"raise", "keep"}, default="raise"
        A row of zeros has no direction. ``"raise"`` raises an error that names the first such row; ``"keep"`` leaves it zero
        (it is then not on the sphere, but at distance 1 from every point of it).

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        float32 if ``X`` is float32, else float64.

    Examples
    --------
    >>> import numpy as np
    >>> unit(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    one_of(zero_rows, "zero_rows", get_args(ZeroRows))
    X = _matrix(X)
    zero = ~X.any(axis=1)
    if zero.any() and zero_rows == "raise":
        raise ValueError(
            f"row {np.flatnonzero(zero)[0]} of X is all zeros and cannot be scaled to unit length "
            f"({zero.sum()} such row(s)); drop it, or pass zero_rows='keep' to leave it zero"
        )
    if not zero.any():
        return np.asarray(unit_rows(X))
    scaled = np.zeros_like(X)
    scaled[~zero] = unit_rows(X[~zero])
    return scaled


def minmax_unit(
    X_train: ArrayLike, *others: ArrayLike, clip: bool = True, centered: bool = False, zero_rows: ZeroRows = "raise"
) -> tuple[np.ndarray, ...]:
    """Scale columns to [0, 1] by the training rows, then rows to unit length, as in the paper's experiments.

    Parameters
    ----------
    X_train : array-like of shape (n_train, n_features)
        Rows that fix the minimum and maximum of each column. A constant column becomes 0.
    *others : array-like of shape (n_other, n_features)
        Rows to be scaled in the same way, such as the test rows.
    clip : bool, default=True
        Whether entries of ``others`` beyond the training range are set to 0 and 1.
    centered : bool, default=False
        Scale columns to [−1, 1] in place of [0, 1], as the public code of one of the paper's authors has them.
    zero_rows : {"raise", "keep"}, default="raise"
        See :func:`unit`. No row of the four data sets of the paper becomes zero.

    Returns
    -------
    tuple of ndarray
        As many as were passed, in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = minmax_unit(np.array([[0.0, 9.0], [5.0, 1.0]]), np.array([[10.0, 9.0]]))
    >>> train
    array([[0., 1.],
           [1., 0.]])
    >>> test.round(4)
    array([[0.7071, 0.7071]])
    """
    scaler = MinMax.fit(X_train)
    scaled = (scaler.apply(X, clip=clip) for X in (X_train, *others))
    return tuple(unit(2 * X - 1 if centered else X, zero_rows=zero_rows) for X in scaled)


def _matrix(X: ArrayLike) -> np.ndarray:
    """``X`` as a finite matrix of float32 or float64."""
    matrix = real_array(X, "X")
    if matrix.ndim != 2:
        raise ValueError(f"X must be a matrix of shape (n_samples, n_features), got shape {matrix.shape}")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise ValueError(f"row {np.flatnonzero(~finite)[0]} of X has a value that is NaN or infinite")
    return matrix
