"""A radial function as the compiled loop takes it: one polynomial where a few coefficients are enough, else a table of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, final

import numpy as np
from numpy.polynomial import chebyshev

from krein._core.rows import row_norms
from krein.kernels import Kernel

__all__ = [
    "BITS",
    "DEGREE",
    "DIAMETER",
    "STEP",
    "RadialPolynomial",
    "RadialTable",
    "RadialValues",
    "radial_polynomial",
    "radial_table",
    "radial_values",
]

_TABLE_EXTENT = 4.0  # distances that a table provides for, in lengths of the farthest landmark from the middle
_POLYNOMIAL_EXTENTS = (4.0, 3.0, 2.5, 2.0)  # and those that a polynomial does, which needs fewer coefficients for less
# Reaches in an octave, to which others are rounded up, so that samples of the same data share what is computed for them
_REACHES_PER_OCTAVE = 8
DIAMETER = 2.0  # of the sphere
_LEAST_REACH = 1e-5  # of rows on the sphere
_FARTHEST = 1e100  # reach of rows whose distances have squares
_REMEMBERED = 32  # functions of kernels, some with a table of 150 kB

DEGREE = 5  # of the polynomials: a row of the table has six coefficients
_OCTAVES = 24  # below the largest distance; closer pairs are left to the function itself
_STEPS = 7  # bits: 128 intervals an octave
_TABLE_ROUNDING = (
    1e-13  # of the largest value: how far a polynomial may be from the function, which has rounding of its own
)
BITS = 52 - _STEPS  # of a double below those that number its interval
STEP = 8  # coefficients that the compiled loop takes at once
_MOST = 32  # coefficients: beyond, powers cancel, and a table is as fast
_NODES = 48  # at which the function is interpolated
# How far the polynomial may be from the function, by bytes a number, of the largest value
_ROUNDING = {4: 2.5e-7, 8: 2e-14}


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
        fitted[~(off <= _TABLE_ROUNDING * size)] = np.nan
        coefficients = fitted / half ** np.arange(DEGREE + 1)
    coefficients[~np.isfinite(coefficients).all(axis=1)] = np.nan
    beyond = np.full((1, DEGREE + 1), np.nan)
    first = int(edges[:1].view(np.int64)[0] >> BITS) - 1
    return RadialTable(np.concatenate([beyond, coefficients, beyond]), first)


@final
@dataclass(frozen=True, eq=False)
class RadialPolynomial:
    r"""A polynomial in :math:`s = (z^p - c)\,a`, which is from -1 to 1 for the distances it is meant for.

    Parameters
    ----------
    coefficients : ndarray of shape (a multiple of 8,), float32 or float64
        The highest power first, in the type in which it is evaluated.
    root : bool
        p is 1, the distance; else 2, its square, which takes no root and is exact for pairs however close.
    middle, scale : float
        c and a.
    """

    coefficients: np.ndarray
    root: bool
    middle: float
    scale: float

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """The function as the compiled loop computes it, up to rounding; NaN beyond the largest distance."""
        s = ((z if self.root else z * z) - self.middle) * self.scale
        s = np.where(s <= 1.0, s, np.nan).astype(self.coefficients.dtype)
        value = np.zeros_like(s)
        for coefficient in self.coefficients:
            value = value * s + coefficient
        return value


def radial_polynomial(
    radial: Callable[[np.ndarray], np.ndarray], most: float, dtype: np.dtype[Any]
) -> RadialPolynomial | None:
    """The polynomial of a radial function, or None where there is none of few coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Gaussian
    >>> z = np.array([0.0, 0.3, 1.7])
    >>> p = radial_polynomial(Gaussian(1.0).radial, 2.0, np.dtype(np.float64))
    >>> p.root, bool(np.allclose(p(z), np.exp(-z**2 / 2), rtol=1e-13))
    (False, True)
    """
    rounding, points = _ROUNDING[dtype.itemsize], _check_points() * most
    with np.errstate(all="ignore"):
        exact = radial(points)
        allowed = rounding * float(np.abs(exact).max())
        if not np.isfinite(allowed):
            return None
        for root in (False, True):
            half = 0.5 * (most if root else most * most)
            if not np.finfo(np.float64).tiny <= half < np.inf:  # its reciprocal, or it, is no number
                continue
            nodes = half * (1.0 + np.cos(_angles()))
            values = _interpolation() @ radial(nodes if root else np.sqrt(nodes))
            # At most, from each coefficient on; beyond is rounding
            left = np.cumsum(np.abs(values[:_MOST][::-1]))[::-1]
            for count in range(STEP, _MOST + 1, STEP):
                if count < _MOST and left[count] > allowed:
                    continue
                powers = _powers()[:count, :count].T @ values[:count]
                found = RadialPolynomial(powers[::-1].astype(dtype), root, half, 1.0 / half)
                if float(np.abs(found(points) - exact).max()) <= allowed:  # false for NaN
                    return found
    return None


@cache
def _interpolation() -> np.ndarray:
    """From values at the nodes to coefficients of Chebyshev polynomials."""
    matrix = np.cos(np.arange(_NODES)[:, None] * _angles()) * (2.0 / _NODES)
    matrix[0] *= 0.5
    return np.asarray(matrix)


@cache
def _angles() -> np.ndarray:
    """Of the nodes, whose cosines they are."""
    return np.pi * (np.arange(_NODES) + 0.5) / _NODES


@cache
def _powers() -> np.ndarray:
    """Coefficients of the powers in each Chebyshev polynomial."""
    rows = [chebyshev.cheb2poly(row) for row in np.eye(_MOST)]
    return np.stack([np.pad(row, (0, _MOST - row.size)) for row in rows])


@cache
def _check_points() -> np.ndarray:
    """Parts of the largest distance, less than 1: everywhere, and dense near 0, where a function may have a spike."""
    everywhere = np.sin(np.pi / 4 * (1.0 + np.cos(np.pi * np.arange(1, 2 * _NODES) / (2 * _NODES))))
    return np.concatenate([[0.0], np.exp2(-np.arange(1.0, _OCTAVES, 0.25)), everywhere])


@final
@dataclass(frozen=True)
class RadialValues:
    """The radial function of a kernel as the compiled loop takes it: one polynomial, or a table.

    Parameters
    ----------
    kernel : Kernel
        One that knows all distances.
    reach : float
        How far rows lie from their middle.
    """

    kernel: Kernel
    reach: float

    @property
    def table(self) -> RadialTable:
        """The table, for distances that a polynomial does not have."""
        return _remembered_table(self)

    def polynomial(self, dtype: np.dtype[Any]) -> RadialPolynomial | None:
        """The polynomial in single or double precision, for as many distances as there is one."""
        return _remembered_polynomial(self, dtype)


@lru_cache(_REMEMBERED)
def _remembered_table(values: RadialValues) -> RadialTable:
    most = DIAMETER if values.kernel.domain == "sphere" else _TABLE_EXTENT * values.reach
    return radial_table(values.kernel.radial, most)


@lru_cache(2 * _REMEMBERED)
def _remembered_polynomial(values: RadialValues, dtype: np.dtype[Any]) -> RadialPolynomial | None:
    most = [extent * values.reach for extent in _POLYNOMIAL_EXTENTS]
    if values.kernel.domain == "sphere":  # the whole of it if possible: many kernels have a root at its end
        most = [DIAMETER, *(one for one in most if one < DIAMETER)]
    found = (radial_polynomial(values.kernel.radial, one, dtype) for one in most)
    return next((one for one in found if one is not None), None)


def radial_values(kernel: Kernel, rows: np.ndarray) -> RadialValues | None:
    """What the loop needs to know of a kernel, for distances that rows like these have."""
    if not kernel.known_everywhere:
        return None
    reach = float(row_norms(rows - rows.mean(axis=0)).max(initial=0.0))
    if kernel.domain == "sphere":
        reach = min(max(reach, _LEAST_REACH), DIAMETER)
    if not 0.0 < reach < _FARTHEST:
        return None
    return RadialValues(kernel, 2.0 ** (math.ceil(_REACHES_PER_OCTAVE * math.log2(reach)) / _REACHES_PER_OCTAVE))
