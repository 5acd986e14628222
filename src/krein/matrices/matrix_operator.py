"""A matrix of similarities or distances as a symmetric operator: products with it, without another matrix of its size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import blas_threads, quiet_blas
from krein.matrices.centering import centered_inner_products
from krein.similarities.matrix_checks import symmetric_part

__all__ = ["SymmetricOperator"]

_STRIPE = 256  # rows squared at a time


@final
@dataclass(frozen=True, eq=False)
class SymmetricOperator:
    r"""The symmetric part of K, or of :math:`-\tfrac12 H D^2 H` for distances.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), float32 or float64
        Finite.
    distance : bool, default=False
        Whether the entries are distances.
    symmetric : bool, default=True
        Whether the matrix is symmetric already, which halves the work.
    """

    matrix: np.ndarray
    distance: bool = False
    symmetric: bool = True

    @property
    def n_objects(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """The product with some vectors."""
        with quiet_blas(), blas_threads(float(self.matrix.size) * vectors.shape[1]):
            if not self.distance:
                given = vectors.astype(self.matrix.dtype, copy=False)
                out = (self.matrix @ given).astype(np.float64, copy=False)
                return np.asarray(out if self.symmetric else 0.5 * (out + self.matrix.T @ given))
            given = vectors - vectors.mean(axis=0)
            out = np.zeros((self.n_objects, vectors.shape[1]))
            for rows in row_blocks(self.n_objects, _STRIPE):
                squares = np.square(self.matrix[rows], dtype=np.float64)
                out[rows] += squares @ given
                if not self.symmetric:
                    out += squares.T @ given[rows]
            out *= -0.5 if self.symmetric else -0.25
            return np.asarray(out - out.mean(axis=0))

    def dense(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The operator as a matrix, of all objects or of some of them alone."""
        part = self.matrix if rows is None else self.matrix[np.ix_(rows, rows)]
        if self.distance:
            squares = np.square(part, dtype=np.float64)
            return centered_inner_products(np.sqrt(0.5 * (squares + squares.T)))
        return symmetric_part(np.asarray(part, dtype=np.float64))

    @cached_property
    def trace(self) -> float:
        """Sum of the eigenvalues."""
        diagonal = np.diag(self.matrix).astype(np.float64)
        if not self.distance:
            return float(diagonal.sum())
        means = self._square_means
        return float(-0.5 * (np.square(diagonal) - 2.0 * means + means.mean()).sum())

    @cached_property
    def square_sum(self) -> float:
        """Sum of the squares of the eigenvalues."""
        total = 0.0
        for rows in row_blocks(self.n_objects, _STRIPE):
            block = np.array(self.matrix[rows], dtype=np.float64)
            if self.distance:
                block *= block
            if not self.symmetric:
                across = np.array(self.matrix[:, rows].T, dtype=np.float64)
                block = 0.5 * (block + (np.square(across) if self.distance else across))
            total += float(np.vdot(block, block))
        if not self.distance:
            return total
        n, means = self.n_objects, self._square_means
        centered = total - 2.0 * n * float(means @ means) + (n * float(means.mean())) ** 2
        return max(0.0, 0.25 * centered)

    @cached_property
    def _square_means(self) -> np.ndarray:
        """Mean over rows and columns of the squared distances of each object."""
        means = np.zeros(self.n_objects)
        for rows in row_blocks(self.n_objects, _STRIPE):
            squares = np.square(self.matrix[rows], dtype=np.float64)
            means[rows] += squares.mean(axis=1)
            if not self.symmetric:
                means += squares.sum(axis=0) / self.n_objects
        return means if self.symmetric else 0.5 * means
