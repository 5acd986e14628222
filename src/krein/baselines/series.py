r"""Kernels on the sphere as power series of the inner product.

.. math:: f(u) = k(\sqrt{2 - 2u}) \approx \sum_{n \le N} c_n u^n, \qquad -1 \le u \le 1

Polynomials, Gaussians, arc-cosine kernels and the NTK of one layer have closed forms. For any other function the Maclaurin
series may converge slowly or not at all on :math:`[-1, 1]` (tanh(au + b) has poles at distance
:math:`\sqrt{b^2 + \pi^2/4}/|a|` of 0, a radial kernel with a kink at z = 0 is singular at u = 1); there the coefficients
of least weighted mass that stay within a tolerance of f on the interval are found by a linear program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import optimize, special

from krein._core.checks import frozen_array
from krein.baselines.inner_product import InnerPolynomial
from krein.kernels import NTK, ArcCosine, Gaussian, Kernel, SphericalPolynomial

__all__ = ["MAX_DEGREE", "PowerSeries", "candidate_series"]

MAX_DEGREE = 24  # products of more projections than this have no use: their variance grows exponentially
_TOLERANCES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # relative to the largest value of the kernel
_GROWTH = math.sqrt(3.0)  # standard deviation of a sign product at x = y grows by up to this factor per degree


@dataclass(frozen=True, eq=False)
class PowerSeries:
    """A polynomial of the inner product.

    Parameters
    ----------
    coefficients : ndarray of shape (degree + 1,)
        From degree 0 on, of either sign.
    error : float
        The largest difference from the kernel on [−1, 1].
    """

    coefficients: np.ndarray
    error: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", frozen_array(self.coefficients, "coefficients", (None,)))

    @property
    def degree(self) -> int:
        """The degree."""
        return int(self.coefficients.size) - 1

    def __call__(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(np.polynomial.polynomial.polyval(u, self.coefficients))


@lru_cache(maxsize=128)
def candidate_series(kernel: Kernel) -> tuple[PowerSeries, ...]:
    """Series to choose from: one if the kernel is a polynomial, else from coarse to fine; empty if none comes near.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> candidate_series(SphericalPolynomial(a=2, p=2))[0].coefficients
    array([0.25, 0.5 , 0.25])
    """
    if all(isinstance(term, InnerPolynomial) for _, term in kernel.terms()):
        degrees = [term.degree for _, term in kernel.terms() if isinstance(term, InnerPolynomial)]
        return (PowerSeries(_closed_form(kernel, max(degrees)), 0.0),)
    u = np.cos(np.linspace(0.0, np.pi, 257))
    values = kernel.radial(np.sqrt(np.maximum(2.0 - 2.0 * u, 0.0)))
    if all(isinstance(term, SphericalPolynomial) for _, term in kernel.terms()):
        top = max(term.p for _, term in kernel.terms() if isinstance(term, SphericalPolynomial))
        found = [_closed_form(kernel, top)]
    elif all(_known(term) for _, term in kernel.terms()):
        whole = _closed_form(kernel, MAX_DEGREE)
        found = [whole[: top + 1] for top in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, MAX_DEGREE)]
    else:
        fitted = (_least_mass(u, values, tolerance) for tolerance in _TOLERANCES)
        found = [coefficients for coefficients in fitted if coefficients is not None]
    fine = np.cos(np.linspace(0.0, np.pi, 4097))
    exact = kernel.radial(np.sqrt(np.maximum(2.0 - 2.0 * fine, 0.0)))
    errors = [float(np.abs(np.polynomial.polynomial.polyval(fine, c) - exact).max()) for c in found]
    return tuple(PowerSeries(c, error) for c, error in zip(found, errors, strict=True))


def _known(kernel: Kernel) -> bool:
    known = isinstance(kernel, SphericalPolynomial | Gaussian | ArcCosine)
    return known or (isinstance(kernel, NTK) and kernel.depth == 1)


def _closed_form(kernel: Kernel, top: int) -> np.ndarray:
    """Maclaurin coefficients of degree 0, …, top of a signed sum of kernels with known series."""
    total = np.zeros(top + 1)
    for factor, term in kernel.terms():
        total += factor * _term_series(term, top)
    return total


def _term_series(kernel: Kernel, top: int) -> np.ndarray:
    n = np.arange(top + 1)
    if isinstance(kernel, SphericalPolynomial):
        slope = 2.0 / kernel.a**2
        return np.asarray(special.binom(kernel.p, n) * slope**n * (1.0 - slope) ** np.maximum(kernel.p - n, 0))
    if isinstance(kernel, InnerPolynomial):
        rest = np.maximum(kernel.degree - n, 0)
        return np.asarray(special.binom(kernel.degree, n) * kernel.slope**n * kernel.constant**rest)
    if isinstance(kernel, Gaussian):  # exp(-(1 - u)/s²)
        rate = 1.0 / kernel.scale**2
        return np.asarray(np.exp(-rate + special.xlogy(n, rate) - special.gammaln(n + 1)))
    step = _arc_sine(top) / np.pi  # κ₀ = 1/2 + arcsin(u)/π
    step[0] += 0.5
    if isinstance(kernel, ArcCosine) and kernel.order == 0:
        return step
    ramp = _shift(step)  # κ₁ = u κ₀ + √(1 − u²)/π
    even = n[::2]
    ramp[::2] += special.binom(0.5, even // 2) * (-1.0) ** (even // 2) / np.pi
    return ramp if isinstance(kernel, ArcCosine) else _shift(step) + ramp


def _arc_sine(top: int) -> np.ndarray:
    """Σ C(2k, k) / (4^k (2k + 1)) u^{2k+1}."""
    series = np.zeros(top + 1)
    k = np.arange((top + 1) // 2)
    series[1::2] = special.binom(2 * k, k) / (4.0**k * (2 * k + 1))
    return series


def _shift(series: np.ndarray) -> np.ndarray:
    """The series of u f(u)."""
    return np.concatenate([[0.0], series[:-1]])


def _least_mass(u: np.ndarray, values: np.ndarray, tolerance: float) -> np.ndarray | None:
    """The polynomial of least weighted mass within a tolerance of the values, or None if there is none."""
    powers = u[:, None] ** np.arange(MAX_DEGREE + 1)
    size = max(float(np.abs(values).max()), 1e-300)
    both = np.hstack([powers, -powers])
    result = optimize.linprog(
        np.tile(_GROWTH ** np.arange(MAX_DEGREE + 1), 2),
        A_ub=np.vstack([both, -both]),
        b_ub=np.concatenate([values / size + tolerance, tolerance - values / size]),
        bounds=(0, None),
        method="highs",
    )
    if result.status != 0:
        return None
    coefficients: np.ndarray = size * (result.x[: MAX_DEGREE + 1] - result.x[MAX_DEGREE + 1 :])
    top = np.flatnonzero(coefficients)
    return coefficients[: top[-1] + 1] if top.size else coefficients[:1]
