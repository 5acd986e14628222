"""Dense symmetric problems, with the threads that pay for their size."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from scipy import linalg

from krein._core.threads import quiet_blas

__all__ = ["calm_blas", "symmetric_eigen"]

# Order up to which one BLAS thread serves a matrix better than several: at 512 an eigendecomposition takes 25 ms alone and 80 to
# 370 ms on two threads that wait for each other, if the machine has other work as well.
_ALONE = 1024


def calm_blas(order: int) -> AbstractContextManager[None]:
    """One BLAS thread for small matrices, all of them for large ones.

    Parameters
    ----------
    order : int
        Rows or columns of the matrices, whichever is fewer.

    Returns
    -------
    context manager
    """
    return quiet_blas() if order <= _ALONE else nullcontext()


def symmetric_eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues in ascending order, and eigenvectors.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), symmetric

    Returns
    -------
    values : ndarray of shape (n,)
    vectors : ndarray of shape (n, n)
    """
    with calm_blas(matrix.shape[0]):
        values, vectors = linalg.eigh(matrix, driver="evd", check_finite=False)
    return values, vectors
