r"""Laws of the radius :math:`r = \|\omega\|` when :math:`\omega` has a classical distribution on :math:`\mathbb{R}^d`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import special

__all__ = ["ChiLaw", "RadiusLaw", "StudentLaw", "VarianceGammaLaw", "log_kv", "log_matern"]

_TINY = 1e-150  # below, M counts as 1, and K_ν may leave the floating range


class RadiusLaw(ABC):
    """A probability law on radii :math:`[0, \\infty)`."""

    @abstractmethod
    def pdf(self, r: np.ndarray) -> np.ndarray:
        """Density."""

    def cdf(self, r: np.ndarray) -> np.ndarray:
        """Probability of a radius at most r."""
        return 1.0 - self.sf(r)

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
        ratio = (np.asarray(r, dtype=np.float64) * self.scale) ** 2 / (2 * self.nu)
        rest = 1.0 / (1.0 + ratio)
        return np.where(ratio < 1.0, np.minimum(ratio, 1.0) * rest, 1.0 - rest), rest

    def pdf(self, r: np.ndarray) -> np.ndarray:
        r = np.asarray(r, dtype=np.float64)
        half, nu, log_unit = self.dim / 2, self.nu, math.log(self.scale) - math.log(2 * self.nu) / 2
        rise = np.log1p((r * self.scale) ** 2 / (2 * nu))
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
    r"""Logarithm of the Matérn function :math:`M_\nu(x) = 2^{1-\nu} x^\nu K_\nu(x) / \Gamma(\nu)`."""
    x = np.minimum(np.asarray(x, dtype=np.float64), max(4000.0, 4.0 * nu))  # beyond, M is 0
    inside = np.maximum(x, _TINY)
    log = (1 - nu) * math.log(2) - special.gammaln(nu) + nu * np.log(inside) + log_kv(nu, inside)
    return np.asarray(np.where(x < _TINY, 0.0, np.minimum(log, 0.0)))


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
