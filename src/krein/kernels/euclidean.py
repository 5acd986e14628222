r"""Kernels on :math:`\mathbb{R}^d`: the classical positive ones, their difference, and three that grow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.checks import param, positive_real
from krein.kernels.decomposition import Split, anchored
from krein.kernels.kernel import Facts, Kernel
from krein.kernels.laws import ChiLaw, RadiusLaw, StudentLaw, VarianceGammaLaw, log_kv, log_matern

__all__ = ["Cauchy", "DeltaGaussian", "Gaussian", "Laplacian", "Log", "Matern", "Multiquadric", "ThinPlate"]

# ν of a Matérn kernel: below, the tail of its spectrum leaves the floating range; above, it is Gaussian but for 1/ν
_ROUGHEST, _SMOOTHEST = 0.05, 10_000.0


@dataclass(frozen=True, repr=False)
class _ScaleKernel(Kernel):
    """A kernel that is positive definite on every ℝ^d, with a length scale."""

    facts = Facts(edge_smoothness=math.inf, positive_on_spheres=True)

    scale: float = param(1.0, positive_real)

    @property
    def length_scale(self) -> float:
        return self.scale

    def _scaled(self, factor: float) -> Kernel:
        return replace(self, scale=self.scale * factor)

    def _in_scales(self, z: Any) -> np.ndarray:
        return np.asarray(np.asarray(z, dtype=np.float64) / self.scale)


@dataclass(frozen=True, repr=False)
class _GrowingKernel(Kernel):
    """A kernel that is not bounded, with a shape."""

    facts = Facts(bounded=False, edge_smoothness=math.inf)

    c: float = param(1.0, positive_real)

    @property
    def length_scale(self) -> float:
        return self.c


@final
@dataclass(frozen=True, repr=False)
class Gaussian(_ScaleKernel):
    r"""Gaussian kernel.

    .. math:: k(z) = e^{-z^2 / 2s^2}

    Parameters
    ----------
    scale : float, default=1.0
        Length scale :math:`s > 0`, in the units of the data.

    Notes
    -----
    Positive definite on every :math:`\mathbb{R}^d`, with spectral measure :math:`N(0, s^{-2} I)`.

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> Gaussian(2.0).radial([0.0, 2.0]).round(4)
    array([1.    , 0.6065])
    """

    def radial(self, z: Any) -> np.ndarray:
        x = self._in_scales(z)
        return np.asarray(np.exp(x * (-0.5 * x)))

    def radial_slope(self, z: Any) -> np.ndarray:
        return self.radial(z) / (-self.scale * self.scale)

    def _joined(self, other: Kernel) -> Kernel | None:
        if not isinstance(other, Gaussian):
            return None
        return Gaussian(1.0 / math.hypot(1.0 / self.scale, 1.0 / other.scale))

    def radius_law(self, dim: int) -> RadiusLaw:
        return ChiLaw(dim, self.scale)


@final
@dataclass(frozen=True, repr=False)
class Laplacian(_ScaleKernel):
    r"""Laplacian (exponential) kernel, of the Euclidean distance.

    .. math:: k(z) = e^{-z/s}

    Parameters
    ----------
    scale : float, default=1.0
        Length scale :math:`s > 0`.

    Notes
    -----
    Its spectral measure is the multivariate Cauchy law: Matérn with :math:`\nu = 1/2`.
    """

    def radial(self, z: Any) -> np.ndarray:
        return np.asarray(np.exp(-self._in_scales(z)))

    def radial_slope(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        return np.divide(-self.radial(z) / self.scale, distances, out=np.zeros_like(distances), where=distances > 0.0)

    def _joined(self, other: Kernel) -> Kernel | None:
        if not isinstance(other, Laplacian):
            return None
        return Laplacian(1.0 / (1.0 / self.scale + 1.0 / other.scale))

    def radius_law(self, dim: int) -> RadiusLaw:
        return StudentLaw(dim, self.scale, 0.5)


@final
@dataclass(frozen=True, repr=False)
class Matern(_ScaleKernel):
    r"""Matérn kernel.

    .. math:: k(z) = \frac{2^{1-\nu}}{\Gamma(\nu)} x^\nu K_\nu(x), \qquad x = \sqrt{2\nu}\, z/s

    Parameters
    ----------
    scale : float, default=1.0
        Length scale :math:`s > 0`.
    nu : float, default=1.5
        Smoothness :math:`\nu`, between 0.05 and 10,000, where it is the Gaussian kernel to three digits.

    Notes
    -----
    Its spectral measure is the multivariate t law with :math:`2\nu` degrees of freedom and scale :math:`1/s`.
    """

    nu: float = param(1.5, positive_real)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _ROUGHEST <= self.nu <= _SMOOTHEST:
            raise ValueError(
                f"nu must be between {_ROUGHEST} and {_SMOOTHEST:,.0f}, where it is Gaussian to three digits, got {self.nu}"
            )

    def radial(self, z: Any) -> np.ndarray:
        x = self._argument(z)
        if self.nu == 0.5:
            return np.asarray(np.exp(-x))
        if self.nu in (1.5, 2.5):
            return np.asarray((1 + x if self.nu == 1.5 else 1 + x + x * x / 3) * np.exp(-x))
        return np.asarray(np.exp(log_matern(self.nu, x)))

    def radial_slope(self, z: Any) -> np.ndarray:
        # d/dx of x^ν K_ν(x) is −x^ν K_{ν−1}(x): with a finite limit at 0 for ν > 1 only.
        x, curvature = self._argument(z), -2.0 * self.nu / self.scale / self.scale
        if self.nu > 1.0:
            return np.asarray(curvature / (2.0 * (self.nu - 1.0)) * np.exp(log_matern(self.nu - 1.0, x)))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log = (1 - self.nu) * math.log(2) - special.gammaln(self.nu) + (self.nu - 1) * np.log(x)
            slope = curvature * np.exp(log + log_kv(1.0 - self.nu, x))
        return np.where(np.isfinite(slope), slope, 0.0)

    def _argument(self, z: Any) -> np.ndarray:
        return np.asarray(math.sqrt(2.0) * math.sqrt(self.nu) * self._in_scales(z))

    def radius_law(self, dim: int) -> RadiusLaw:
        return StudentLaw(dim, self.scale, self.nu)


@final
@dataclass(frozen=True, repr=False)
class Cauchy(_ScaleKernel):
    r"""Cauchy (rational quadratic) kernel.

    .. math:: k(z) = \frac{1}{1 + z^2/s^2}

    Parameters
    ----------
    scale : float, default=1.0
        Length scale :math:`s > 0`.

    Notes
    -----
    A mixture of Gaussians, :math:`\int_0^\infty e^{-t} e^{-tz^2/s^2} dt`, so the radius has a variance-gamma law.
    """

    def radial(self, z: Any) -> np.ndarray:
        x = self._in_scales(z)
        x *= x
        x += 1.0
        return np.asarray(np.divide(1.0, x, out=x))

    def radial_slope(self, z: Any) -> np.ndarray:
        return self.radial(z) ** 2 * (-2.0 / self.scale / self.scale)

    def radius_law(self, dim: int) -> RadiusLaw:
        return VarianceGammaLaw(dim, self.scale)


@final
@dataclass(frozen=True, repr=False)
class DeltaGaussian(Kernel):
    r"""Difference of two Gaussian kernels; stationary and indefinite.

    .. math:: k(z) = e^{-z^2/2a^2} - e^{-z^2/2b^2}, \qquad 0 < a < b

    Parameters
    ----------
    a, b : float, default=1.0 and 10.0
        Length scales, in the units of the data; the paper's :math:`\tau_1, \tau_2` at its values.

    Notes
    -----
    :math:`N(0, a^{-2}I) - N(0, b^{-2}I)` is *a* decomposition, of mass 2. The Jordan parts, which
    :func:`krein.signed_measure` returns, have less mass because the two Gaussians overlap.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian, Gaussian
    >>> k = DeltaGaussian(1.0, 10.0)
    >>> k.terms() == (Gaussian(1.0) - Gaussian(10.0)).terms()
    True
    """

    a: float = param(1.0, positive_real)
    b: float = param(10.0, positive_real)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a >= self.b:
            raise ValueError(
                f"DeltaGaussian needs a < b, got a={self.a} and b={self.b}; equal ones cancel, and the opposite sign is "
                f"-DeltaGaussian({self.b}, {self.a})"
            )

    @property
    def length_scale(self) -> float:
        return self.a

    def _scaled(self, factor: float) -> Kernel:
        return DeltaGaussian(self.a * factor, self.b * factor)

    def radial(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        near, wide = distances / self.a, distances / self.b
        gap = near + wide
        near *= -0.5 * ((self.b - self.a) / self.b)
        gap *= near  # −½(z²/a² − z²/b²)
        wide *= -0.5 * wide
        return np.asarray(np.exp(wide) * np.expm1(gap) + 0.0)  # no cancellation near z = 0

    def radial_slope(self, z: Any) -> np.ndarray:
        return np.asarray(Gaussian(self.a).radial_slope(z) - Gaussian(self.b).radial_slope(z))

    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        return (1.0, Gaussian(self.a)), (-1.0, Gaussian(self.b))


@final
@dataclass(frozen=True, repr=False)
class Multiquadric(_GrowingKernel):
    r"""Multiquadric: unbounded; its negative is conditionally positive definite of order 1.

    .. math:: k(z) = \sqrt{c^2 + z^2}

    Parameters
    ----------
    c : float, default=1.0
        Shape :math:`c > 0`.
    """

    def radial(self, z: Any) -> np.ndarray:
        return np.hypot(self.c, np.asarray(z, dtype=np.float64))

    def radial_slope(self, z: Any) -> np.ndarray:
        return np.asarray(1.0 / self.radial(z))

    def split(self, dim: int) -> Split:
        return anchored(self, -1, 1)

    def _scaled(self, factor: float) -> Kernel:
        return Multiquadric(self.c * factor) / factor


@final
@dataclass(frozen=True, repr=False)
class Log(_GrowingKernel):
    r"""Logarithmic kernel: unbounded below, conditionally positive definite of order 1.

    .. math:: k(z) = -\log(1 + z^2/c^2)

    Parameters
    ----------
    c : float, default=1.0
        Shape :math:`c > 0`.
    """

    def radial(self, z: Any) -> np.ndarray:
        return 0.0 - np.log1p((np.asarray(z, dtype=np.float64) / self.c) ** 2)

    def radial_slope(self, z: Any) -> np.ndarray:
        return np.asarray(-2.0 / (self.c**2 + np.asarray(z, dtype=np.float64) ** 2))

    def split(self, dim: int) -> Split:
        return anchored(self, 1, 1)

    def _scaled(self, factor: float) -> Kernel:
        return Log(self.c * factor)


@final
@dataclass(frozen=True, repr=False)
class ThinPlate(Kernel):
    r"""Thin-plate spline: unbounded, conditionally positive definite of order 2.

    .. math:: k(z) = z^2 \log z, \qquad k(0) = 0
    """

    facts = Facts(bounded=False, edge_smoothness=math.inf)

    def radial(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        return np.asarray(distances * special.xlogy(distances, distances))

    def radial_slope(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        return np.where(distances > 0.0, 2.0 * np.log(np.where(distances > 0.0, distances, 1.0)) + 1.0, 0.0)

    def split(self, dim: int) -> Split:
        return anchored(self, 1, 2)
