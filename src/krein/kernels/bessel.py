r"""The modified Bessel function of the second kind, in logarithms and in the form that Matérn kernels have it.

.. math:: M_\nu(x) = \frac{2^{1-\nu}}{\Gamma(\nu)} x^\nu K_\nu(x), \qquad M_\nu(0) = 1
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

__all__ = ["log_kv", "log_matern"]

_TINY = 1e-150  # below, M is 1 minus one power of x to the last bit, and K_ν may leave the floating range
_LARGE_ORDER = 1000.0  # from here on three terms of Debye's expansion are exact to 1e-13


def log_matern(nu: float, x: np.ndarray) -> np.ndarray:
    r"""Logarithm of :math:`M_\nu(x)`, never NaN."""
    x = np.minimum(np.asarray(x, dtype=np.float64), max(4000.0, 4.0 * min(nu, 1e300)))
    if nu >= _LARGE_ORDER:
        return np.asarray(np.minimum(_log_matern_of_large_order(nu, x), 0.0))
    inside = np.maximum(x, _TINY)
    log = (1 - nu) * math.log(2) - special.gammaln(nu) + nu * np.log(inside) + log_kv(nu, inside)
    if nu < 1.0:
        # M = 1 − Γ(1−ν)/Γ(1+ν) (x/2)^(2ν) + O(x²)
        with np.errstate(divide="ignore"):
            drop = special.gammaln(1 - nu) - special.gammaln(1 + nu) + 2 * nu * (np.log(x) - math.log(2))
        near = np.log1p(-np.minimum(np.exp(drop), 1 - 1e-16))
    else:
        near = np.zeros_like(x)
    return np.asarray(np.minimum(np.where(x < _TINY, near, log), 0.0))


def _log_matern_of_large_order(nu: float, x: np.ndarray) -> np.ndarray:
    """Debye's uniform expansion of K_ν(νy) with Stirling's series taken out, so that nothing of the size ν log ν is left."""
    square = (x / nu) ** 2
    root = np.sqrt(1.0 + square)
    excess = square / (1.0 + root)  # √(1+y²) − 1
    p = 1.0 / root
    u1 = (3 * p - 5 * p**3) / 24
    u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
    u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
    series = np.log1p((-u1 + (u2 - u3 / nu) / nu) / nu)
    stirling = (1 / 12 - 1 / (360 * nu) / nu) / nu
    return np.asarray(-nu * (excess - np.log1p(excess / 2)) - 0.5 * np.log(root) + series - stirling)


def log_kv(order: float, x: np.ndarray) -> np.ndarray:
    r"""Logarithm of the modified Bessel function :math:`K_\nu(x)`, also where :math:`K_\nu` overflows.

    .. math:: K_\nu(x) = \tfrac12 \int_{-\infty}^{\infty} e^{\nu s - x\cosh s}\,ds

    by the trapezoidal rule around the peak :math:`\sinh s = \nu/x`: the integrand is entire, so the rule converges
    faster than any power.
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        direct = special.kve(order, x)
        log: np.ndarray = np.log(direct) - x
    broken = ~np.isfinite(log)
    if np.any(broken) and order > 1.0:
        flat = np.atleast_1d(x)[np.atleast_1d(broken)]
        peak = np.arcsinh(order / flat)
        width = 9.5 * (flat**2 + order**2) ** -0.25
        t = np.linspace(0.0, 1.0, 600)
        low, high = peak - width - 1.0 - 45.0 / order, peak + width
        s = low[:, None] + (high - low)[:, None] * t
        with np.errstate(over="ignore"):
            exponent = order * (s - peak[:, None]) - flat[:, None] * (np.cosh(s) - np.cosh(peak)[:, None])
        total = np.exp(exponent).sum(axis=1) * (high - low) / (t.size - 1)
        log = np.atleast_1d(log)
        log[np.atleast_1d(broken)] = order * peak - np.sqrt(flat**2 + order**2) + np.log(total / 2)
        log = log.reshape(x.shape)
    return log
