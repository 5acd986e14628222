"""Kernel matrices in single precision: distances by a matrix product, the kernel in place, block by block in cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import share
from krein.kernels import Cauchy, Gaussian, Kernel, Laplacian, Matern
from krein.kernels.gram import radial_gram

__all__ = ["cross_gram", "lower_gram", "median_distance"]

_ROWS, _COLUMNS = (
    128,
    1024,
)  # of a block: half a MiB in single precision, which a kernel's passes find in a core's cache
# Squared distances below this share of ‖x‖² + ‖y‖² have lost more than half of float32's digits and are computed again.
_CANCELLED = 5e-4
_PAIRS_AT_A_TIME = 2**18  # entries of the differences that are computed again
_MEDIAN_ROWS = 512  # whose 130,816 distances have the median of all to a hundredth or so


def lower_gram(kernel: Kernel, X: np.ndarray) -> np.ndarray:
    """The kernel matrix of rows, of which the lower triangle is filled, with exact zeros for distances of equal rows."""
    in_place = _in_place(kernel)
    if X.dtype != np.float32 or in_place is None:
        return kernel.gram(X)
    n = X.shape[0]
    gram = np.empty((n, n), dtype=np.float32)
    squared = _Squares(X, X)

    def fill(rows: slice) -> None:
        for columns in row_blocks(rows.stop, _COLUMNS):
            block = gram[rows, columns]
            squared.fill(rows, columns, block)
            in_place(block)

    share(fill, row_blocks(n, _ROWS))
    np.fill_diagonal(gram, float(kernel.radial(0.0)))
    return gram


def cross_gram(kernel: Kernel, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The kernel between rows and rows."""
    in_place = _in_place(kernel)
    if X.dtype != np.float32 or in_place is None:
        return kernel.gram(X, Y)
    gram = np.empty((X.shape[0], Y.shape[0]), dtype=np.float32)
    squared = _Squares(X, Y)

    def fill(rows: slice) -> None:
        for columns in row_blocks(Y.shape[0], _COLUMNS):
            block = gram[rows, columns]
            squared.fill(rows, columns, block)
            in_place(block)

    share(fill, row_blocks(X.shape[0], _ROWS))
    return gram


def median_distance(X: np.ndarray) -> float:
    """The median distance of rows, from at most 512 of them; where most are equal the mean distance of those that are not."""
    step = max(1, X.shape[0] // _MEDIAN_ROWS)
    some = np.asarray(X[::step][:_MEDIAN_ROWS], dtype=np.float64)
    distances = radial_gram(np.asarray, some, None)[np.triu_indices(some.shape[0], 1)]
    median = float(np.median(distances)) if distances.size else 0.0
    if median > 0.0:
        return median
    apart = distances[distances > 0.0]
    return float(apart.mean()) if apart.size else 1.0


class _Squares:
    """Squared distances between two sets of float32 rows, about the mean of the second."""

    def __init__(self, X: np.ndarray, Y: np.ndarray) -> None:
        center = Y.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._x = X - center
        self._y = self._x if Y is X else Y - center
        self._x_square = np.einsum("ij,ij->i", self._x, self._x)
        self._y_square = np.einsum("ij,ij->i", self._y, self._y)
        # both squared lengths as two more columns of the product, which saves two passes
        ones = np.ones_like
        self._left = np.column_stack([-2.0 * self._x, self._x_square, ones(self._x_square)]).astype(np.float32)
        self._right = np.column_stack([self._y, ones(self._y_square), self._y_square]).astype(np.float32)

    def fill(self, rows: slice, columns: slice, out: np.ndarray) -> None:
        out[...] = self._left[rows] @ self._right[columns].T
        limit = _CANCELLED * (self._x_square[rows] + self._y_square[columns].max(initial=0.0))
        near = np.flatnonzero(out.min(axis=1, initial=np.inf) <= limit)
        i, j = np.nonzero(out[near] <= _CANCELLED * np.add.outer(self._x_square[rows][near], self._y_square[columns]))
        i = near[i]
        for part in row_blocks(i.size, max(1, _PAIRS_AT_A_TIME // max(1, self._x.shape[1]))):
            difference = self._y[columns.start + j[part]] - self._x[rows.start + i[part]]
            out[i[part], j[part]] = np.einsum("ij,ij->i", difference, difference)


def _in_place(kernel: Kernel) -> Callable[[np.ndarray], None] | None:
    """From squared distances to kernel values, in the same place; None for kernels that have no such passes here."""
    if isinstance(kernel, Gaussian):
        return partial(_gaussian, np.float32(-0.5 / kernel.scale**2))
    if isinstance(kernel, Laplacian):
        return partial(_laplacian, np.float32(1.0 / kernel.scale**2))
    if isinstance(kernel, Matern) and kernel.nu == 1.5:
        return partial(_matern, np.float32(3.0 / kernel.scale**2))
    if isinstance(kernel, Cauchy):
        return partial(_cauchy, np.float32(1.0 / kernel.scale**2))
    return None


def _gaussian(factor: np.float32, x: np.ndarray) -> None:
    x *= factor
    np.exp(x, out=x)


def _laplacian(factor: np.float32, x: np.ndarray) -> None:
    x *= factor
    np.sqrt(x, out=x)
    np.negative(x, out=x)
    np.exp(x, out=x)


def _matern(factor: np.float32, x: np.ndarray) -> None:
    x *= factor
    np.sqrt(x, out=x)
    decay = np.exp(-x)
    x += np.float32(1.0)
    x *= decay


def _cauchy(factor: np.float32, x: np.ndarray) -> None:
    x *= factor
    x += np.float32(1.0)
    np.divide(np.float32(1.0), x, out=x)
