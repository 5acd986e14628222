r"""Dense symmetric systems: eigenpairs, Cholesky factors in pieces that threads pull, and one ridge system at one λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from krein._core.errors import SingularSystemError
from krein._core.rows import row_blocks
from krein._core.threads import blas_threads, quiet_blas, share

__all__ = ["RidgeFactor", "SingularSystemError", "ridge_factor", "solve_definite", "symmetric_eigen"]

_PANEL = 512  # columns of a panel of a Cholesky factor
_PIECE = 1024  # rows of a panel that a thread takes at a time


def symmetric_eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues in ascending order, and eigenvectors."""
    with quiet_blas(), blas_threads(float(matrix.shape[0]) ** 3):
        values, vectors = np.linalg.eigh(matrix)
    return values, vectors


@final
@dataclass(frozen=True, eq=False)
class RidgeFactor:
    """The Cholesky factor L of a system, in the lower triangle of a matrix in C's order; what is above it is anything."""

    lower: np.ndarray

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for some right sides."""
        potrs = lapack.spotrs if self.lower.dtype == np.float32 else lapack.dpotrs
        # the lower triangle of a matrix in C's order is the upper one of its transpose in Fortran's
        solved, _ = potrs(self.lower.T, np.asfortranarray(right, dtype=self.lower.dtype), lower=0)
        return np.ascontiguousarray(solved)

    def whitened(self, rows: np.ndarray) -> np.ndarray:
        r"""Rows :math:`L^{-1} z`, whose squared lengths are :math:`z^\top (L L^\top)^{-1} z`."""
        trsm = blas.strsm if self.lower.dtype == np.float32 else blas.dtrsm
        left = np.array(rows, dtype=self.lower.dtype, order="C")
        return np.asarray(trsm(1.0, self.lower.T, left.T, lower=0, trans_a=1, overwrite_b=1).T)

    def inverse_diagonal(self, count: int) -> np.ndarray:
        r"""The last entries of the diagonal of the inverse: :math:`(M^{-1})_{bb} = L_{bb}^{-T} L_{bb}^{-1}`."""
        trtri = lapack.strtri if self.lower.dtype == np.float32 else lapack.dtrtri
        inverse, _ = trtri(np.tril(self.lower[-count:, -count:]).T, lower=0)
        return np.asarray(np.einsum("ij,ij->i", inverse, inverse, dtype=np.float64))


def ridge_factor(
    gram: np.ndarray, penalty: np.ndarray | float, *, overwrite: bool = False, pieces: bool = False
) -> RidgeFactor | None:
    """Factorize K + diag(p), from the lower triangle of K; None where rounding or a negative eigenvalue ate half of the penalty.

    In exact arithmetic no pivot of a matrix without negative eigenvalues is below the least penalty. Threads share the `pieces` of
    a factor that is large and alone; of several at the same time each has one thread and LAPACK, which then is faster by a quarter.
    """
    system = gram if overwrite else gram.copy()
    diagonal = system.reshape(-1)[:: system.shape[0] + 1]
    largest = 0.01 * float(np.finfo(system.dtype).max)  # a row with so much penalty is none
    diagonal += np.asarray(np.minimum(penalty, largest), dtype=system.dtype)
    if not (_factorize_pieces(system) if pieces else _factorize(system)):
        return None
    pivots = np.square(np.diagonal(system), dtype=np.float64)
    return RidgeFactor(system) if bool((pivots >= 0.5 * np.min(penalty)).all()) else None


def _factorize(A: np.ndarray) -> bool:
    """The factor in place of the lower triangle."""
    potrf = lapack.spotrf if A.dtype == np.float32 else lapack.dpotrf
    with quiet_blas(), blas_threads(float(A.shape[0]) ** 3 / 3.0):
        return not potrf(A.T, lower=0, clean=0, overwrite_a=1)[1]


def _factorize_pieces(A: np.ndarray) -> bool:
    """The same panel by panel, each updated by one product for each piece of its rows."""
    single = A.dtype == np.float32
    potrf, trsm = (lapack.spotrf, blas.strsm) if single else (lapack.dpotrf, blas.dtrsm)
    for columns in row_blocks(A.shape[0], _PANEL):
        done, corner = slice(0, columns.start), A[columns, columns]
        with np.errstate(all="ignore"):  # above the diagonal there may be anything
            corner -= A[columns, done] @ A[columns, done].T
        factor, failed = potrf(np.ascontiguousarray(corner).T, lower=0, clean=1, overwrite_a=1)
        if failed:
            return False
        corner[...] = factor.T

        def finish(piece: slice, columns: slice = columns, done: slice = done, factor: np.ndarray = factor) -> None:
            rows = slice(columns.stop + piece.start, columns.stop + piece.stop)
            block = A[rows, columns] - A[rows, done] @ A[columns, done].T
            A[rows, columns] = trsm(1.0, factor, block.T, lower=0, trans_a=1, overwrite_b=1).T

        share(finish, row_blocks(A.shape[0] - columns.stop, _PIECE))
    return True


def solve_definite(gram: np.ndarray, penalty: np.ndarray, cross: np.ndarray) -> np.ndarray:
    r"""Solve :math:`(G + \mathrm{diag}(p))\, w = c` for :math:`p > 0`, in double precision.

    Rows and columns are scaled to a unit diagonal before the Cholesky factorization (van der Sluis 1969: within a factor
    :math:`\sqrt{D}` of the best scaling), because features of the tail are orders smaller than those of the head.
    One step of refinement follows.
    """
    system = gram.copy()
    system[np.diag_indices_from(system)] += penalty
    scale = 1.0 / np.sqrt(np.diagonal(system))
    lower = system * np.multiply.outer(scale, scale)
    if not _factorize(lower):
        raise linalg.LinAlgError("the system is not positive definite")
    factor = RidgeFactor(lower)

    def solve(right: np.ndarray) -> np.ndarray:
        return np.asarray(scale[:, None] * factor.solve(scale[:, None] * right))

    solution = solve(cross)
    solution += solve(cross - system @ solution)  # one step of refinement
    return solution
