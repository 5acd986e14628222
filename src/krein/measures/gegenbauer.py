r"""Is a kernel positive definite on the unit sphere? The signs of its Gegenbauer coefficients decide (Schoenberg 1942)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import special

__all__ = ["lower_dimension_with_negative_degree", "negative_degrees", "sphere_eigenvalues", "sphere_weights"]

# Degrees of the expansion that are looked at; a kernel with a negative one beyond has some before, as far as is known
_DEGREES = 31
_ROUNDING = 1e-12  # relative to the largest value possible: a thousand roundings of the quadrature
_NODES = 1200  # of the quadrature: two for each oscillation of the highest degree, times twenty


def sphere_eigenvalues(function: Callable[[np.ndarray], np.ndarray], dim: int, degrees: int = _DEGREES) -> np.ndarray:
    r"""Eigenvalues of the kernel's integral operator on :math:`S^{d-1}` with the uniform measure, degree by degree.

    .. math:: b_n = \int_0^\pi k(2\sin\tfrac\theta2)\, P_n(\cos\theta) \sin^{d-2}\theta\,d\theta
              \Big/ \int_0^\pi \sin^{d-2}\theta\,d\theta

    where :math:`P_n` is the Gegenbauer polynomial with :math:`P_n(1) = 1`. The integral is taken in the angle, in which kernels
    with a kink at 0 or an infinite slope at 2 are smooth. For d = 1 the sphere is two points and there are two degrees.
    """
    if dim == 1:
        same, opposite = (float(v) for v in function(np.array([0.0, 2.0])))
        return np.array([same + opposite, same - opposite]) / 2
    nodes, weights = _legendre()
    theta = np.pi / 2 * (nodes + 1)
    u = np.cos(theta)
    with np.errstate(divide="ignore"):
        log = (dim - 2) * np.log(np.sin(theta))
    weight = weights * np.exp(log - log.max()) if dim > 2 else weights.copy()
    values = function(np.minimum(2 * np.sin(theta / 2), 2.0)) * weight / weight.sum()
    result = np.empty(degrees)
    before, current = np.ones_like(u), u
    for n in range(degrees):
        result[n] = before @ values
        before, current = current, ((2 * n + dim) * u * current - (n + 1) * before) / (n + dim - 1)
    return result


def negative_degrees(function: Callable[[np.ndarray], np.ndarray], dim: int) -> np.ndarray:
    r"""Degrees whose eigenvalue is negative beyond rounding; none means positive definite as far as can be told here.

    Rounding is measured against :math:`\sup|k|\,\|P_n\|_2 = \sup|k|/\sqrt{N(n, d)}`, the largest value that an eigenvalue can
    have, with N the number of spherical harmonics of degree n.
    """
    values = sphere_eigenvalues(function, dim)
    return np.flatnonzero(values < -_rounding(function, values.size, dim))


def sphere_weights(function: Callable[[np.ndarray], np.ndarray], dim: int) -> np.ndarray:
    r"""What each degree has of k(0): :math:`w_n = N(n, d)\,b_n`, so that :math:`k = \sum_n w_n P_n`, k(0) = Σ w_n."""
    values = sphere_eigenvalues(function, dim)
    seen = np.abs(values) > _rounding(function, values.size, dim)
    return np.where(seen, values * np.exp(np.where(seen, _log_harmonics(values.size, dim), 0.0)), 0.0)


def lower_dimension_with_negative_degree(function: Callable[[np.ndarray], np.ndarray], dim: int) -> int | None:
    """A dimension up to `dim` in which some eigenvalue is negative, or None.

    A lower sphere is a slice of a higher one, so what is not positive definite there is not here. In high dimension eigenvalues
    of degree n fall like :math:`d^{-n}` below rounding; this sees them where they are large.
    """
    lower = [d for d in (2, 3, 5, 9, 17, 33, 65, 129, 257) if d < dim]
    return next((d for d in [dim, *reversed(lower)] if negative_degrees(function, d).size), None)


def _rounding(function: Callable[[np.ndarray], np.ndarray], degrees: int, dim: int) -> np.ndarray:
    """Below which an eigenvalue of each degree is rounding."""
    scale = float(np.max(np.abs(function(np.linspace(0.0, 2.0, 65))))) or 1.0
    return _ROUNDING * scale * np.exp(-0.5 * _log_harmonics(degrees, dim))


def _log_harmonics(degrees: int, dim: int) -> np.ndarray:
    """log N(n, d), N = (2n + d − 2)/(n + d − 2)·C(n + d − 2, n)."""
    if dim == 1:
        return np.zeros(degrees)
    n = np.arange(1.0, degrees)
    log = np.log((2 * n + dim - 2) / n) + special.gammaln(n + dim - 2) - special.gammaln(n) - special.gammaln(dim - 1)
    return np.concatenate([[0.0], log])


@lru_cache(maxsize=1)
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = special.roots_legendre(_NODES)
    return np.asarray(nodes), np.asarray(weights)
