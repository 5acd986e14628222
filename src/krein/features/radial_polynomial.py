"""A radial function as one polynomial, where a few coefficients are enough: no table is needed in the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.polynomial import chebyshev

__all__ = ["STEP", "RadialPolynomial", "radial_polynomial"]

STEP = 8  # coefficients that the compiled loop takes at once
_MOST = 32  # coefficients: beyond, powers cancel, and a table is as fast
_NODES = 48  # at which the function is interpolated
_OCTAVES = 24  # below the largest distance, over which the polynomial is compared with the function
# How far the polynomial may be from the function, by bytes a number, of the largest value
_ROUNDING = {4: 2.5e-7, 8: 2e-14}


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
