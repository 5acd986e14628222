r"""Averages over the sphere: of :math:`\cos(\omega\cdot x)` over directions, and of a kernel by degree of spherical harmonics.

.. math:: \Omega_d(t) = \Gamma(d/2)\,(2/t)^{d/2-1} J_{d/2-1}(t) = \sum_i w_i \cos(t s_i)

at radius and distance with product t. The sum runs over Gauss--Gegenbauer nodes, has positive weights and is therefore stable for
every d. It is used up to the t where its error bound reaches 1e-14; beyond, the Bessel form is safe.

Is a kernel positive definite on the unit sphere? The signs of its Gegenbauer coefficients decide (Schoenberg 1942).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg, special

from krein._core.checks import positive_integer

__all__ = [
    "check_dim",
    "lower_dimension_with_negative_degree",
    "negative_degrees",
    "omega",
    "sphere_eigenvalues",
    "sphere_weights",
]

_NODES = (16, 32, 64, 128)  # of the rules; the smallest that will do at t, as each node costs a cosine
_ERROR = 1e-14  # bound on the error of a rule where it is used: below rounding of the sum
_BLOCK = 4096  # arguments at a time, so that their cosines stay in cache
# Degrees of the expansion that are looked at; a kernel with a negative one beyond has some before, as far as is known
_DEGREES = 31
_ROUNDING = 1e-12  # relative to the largest value possible: a thousand roundings of the quadrature
_ANGLES = 1200  # of the quadrature: two for each oscillation of the highest degree, times twenty


def omega(dim: int, t: Any) -> np.ndarray:
    r"""Evaluate :math:`\Omega_d(t)`.

    Parameters
    ----------
    dim : int
        Dimension :math:`d \ge 1`.
    t : array of floats
        Non-negative arguments, any shape.

    Returns
    -------
    ndarray of the shape of t
        Accurate to 1e-10 absolute for d up to 10,000 and t up to 1e6.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import omega
    >>> bool(np.allclose(omega(3, [0.0, 1.0]), [1.0, np.sin(1.0)]))
    True
    """
    dim = check_dim(dim)
    t = np.abs(np.asarray(t, dtype=np.float64))
    if dim == 1:
        return np.asarray(np.cos(t))
    if dim == 2:
        return np.asarray(special.j0(t))
    if dim == 3:
        return np.asarray(np.sinc(t / np.pi))
    flat = t.ravel()
    result = np.empty_like(flat)
    rules = [_gegenbauer_rule(dim, count) for count in _NODES]
    tier = np.searchsorted([limit for _, _, limit in rules], flat)
    for index, (nodes, weights, _) in enumerate(rules):
        near = tier == index
        result[near] = _cosine_sum(flat[near], nodes, weights)
    far = tier == len(rules)
    result[far] = _bessel_form(dim, flat[far])
    return np.asarray(result.reshape(t.shape))


def check_dim(dim: Any) -> int:
    """The dimension as an int, or an error that names the rule."""
    return positive_integer(dim, "dim", why=", the number of columns of the data")


def _cosine_sum(t: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = np.zeros_like(t)
    for start in range(0, t.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        total[block] = np.cos(np.multiply.outer(t[block], nodes)) @ weights
    return np.asarray(np.minimum(total, 1.0))  # the weights sum to 1 up to rounding


def _bessel_form(dim: int, t: np.ndarray) -> np.ndarray:
    order = dim / 2 - 1
    bessel = special.jv(order, t)
    with np.errstate(divide="ignore"):  # where J underflows here, Ω is below 1e-14
        log = special.gammaln(dim / 2) + order * np.log(2 / t) + np.log(np.abs(bessel))
    return np.asarray(np.sign(bessel) * np.exp(np.minimum(log, 0.0)))


@lru_cache(maxsize=256)
def _gegenbauer_rule(dim: int, count: int) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Non-negative nodes, weights, and the largest t for which the rule of `count` nodes is good to `_ERROR`.

    The n-point Gauss rule errs by at most :math:`t^{2n}/(2n)!\,\prod_k \beta_k`, with :math:`\beta_k` the recurrence
    coefficients of the monic Gegenbauer polynomials.
    """
    k = np.arange(1.0, count)
    lam = dim / 2 - 1
    beta = k * (k + 2 * lam - 1) / (4 * (k + lam - 1) * (k + lam))
    beta[0] = 1 / dim
    values, vectors = linalg.eigh_tridiagonal(np.zeros(count), np.sqrt(beta))
    half = values > 0  # the count is even, so no node is 0
    weights = 2 * vectors[0, half] ** 2
    last = count * (count + 2 * lam - 1) / (4 * (count + lam - 1) * (count + lam))
    log_product = np.log(beta).sum() + math.log(last)
    limit = math.exp((math.log(_ERROR) + special.gammaln(2 * count + 1) - log_product) / (2 * count))
    weights /= weights.sum()
    for array in (values, weights):
        array.setflags(write=False)
    return values[half], weights, limit


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
    nodes, weights = special.roots_legendre(_ANGLES)
    return np.asarray(nodes), np.asarray(weights)
