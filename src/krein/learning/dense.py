"""Dense symmetric problems, with the threads that pay for their size."""

from __future__ import annotations

import numpy as np

from krein._core.threads import blas_threads, quiet_blas

__all__ = ["symmetric_eigen"]


def symmetric_eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues in ascending order, and eigenvectors."""
    with quiet_blas(), blas_threads(float(matrix.shape[0]) ** 3):
        values, vectors = np.linalg.eigh(matrix)
    return values, vectors
