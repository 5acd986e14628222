"""What a program is asked for, and what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["Goal", "Solution"]


@final
@dataclass(frozen=True)
class Goal:
    """What a program minimizes, in units of the largest |k|.

    Parameters
    ----------
    tol : float
        ε; tolerance up to this is free.
    mass_price, tol_price : float
        a and b.
    mass_limit : float
        M.
    beyond_use : float
        The search ends as soon as the cost is known to be larger.
    """

    tol: float = 0.0
    mass_price: float = 1.0
    tol_price: float = 1.0
    mass_limit: float = math.inf
    beyond_use: float = math.inf


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum of a program, in units of the largest |k| and of R.

    Parameters
    ----------
    weights : ndarray of shape (n_radii,)
    coefficients : ndarray of shape (degree + 1,)
    tol : float
        Largest residual on the grid, ε + t.
    excess : float
        t.
    bound : float
        No measure costs less than this.
    """

    weights: np.ndarray
    coefficients: np.ndarray
    tol: float
    excess: float
    bound: float

    @property
    def mass(self) -> float:
        """Σ|w_j|."""
        return float(np.abs(self.weights).sum())
