r"""The Fourier transform of a radial function on :math:`\mathbb{R}^d`, as a density of radii.

.. math:: \rho(r) = \frac{2^{1-d/2}}{\Gamma(d/2)}\, r^{d/2} \int_0^L k(z)\, z^{d/2} J_{d/2-1}(rz)\,dz

The Jacobian :math:`r^{d-1}` is included. Where the Bessel function underflows the integrand does too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

__all__ = ["hankel_density"]

_ORDER = 20  # Gauss nodes per panel
_PHASE = 16.0  # radians of the Bessel function per panel
_ROUNDING = 1e-13  # relative to the integral of the absolute value: what is below has no digit left and is set to 0
_GRADING = 0.2 ** np.arange(14, 0, -1)  # panels shrink towards the ends, where k may be singular


def hankel_density(function: Callable[[np.ndarray], np.ndarray], r: Any, dim: int, cutoff: float) -> np.ndarray:
    """ρ(r) of the function set to zero beyond `cutoff`, by Gauss--Legendre on panels graded towards both ends.

    The integral cancels more and more as d and r grow; where nothing is left of it but rounding the result is 0. In dimensions
    above about 20 that is most of the density: the caller compares the transform back with k.
    """
    r = np.asarray(r, dtype=np.float64)
    flat, result = r.ravel(), np.empty(r.size)
    # Panels resolve the Bessel function and the power z^{d/2}; powers of two make few distinct rules.
    levels = np.ceil(np.log2(np.maximum(flat * cutoff / _PHASE, max(8.0, dim / 16)))).astype(int)
    for level in np.unique(levels):
        z, weights = _rule(2**level, cutoff)
        values = weights * function(z)
        used = values != 0.0
        z, values = z[used], values[used]
        chosen = np.flatnonzero(levels == level)
        step = max(1, 2**20 // max(1, z.size))
        for start in range(0, chosen.size, step):
            rows = chosen[start : start + step]
            waves = _kernel(flat[rows], z, dim)
            result[rows] = waves @ values
            noise = _ROUNDING * (np.abs(waves) @ np.abs(values))
            result[rows[np.abs(result[rows]) <= noise]] = 0.0
    return result.reshape(r.shape)


def _rule(panels: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    inner = np.arange(1, panels) / panels
    ends = _GRADING / panels
    edges = length * np.concatenate([[0.0], ends, inner, 1.0 - ends[::-1], [1.0]])
    x, w = np.polynomial.legendre.leggauss(_ORDER)
    half = np.diff(edges) / 2
    z = (edges[:-1] + half)[:, None] + half[:, None] * x
    return np.minimum(z.ravel(), length), (half[:, None] * w).ravel()


def _kernel(r: np.ndarray, z: np.ndarray, dim: int) -> np.ndarray:
    """2^{1−d/2}/Γ(d/2)·(rz)^{d/2} J_{d/2−1}(rz), which is exp(log) where factors alone would overflow."""
    half, t = dim / 2, np.multiply.outer(r, z)
    if dim == 1:
        return np.asarray(2 / np.pi * np.cos(t))
    constant = (1 - half) * math.log(2) - special.gammaln(half)
    bessel = _bessel(half - 1, t)
    if half < 60:
        return np.asarray(math.exp(constant) * t**half * bessel)
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.sign(bessel) * np.exp(np.minimum(constant + half * np.log(t) + np.log(np.abs(bessel)), 600.0))
        )


def _bessel(order: float, t: np.ndarray) -> np.ndarray:
    """J_order for orders 0, ½, 1, …: upward recurrence where it is stable, t > order, ten times faster than the general routine."""
    if order > 12:
        return np.asarray(special.jv(order, t))
    result = np.empty_like(t)
    near = t <= max(order, 1.0)
    result[near] = special.jv(order, t[near])
    far = t[~near]
    if order % 1.0:
        amplitude = np.sqrt(2 / (np.pi * far))
        n, before, current = 0.5, amplitude * np.cos(far), amplitude * np.sin(far)
    elif order == 0:
        n, before, current = 0.0, far, special.j0(far)
    else:
        n, before, current = 1.0, special.j0(far), special.j1(far)
    while n < order:
        before, current = current, (2 * n / far) * current - before
        n += 1.0
    result[~near] = current
    return result
