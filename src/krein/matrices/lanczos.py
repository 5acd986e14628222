r"""Block Lanczos: the ends of a spectrum and its density from some dozens of products with the matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from krein._core.threads import quiet_blas

__all__ = ["RitzSpectrum", "block_lanczos"]

_BLOCK = 8  # vectors multiplied at a time: reading the matrix is what costs
_STEPS = 40  # products with the matrix
_CONVERGED = 1e-3  # residual of a Ritz pair, relative to its value, below which it is an eigenpair
_TIED = 1e-9  # of the largest value: eigenvalues that differ by less are one
_EXHAUSTED = 1e-12  # of the largest value: new directions shorter than this are rounding


@final
@dataclass(frozen=True, eq=False)
class RitzSpectrum:
    r"""Values with weights, :math:`\mathrm{tr} f(K) \approx \sum_i w_i f(\theta_i)`.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Ascending.
    weights : ndarray of shape (m,)
        How many eigenvalues each stands for; they sum to n.
    converged : ndarray of bool of shape (m,)
        Which values are eigenvalues to a thousandth; their weight is 1.
    vectors : ndarray of shape (n, m)
        Ritz vectors; those of converged values are eigenvectors.
    """

    values: np.ndarray
    weights: np.ndarray
    converged: np.ndarray
    vectors: np.ndarray


def block_lanczos(
    apply: Callable[[np.ndarray], np.ndarray],
    n: int,
    rng: np.random.Generator,
    *,
    block: int = _BLOCK,
    steps: int = _STEPS,
) -> RitzSpectrum:
    r"""The spectrum of a symmetric operator as a block Krylov space sees it.

    From orthonormal random vectors :math:`Q_0` the space of :math:`Q_0, K Q_0, \ldots, K^{s} Q_0`, orthogonalized in full. Its
    Ritz values converge at both ends first. With :math:`T = S \Theta S^\top` the block tridiagonal matrix, the rows of S that
    belong to :math:`Q_0` give the weights of stochastic quadrature [1]_; converged pairs get their true weight, 1, and only the
    rest is estimated (as in [2]_), so that a few dominant eigenvalues add no variance.

    References
    ----------
    .. [1] S. Ubaru, J. Chen and Y. Saad. "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature". SIAM J. Matrix
       Anal. Appl., 2017.
    .. [2] R. A. Meyer, C. Musco, C. Musco and D. P. Woodruff. "Hutch++: optimal stochastic trace estimation". SOSA, 2021.
    """
    block = min(block, n)
    steps = max(1, min(steps, n // block))
    with quiet_blas():
        basis = np.empty((n, block * steps))
        T = np.zeros((block * steps, block * steps))
        fresh, _ = np.linalg.qr(rng.standard_normal((n, block)))
        size = 0.0
        coupling = np.zeros((block, block))
        for step in range(steps):
            here = slice(step * block, (step + 1) * block)
            basis[:, here] = fresh
            known = basis[:, : here.stop]
            image = apply(fresh)
            size = max(size, float(np.linalg.norm(image, axis=0).max()))
            inside = known.T @ image
            image = image - known @ inside
            again = known.T @ image  # once more: rounding of the first pass is of the size of what is left
            image -= known @ again
            T[: here.stop, here] = inside + again
            T[here, : here.stop] = T[: here.stop, here].T
            fresh, triangle, order = linalg.qr(image, mode="economic", pivoting=True, check_finite=False)
            # The last ones, as columns are ordered by what is new
            lost = np.abs(np.diag(triangle)) <= _EXHAUSTED * size
            if lost.any():  # random directions instead, which the matrix does not couple to the rest
                triangle[lost] = 0.0
                fresh[:, lost] = rng.standard_normal((n, int(lost.sum())))
                for _ in range(2):
                    fresh[:, lost] -= known @ (known.T @ fresh[:, lost])
                    fresh, signs = _orthonormal(fresh)
                    triangle *= signs[:, None]
            coupling = triangle[:, np.argsort(order)]
        values, S = np.linalg.eigh(0.5 * (T + T.T))
        residuals = np.linalg.norm(coupling @ S[-block:], axis=0)
        converged = residuals <= _CONVERGED * np.abs(values)
        weights = _weights(values, converged, np.square(S[:block]).sum(axis=0) * n / block, n, block)
        vectors = basis @ S
    return RitzSpectrum(values, weights, converged, vectors)


def _weights(values: np.ndarray, converged: np.ndarray, quadrature: np.ndarray, n: int, block: int) -> np.ndarray:
    """One for each eigenvalue found; what is left of n goes to the others by quadrature, or to eigenvalues of many copies."""
    weights = np.where(converged, 1.0, quadrature)
    rest, loose = n - np.count_nonzero(converged), ~converged
    if loose.any():
        weights[loose] *= rest / max(weights[loose].sum(), np.finfo(np.float64).tiny)
    elif rest:  # more copies of an eigenvalue than a block has: the space is exhausted before they are
        group = np.cumsum(np.diff(values, prepend=values[0]) > _TIED * np.abs(values).max())
        seen, due = np.bincount(group), np.bincount(group, quadrature)
        # quadrature of m copies has a standard deviation of sqrt(2 m / block): five of them, and one for the tail of a few
        extra = np.where(due > seen + 5.0 * np.sqrt(2.0 * seen / block) + 2.0, due - seen, 0.0)
        extra = extra if extra.any() else due
        weights += (rest * extra / extra.sum() / seen)[group]
    return weights


def _orthonormal(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns of the same spans, and the signs by which the first ones, orthonormal already, were turned."""
    Q, R = np.linalg.qr(columns)
    return Q, np.where(np.diag(R) < 0.0, -1.0, 1.0)
