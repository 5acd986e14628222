"""Newton systems of many support vector machines on the same rows: conjugate gradients, or a factorization where they stall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from krein._core.rows import row_blocks
from krein._core.threads import n_threads, share
from krein.learning.dense import symmetric_eigen

__all__ = ["DenseRows", "Preconditioner", "factorized_step", "newton_steps", "preconditioner"]

_ROWS = 1024  # rows of a product that one thread forms at a time; fixed, so that results do not depend on their number
_FORCING = 0.2  # how much of the gradient a step may leave; 0.1 and 0.05 take as long, 0.5 longer
# Columns squared per row up to which the eigenvectors of all rows pay: they cost 1e-10 D³ s and save 40 products of 2e-9 n D s.
_SPECTRAL = 500


class DenseRows:
    """Features with a column of ones, and products with them; blocks of rows are shared among threads.

    The blocks and the order in which they are added up are fixed: any number of threads gives the same digits.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    """

    def __init__(self, Z: np.ndarray) -> None:
        self.Z = Z
        self._blocks = list(row_blocks(Z.shape[0], _ROWS))
        self.threads = min(n_threads(), len(self._blocks))

    def values(self, W: np.ndarray) -> np.ndarray:
        """Values on all rows, Z̃ W.

        Parameters
        ----------
        W : ndarray of shape (n_components + 1, n_problems)

        Returns
        -------
        ndarray of shape (n_rows, n_problems)
        """
        out = np.empty((self.Z.shape[0], W.shape[1]), dtype=self.Z.dtype)
        inner, offset = np.ascontiguousarray(W[:-1]), W[-1]

        def work(rows: slice) -> None:
            np.matmul(self.Z[rows], inner, out=out[rows])
            out[rows] += offset

        share(work, self._blocks, threads=self.threads)
        return out

    def gradient(self, R: np.ndarray) -> np.ndarray:
        """Sums over rows, Z̃ᵀ R.

        Parameters
        ----------
        R : ndarray of shape (n_rows, n_problems)

        Returns
        -------
        ndarray of shape (n_components + 1, n_problems)
        """
        parts = np.empty((len(self._blocks), self.Z.shape[1] + 1, R.shape[1]), dtype=self.Z.dtype)

        def work(i: int) -> None:
            rows = self._blocks[i]
            np.matmul(self.Z[rows].T, R[rows], out=parts[i, :-1])
            parts[i, -1] = R[rows].sum(axis=0)

        share(work, range(len(self._blocks)), threads=self.threads)
        total: np.ndarray = parts.sum(axis=0)
        return total

    def squares(self, R: np.ndarray) -> np.ndarray:
        """Sums over rows of squared features, (Z̃∘Z̃)ᵀ R.

        Parameters
        ----------
        R : ndarray of shape (n_rows, n_problems)

        Returns
        -------
        ndarray of shape (n_components + 1, n_problems)
        """
        total = np.zeros((self.Z.shape[1] + 1, R.shape[1]), dtype=self.Z.dtype)
        for rows in self._blocks:
            total[:-1] += np.square(self.Z[rows]).T @ R[rows]
        total[-1] = R.sum(axis=0)
        return total

    def mean_gram(self) -> np.ndarray:
        """Z̃ᵀ Z̃ / n, in float64.

        Returns
        -------
        ndarray of shape (n_components + 1, n_components + 1)
        """
        n, width = self.Z.shape
        gram = np.zeros((width + 1, width + 1))
        for rows in self._blocks:
            block = self.Z[rows].astype(np.float64, copy=False)
            gram[:-1, :-1] += block.T @ block
            gram[-1, :-1] += block.sum(axis=0)
        gram[:-1, -1] = gram[-1, :-1]
        gram[-1, -1] = n
        gram /= n
        return gram


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """The Hessian as it were if every row had the mean curvature: I + c Z̃ᵀZ̃/n, with c the sum of the curvatures.

    At the start all rows have the same curvature and one iteration is enough; later it takes what the curvature does to
    columns that differ in size by orders of magnitude, and their correlations, out of the problem.

    Parameters
    ----------
    values : ndarray of shape (rank,) or None
    vectors : ndarray of shape (n_components + 1, rank) or None
        Eigenpairs of the mean Gram matrix; None for the diagonal of the Hessian alone.
    """

    values: np.ndarray | None
    vectors: np.ndarray | None


def preconditioner(rows: DenseRows) -> Preconditioner:
    """From the eigenvectors of all rows where they are worth their price, and else from the diagonal.

    Parameters
    ----------
    rows : DenseRows

    Returns
    -------
    Preconditioner
    """
    n, width = rows.Z.shape
    if width**2 > _SPECTRAL * n:
        return Preconditioner(None, None)
    values, vectors = symmetric_eigen(rows.mean_gram())
    return Preconditioner(np.maximum(values, 0.0), vectors.astype(rows.Z.dtype))


def newton_steps(rows: DenseRows, before: Preconditioner, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve (I + Z̃ᵀ diag(curvature) Z̃) s = −gradient for each column, where Z̃ is Z and a column of ones.

    Parameters
    ----------
    rows : DenseRows
    before : Preconditioner
    curvature : ndarray of shape (n_rows, n_problems)
    gradient : ndarray of shape (n_components + 1, n_problems)

    Returns
    -------
    ndarray of shape (n_components + 1, n_problems)
        With a residual of at most a fifth of the gradient, in the norm of the preconditioner.
    """
    n_rows, width = rows.Z.shape
    active_rows = float(np.count_nonzero(curvature, axis=0).mean())
    small = min(active_rows, width)
    direct_cost = 2.0 * active_rows * width * small + small**3 / 3.0
    patience = int(np.clip(direct_cost / (4.0 * n_rows * width), 5, 2 * width))
    solution, unsolved = _conjugate_gradients(rows, before, curvature, gradient, patience)

    def work(column: int) -> None:
        solution[:, column] = factorized_step(rows.Z, curvature[:, column], gradient[:, column])

    share(work, unsolved.tolist(), threads=min(rows.threads, max(1, unsolved.size)))
    return solution


def _conjugate_gradients(
    rows: DenseRows, before: Preconditioner, curvature: np.ndarray, gradient: np.ndarray, patience: int
) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the columns whose residual is not a fifth of the gradient after `patience` iterations."""
    vectors = before.vectors
    if before.values is None or vectors is None:
        shrink = 1.0 / (1.0 + rows.squares(curvature))
    else:
        spread = curvature.sum(axis=0, dtype=np.float64) * before.values[:, None]
        shrink = (1.0 / (1.0 + spread)).astype(gradient.dtype)

    def solve(right: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if vectors is None:
            scaled: np.ndarray = shrink[:, columns] * right
            return scaled
        turned: np.ndarray = vectors @ (shrink[:, columns] * (vectors.T @ right))
        return turned

    solution = np.zeros_like(gradient)
    residual = -gradient
    active = np.arange(gradient.shape[1])
    direction = solve(residual, active)
    rho = np.einsum("ij,ij->j", residual, direction)
    goal = _FORCING**2 * rho
    for _ in range(patience):
        d = direction[:, active]
        product = d + rows.gradient(curvature[:, active] * rows.values(d))
        alpha = rho[active] / np.einsum("ij,ij->j", d, product)
        solution[:, active] += alpha * d
        residual[:, active] -= alpha * product
        scaled = solve(residual[:, active], active)
        new = np.einsum("ij,ij->j", residual[:, active], scaled)
        direction[:, active] = scaled + (new / rho[active]) * d
        rho[active] = new
        active = active[new > goal[active]]
        if not active.size:
            break
    return solution, active


def factorized_step(Z: np.ndarray, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """One Newton step by Cholesky, of the size of the columns or of the rows that have curvature, whichever is fewer.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
    curvature : ndarray of shape (n_rows,)
    gradient : ndarray of shape (n_components + 1,)

    Returns
    -------
    ndarray of shape (n_components + 1,)
    """
    rows = np.flatnonzero(curvature)
    A = np.empty((rows.size, Z.shape[1] + 1), dtype=Z.dtype)
    A[:, :-1] = Z[rows]
    A[:, -1] = 1.0
    A *= np.sqrt(curvature[rows])[:, None]
    wide = rows.size < A.shape[1]
    system = A @ A.T if wide else A.T @ A
    system[np.diag_indices_from(system)] += 1.0
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    if wide:
        step: np.ndarray = A.T @ linalg.cho_solve(factor, A @ gradient, check_finite=False) - gradient
        return step
    return -np.asarray(linalg.cho_solve(factor, gradient, check_finite=False))
