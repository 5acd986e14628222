"""One ridge system at one λ, and what to say of a system that cannot be solved."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from krein._core.errors import SingularSystemError
from krein._core.threads import blas_threads, quiet_blas
from krein.learning.path import RidgePath

__all__ = ["NEARLY_SINGULAR", "SINGULAR", "SingularSystemError", "clear_of_singularity", "solve_definite"]

NEARLY_SINGULAR = 1e-3  # below this clearance some direction is amplified a thousandfold against hilbert ridge
SINGULAR = 1e-10  # below this one, rounding decides the solution


def solve_definite(gram: np.ndarray, penalty: np.ndarray, cross: np.ndarray) -> np.ndarray:
    r"""Solve :math:`(G + \mathrm{diag}(p))\, w = c` for :math:`p > 0`.

    Rows and columns are scaled to a unit diagonal before the Cholesky factorization (van der Sluis 1969: within a factor
    :math:`\sqrt{D}` of the best scaling), because features of the tail are orders smaller than those of the head.
    One step of refinement follows.
    """
    system = gram.copy()
    system[np.diag_indices_from(system)] += penalty
    scale = 1.0 / np.sqrt(np.diagonal(system))
    with quiet_blas(), blas_threads(float(system.shape[0]) ** 3):
        factor = linalg.cho_factor(
            system * np.multiply.outer(scale, scale), lower=True, overwrite_a=True, check_finite=False
        )

    def solve(right: np.ndarray) -> np.ndarray:
        solved: np.ndarray = scale[:, None] * linalg.cho_solve(factor, scale[:, None] * right, check_finite=False)
        return solved

    solution = solve(cross)
    solution += solve(cross - system @ solution)  # one step of refinement
    return solution


def clear_of_singularity(path: RidgePath, mu: float, wanted: float = 0.1) -> float:
    """The μ nearest to the given one, on a logarithmic scale, whose clearance is large enough."""
    for step in range(1, 4000):
        for candidate in (mu * math.exp(0.02 * step), mu * math.exp(-0.02 * step)):
            if path.clearance(candidate) >= wanted:
                return candidate
    return mu + 2.0 * float(np.abs(path.values).max(initial=0.0))  # beyond every eigenvalue the system is definite
