r"""The average of :math:`\cos(\omega\cdot x)` over directions of :math:`\omega`, at radius and distance with product t.

.. math:: \Omega_d(t) = \Gamma(d/2)\,(2/t)^{d/2-1} J_{d/2-1}(t) = \sum_i w_i \cos(t s_i)

The sum runs over Gauss--Gegenbauer nodes, has positive weights and is therefore stable for every d. It is used up to the
t where its error bound reaches 1e-14; beyond, the Bessel form is safe.
"""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from scipy import linalg, special

__all__ = ["check_dim", "omega"]

_NODES = 128
_ERROR = 1e-14


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
        return np.cos(t)
    if dim == 2:
        return special.j0(t)
    if dim == 3:
        return np.sinc(t / np.pi)
    nodes, weights, limit = _gegenbauer_rule(dim)
    flat = t.ravel()
    result = np.empty_like(flat)
    near = flat <= limit
    result[near] = _cosine_sum(flat[near], nodes, weights)
    result[~near] = _bessel_form(dim, flat[~near])
    return result.reshape(t.shape)


def check_dim(dim: Any) -> int:
    """The dimension as an int, or an error that names the rule."""
    if not isinstance(dim, Integral) or isinstance(dim, bool):
        raise TypeError(f"dim must be an integer, the number of columns of the data, got {dim!r}")
    if dim < 1:
        raise ValueError(f"dim must be at least 1, the number of columns of the data, got {dim}")
    return int(dim)


def _cosine_sum(t: np.ndarray, nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = np.zeros_like(t)
    for start in range(0, t.size, 4096):  # blocks that stay in cache
        block = slice(start, start + 4096)
        total[block] = np.cos(np.multiply.outer(t[block], nodes)) @ weights
    return np.minimum(total, 1.0)  # the weights sum to 1 up to rounding


def _bessel_form(dim: int, t: np.ndarray) -> np.ndarray:
    order = dim / 2 - 1
    bessel = special.jv(order, t)
    with np.errstate(divide="ignore"):  # where J underflows here, Ω is below 1e-14
        log = special.gammaln(dim / 2) + order * np.log(2 / t) + np.log(np.abs(bessel))
    return np.sign(bessel) * np.exp(np.minimum(log, 0.0))


@lru_cache(maxsize=64)
def _gegenbauer_rule(dim: int) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Non-negative nodes, weights, and the largest t for which the rule is good to `_ERROR`.

    The n-point Gauss rule errs by at most :math:`t^{2n}/(2n)!\,\prod_k \beta_k`, with :math:`\beta_k` the recurrence
    coefficients of the monic Gegenbauer polynomials.
    """
    k = np.arange(1.0, _NODES)
    lam = dim / 2 - 1
    beta = k * (k + 2 * lam - 1) / (4 * (k + lam - 1) * (k + lam))
    beta[0] = 1 / dim
    values, vectors = linalg.eigh_tridiagonal(np.zeros(_NODES), np.sqrt(beta))
    half = values > 0
    weights = 2 * vectors[0, half] ** 2
    last = _NODES * (_NODES + 2 * lam - 1) / (4 * (_NODES + lam - 1) * (_NODES + lam))
    log_product = np.log(beta).sum() + math.log(last)
    limit = math.exp((math.log(_ERROR) + special.gammaln(2 * _NODES + 1) - log_product) / (2 * _NODES))
    weights /= weights.sum()
    for array in (values, weights):
        array.setflags(write=False)
    return values[half], weights, limit
