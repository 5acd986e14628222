r"""A matrix of similarities, or :math:`-\tfrac12 H D^2 H` of distances, in products and sums without another matrix of its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import blas_threads, quiet_blas
from krein.similarities.matrix_checks import symmetric_part

__all__ = ["SymmetricOperator", "centered_inner_products", "centered_rows", "square_means", "symmetrized"]

_STRIPE = 256  # rows squared at a time


def square_means(distances: np.ndarray) -> np.ndarray:
    """The mean squared distance of every object from all."""
    means = np.empty(distances.shape[0])
    for rows in row_blocks(distances.shape[0], _STRIPE):
        means[rows] = _squares(distances[rows]).mean(axis=1)
    return means


def _squares(distances: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        squares: np.ndarray = np.square(distances, dtype=np.float64)
    if np.isinf(squares).any():
        raise ValueError(
            f"a distance in X is {np.abs(distances).max():.3g}, whose square no float can hold; divide all distances by one number"
        )
    return squares


def centered_rows(distances: np.ndarray, means: np.ndarray) -> np.ndarray:
    r"""Inner products of objects with training objects, both centered at the training objects' mean.

    .. math:: b(x)_j = -\tfrac12 \bigl(d^2(x, x_j) - \bar d^2_j - \overline{d^2(x, \cdot)} + \bar d^2\bigr)
    """
    squares = _squares(distances)
    squares -= squares.mean(axis=1, keepdims=True) + (means - means.mean())
    squares *= -0.5
    return squares


def centered_inner_products(distances: np.ndarray) -> np.ndarray:
    r"""The matrix :math:`-\tfrac12 H D^2 H` of classical scaling, indefinite unless the distances are Euclidean.

    Examples
    --------
    >>> import numpy as np
    >>> centered_inner_products(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    products = centered_rows(distances, square_means(distances))
    return np.asarray(0.5 * (products + products.T))


def symmetrized(matrix: np.ndarray, distance: bool) -> np.ndarray:
    """The mean of both halves; of distances the root of their mean square."""
    return np.sqrt(symmetric_part(np.square(matrix))) if distance else symmetric_part(matrix)


@final
@dataclass(frozen=True, eq=False)
class SymmetricOperator:
    r"""K, or :math:`-\tfrac12 H D^2 H` for distances: a finite matrix, symmetric to rounding, of float32 or float64."""

    matrix: np.ndarray
    distance: bool = False

    @property
    def n_objects(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """The product with some vectors."""
        with quiet_blas(), blas_threads(float(self.matrix.size) * vectors.shape[1]):
            if not self.distance:
                return np.asarray(self.matrix @ vectors.astype(self.matrix.dtype, copy=False), dtype=np.float64)
            centered = vectors - vectors.mean(axis=0)
            out = np.empty((self.n_objects, vectors.shape[1]))
            for rows in row_blocks(self.n_objects, _STRIPE):
                out[rows] = -0.5 * (_squares(self.matrix[rows]) @ centered)
            return np.asarray(out - out.mean(axis=0))

    def dense(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The operator as a matrix, of all objects or of some of them alone."""
        part = self.matrix if rows is None else self.matrix[np.ix_(rows, rows)]
        return centered_inner_products(part) if self.distance else symmetric_part(np.asarray(part, dtype=np.float64))

    def sums(self) -> tuple[float, float]:
        """The sum of the eigenvalues and that of their squares."""
        total, n = 0.0, self.n_objects
        for rows in row_blocks(n, _STRIPE):
            block = _squares(self.matrix[rows]) if self.distance else self.matrix[rows].astype(np.float64)
            total += float(np.vdot(block, block))
        diagonal = np.diag(self.matrix).astype(np.float64)
        if not self.distance:
            return float(diagonal.sum()), total
        means = square_means(self.matrix)
        trace = float(-0.5 * (np.square(diagonal) - 2.0 * means + means.mean()).sum())
        centered = total - 2.0 * n * float(means @ means) + (n * float(means.mean())) ** 2
        return trace, max(0.0, 0.25 * centered)
