r"""Laws of the radius :math:`r = \|\omega\|` when :math:`\omega` has a classical distribution on :math:`\mathbb{R}^d`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import special

__all__ = ["ChiLaw", "RadiusLaw", "StudentLaw", "VarianceGammaLaw", "log_kv", "log_matern"]

_TINY = 1e-150  # below, M is 1 minus one power of x to the last bit, and K_ν may leave the floating range
_LARGE_ORDER = 1000.0  # from here on three terms of Debye's expansion are exact to 1e-13


class RadiusLaw(ABC):
    """A probability law on radii :math:`[0, \\infty)`."""

    @abstractmethod
    def pdf(self, r: np.ndarray) -> np.ndarray:
        """Density."""

    @abstractmethod
    def cdf(self, r: np.ndarray) -> np.ndarray:
        """Probability of a radius at most r."""

    @abstractmethod
    def sf(self, r: np.ndarray) -> np.ndarray:
        """Probability of a radius above r, without cancellation."""

    @abstractmethod
    def ppf(self, u: np.ndarray) -> np.ndarray:
        """Inverse of `cdf`."""

    @property
    @abstractmethod
    def second_moment(self) -> float:
        """E[r²], possibly infinite."""


@final
@dataclass(frozen=True)
class ChiLaw(RadiusLaw):
    r""":math:`\omega \sim N(0, s^{-2} I_d)`: the spectrum of the Gaussian kernel of scale s."""

    dim: int
    scale: float

    def pdf(self, r: np.ndarray) -> np.ndarray:
        x = np.asarray(r, dtype=np.float64) * self.scale
        half = self.dim / 2
        log = special.xlogy(self.dim - 1, x) - x * x / 2 - (half - 1) * math.log(2) - special.gammaln(half)
        return np.asarray(self.scale * np.exp(log))

    def cdf(self, r: np.ndarray) -> np.ndarray:
        return np.asarray(special.gammainc(self.dim / 2, (np.asarray(r) * self.scale) ** 2 / 2))

    def sf(self, r: np.ndarray) -> np.ndarray:
        return np.asarray(special.gammaincc(self.dim / 2, (np.asarray(r) * self.scale) ** 2 / 2))

    def ppf(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(2 * special.gammaincinv(self.dim / 2, u)) / self.scale)

    @property
    def second_moment(self) -> float:
        return self.dim / self.scale / self.scale  # the square of a scale may be out of range


@final
@dataclass(frozen=True)
class StudentLaw(RadiusLaw):
    r""":math:`\omega \sim t_{2\nu}(0, \ell^{-2} I_d)`: the spectrum of the Matérn kernel, a Cauchy law for ν = ½.

    With :math:`x = r^2\ell^2/(r^2\ell^2 + 2\nu)`, x has the law Beta(d/2, ν).

    Parameters
    ----------
    dim : int
    scale : float
        :math:`\ell`.
    nu : float
    """

    dim: int
    scale: float
    nu: float

    def _fraction(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and 1 − x, each to full relative accuracy."""
        with np.errstate(over="ignore"):  # an infinite ratio is right: x is 1 there
            ratio = (np.asarray(r, dtype=np.float64) * self.scale) ** 2 / (2 * self.nu)
        rest = 1.0 / (1.0 + ratio)
        return np.where(ratio < 1.0, np.minimum(ratio, 1.0) * rest, 1.0 - rest), rest

    def pdf(self, r: np.ndarray) -> np.ndarray:
        r = np.asarray(r, dtype=np.float64)
        half, nu, log_unit = self.dim / 2, self.nu, math.log(self.scale) - math.log(2 * self.nu) / 2
        with np.errstate(divide="ignore"):
            rise = np.logaddexp(0.0, 2 * (np.log(r) + log_unit))  # log(1 + r²ℓ²/2ν), whose square may be out of range
        log = special.xlogy(self.dim - 1, r) + self.dim * log_unit - (half + nu) * rise
        return np.asarray(2 * np.exp(log - special.betaln(half, nu)))

    def cdf(self, r: np.ndarray) -> np.ndarray:
        x, rest = self._fraction(r)
        return np.where(x < 0.5, special.betainc(self.dim / 2, self.nu, x), 1.0 - self._upper(rest))

    def sf(self, r: np.ndarray) -> np.ndarray:
        x, rest = self._fraction(r)
        return np.where(x < 0.5, 1.0 - special.betainc(self.dim / 2, self.nu, x), self._upper(rest))

    def _upper(self, rest: np.ndarray) -> np.ndarray:
        return np.asarray(special.betainc(self.nu, self.dim / 2, rest))

    def ppf(self, u: np.ndarray) -> np.ndarray:
        # From the nearer end: x loses the digits of a heavy tail, 1 − x those of small radii.
        u = np.asarray(u, dtype=np.float64)
        x, rest = special.betaincinv(self.dim / 2, self.nu, u), special.betaincinv(self.nu, self.dim / 2, 1.0 - u)
        with np.errstate(divide="ignore"):
            ratio = np.where(x < 0.5, x / np.where(x < 0.5, 1.0 - x, 1.0), (1.0 - rest) / rest)
        return np.asarray(np.sqrt(2 * self.nu * ratio) / self.scale)

    @property
    def second_moment(self) -> float:
        if self.nu <= 1.0:
            return math.inf
        return self.dim / self.scale / self.scale * (self.nu / (self.nu - 1.0))


@final
@dataclass(frozen=True)
class VarianceGammaLaw(RadiusLaw):
    r""":math:`\omega \sim N(0, 2tc^{-2} I_d)` with :math:`t \sim \mathrm{Exp}(1)`: the spectrum of :math:`1/(1+z^2/c^2)`.

    .. math:: P(\|\omega\| > r) = \frac{2^{1-\mu}}{\Gamma(\mu)} x^\mu K_\mu(x), \qquad \mu = d/2,\; x = cr

    Parameters
    ----------
    dim : int
    scale : float
        :math:`c`.
    """

    dim: int
    scale: float

    def pdf(self, r: np.ndarray) -> np.ndarray:
        mu = self.dim / 2
        x = np.clip(np.asarray(r, dtype=np.float64) * self.scale, 1e-300, 1e6)  # beyond, all is 0
        log = (1 - mu) * math.log(2) - special.gammaln(mu) + mu * np.log(x) + log_kv(abs(mu - 1), x)
        return np.asarray(self.scale * np.exp(log))

    def sf(self, r: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(log_matern(self.dim / 2, np.asarray(r, dtype=np.float64) * self.scale)))

    def cdf(self, r: np.ndarray) -> np.ndarray:
        return 1.0 - self.sf(r)

    def ppf(self, u: np.ndarray) -> np.ndarray:
        u = np.asarray(u, dtype=np.float64)
        low = np.zeros_like(u)
        high = np.full_like(u, 60.0 * (self.dim + 60.0) / self.scale)
        for _ in range(80):  # bisection: the law has no inverse in closed form and this is not a hot path
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < u
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.where(u >= 1.0, np.inf, 0.5 * (low + high))

    @property
    def second_moment(self) -> float:
        return 2 * self.dim / self.scale / self.scale


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
