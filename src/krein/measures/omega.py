r"""The average of :math:`\cos(\omega\cdot x)` over directions of :math:`\omega`, at radius and distance with product t.

.. math:: \Omega_d(t) = \Gamma(d/2)\,(2/t)^{d/2-1} J_{d/2-1}(t) = \sum_i w_i \cos(t s_i)

The sum runs over Gauss--Gegenbauer nodes, has positive weights and is therefore stable for every d. It is used up to the
t where its error bound reaches 1e-14; beyond, the Bessel form is safe.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg, special

from krein._core.checks import positive_integer

__all__ = ["check_dim", "omega"]

_NODES = (16, 32, 64, 128)  # of the rules; the smallest that will do at t, as each node costs a cosine
_ERROR = 1e-14  # bound on the error of a rule where it is used: below rounding of the sum
_BLOCK = 4096  # arguments at a time, so that their cosines stay in cache


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
