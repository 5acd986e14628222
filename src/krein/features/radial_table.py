"""A radial function as a table of polynomials, so that one compiled loop serves every kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["BITS", "DEGREE", "RadialTable", "radial_table"]

DEGREE = 5  # of the polynomials: a row of the table has six coefficients
_OCTAVES = 24  # below the largest distance; closer pairs are left to the function itself
_STEPS = 7  # bits: 128 intervals an octave
_ROUNDING = 1e-13  # of the largest value: how far a polynomial may be from the function, which has rounding of its own
BITS = 52 - _STEPS  # of a double below those that number its interval


@final
@dataclass(frozen=True, eq=False)
class RadialTable:
    """Polynomials in the distance from the middle of each interval, intervals of equal length within an octave.

    The sign, the exponent and the first bits of a distance, as one integer, number its interval: nothing is searched for.

    Parameters
    ----------
    coefficients : ndarray of shape (n_intervals, 6)
        The constant first. NaN where no polynomial is as good as the function, and in the first and the last interval, which
        stand for all that lies beyond.
    first : int
        Number of the first interval.
    """

    coefficients: np.ndarray
    first: int

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """The function as the compiled loop computes it; NaN where the table has no answer."""
        bits = np.asarray(z, dtype=np.float64).view(np.int64)
        rows = self.coefficients[np.clip((bits >> BITS) - self.first, 0, len(self.coefficients) - 1)]
        with np.errstate(invalid="ignore"):  # an infinite distance has no middle
            step = z - ((bits >> BITS << BITS) | (1 << (BITS - 1))).view(np.float64)
            value = rows[..., DEGREE]
            for power in range(DEGREE - 1, -1, -1):
                value = value * step + rows[..., power]
        return np.asarray(value)


def radial_table(radial: Callable[[np.ndarray], np.ndarray], most: float) -> RadialTable:
    """The table of a radial function.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Gaussian
    >>> z = np.array([0.3, 1.7])
    >>> bool(np.allclose(radial_table(Gaussian(1.0).radial, 2.0)(z), np.exp(-z**2 / 2), rtol=1e-14))
    True
    """
    top = math.frexp(most)[1] - (math.frexp(most)[0] == 0.5)  # 2**(top - 1) < most <= 2**top
    edges = np.ldexp(1.0 + np.arange(2**_STEPS) / 2**_STEPS, np.arange(top - _OCTAVES, top)[:, None]).ravel()
    half = np.diff(np.append(edges, 2.0**top))[:, None] / 2
    middle = edges[:, None] + half
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    extremes = np.cos(np.pi * np.arange(DEGREE + 2) / (DEGREE + 1))  # both ends among them
    with np.errstate(all="ignore"):
        values = radial((middle + half * nodes).ravel()).reshape(len(edges), -1)
        fitted = values @ np.linalg.inv(np.vander(nodes, increasing=True)).T
        between = radial((middle + half * extremes).ravel()).reshape(len(edges), -1)
        off = np.abs(fitted @ np.vander(extremes, DEGREE + 1, increasing=True).T - between).max(axis=1)
        size = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
        fitted[~(off <= _ROUNDING * size)] = np.nan
        coefficients = fitted / half ** np.arange(DEGREE + 1)
    coefficients[~np.isfinite(coefficients).all(axis=1)] = np.nan
    beyond = np.full((1, DEGREE + 1), np.nan)
    first = int(edges[:1].view(np.int64)[0] >> BITS) - 1
    return RadialTable(np.concatenate([beyond, coefficients, beyond]), first)
