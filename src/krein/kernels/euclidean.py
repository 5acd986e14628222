r"""Kernels on :math:`\mathbb{R}^d`: the classical positive ones, their difference, and three that grow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.checks import positive_real
from krein.kernels.base import Domain, Kernel
from krein.kernels.facts import Facts
from krein.kernels.laws import ChiLaw, RadiusLaw, StudentLaw, VarianceGammaLaw, log_kv

__all__ = ["Cauchy", "DeltaGaussian", "Gaussian", "Laplacian", "Log", "Matern", "Multiquadric", "ThinPlate"]


class _EuclideanKernel(Kernel):
    @property
    def domain(self) -> Domain:
        return "euclidean"


@dataclass(frozen=True, repr=False)
class _ScaleKernel(_EuclideanKernel):
    """A kernel that is positive definite on every ℝ^d, with a length scale."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive_real(self.scale, "scale"))

    @property
    def facts(self) -> Facts:
        return Facts(edge_smoothness=math.inf, positive_on_spheres=True)


@dataclass(frozen=True, repr=False)
class _GrowingKernel(_EuclideanKernel):
    """A kernel that is not bounded, with a shape."""

    c: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", positive_real(self.c, "c"))

    @property
    def facts(self) -> Facts:
        return Facts(bounded=False, edge_smoothness=math.inf)


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
        z = np.asarray(z, dtype=np.float64) / self.scale
        return np.exp(z * (-0.5 * z))

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
        return np.exp(-np.asarray(z, dtype=np.float64) / self.scale)

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
        Smoothness :math:`\nu > 0`.

    Notes
    -----
    Its spectral measure is the multivariate t law with :math:`2\nu` degrees of freedom and scale :math:`1/s`.
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nu", positive_real(self.nu, "nu"))

    def radial(self, z: Any) -> np.ndarray:
        x = math.sqrt(2 * self.nu) * np.asarray(z, dtype=np.float64) / self.scale
        if self.nu == 0.5:
            return np.exp(-x)
        if self.nu == 1.5:
            return (1 + x) * np.exp(-x)
        if self.nu == 2.5:
            return (1 + x + x * x / 3) * np.exp(-x)
        nu, positive = self.nu, np.where(x > 0.0, np.maximum(x, 1e-300), 1.0)
        log = (1 - nu) * math.log(2) - special.gammaln(nu) + nu * np.log(positive) + log_kv(nu, positive)
        return np.where(x > 0.0, np.minimum(np.exp(log), 1.0), 1.0)

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
        return 1.0 / (1.0 + (np.asarray(z, dtype=np.float64) / self.scale) ** 2)

    def radius_law(self, dim: int) -> RadiusLaw:
        return VarianceGammaLaw(dim, self.scale)


@final
@dataclass(frozen=True, repr=False)
class DeltaGaussian(_EuclideanKernel):
    r"""Difference of two Gaussian kernels; stationary and indefinite.

    .. math:: k(z) = e^{-z^2/2a^2} - e^{-z^2/2b^2}, \qquad 0 < a < b

    Parameters
    ----------
    a, b : float, default=1.0 and 10.0
        Length scales, in the units of the data; the paper's :math:`\tau_1, \tau_2` at its values.

    Notes
    -----
    :math:`N(0, a^{-2}I) - N(0, b^{-2}I)` is *a* decomposition of mass 2. The Jordan parts, which
    :func:`krein.signed_measure` gives, have less mass as the two Gaussians overlap.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian, Gaussian
    >>> k = DeltaGaussian(1.0, 10.0)
    >>> k.terms() == (Gaussian(1.0) - Gaussian(10.0)).terms()
    True
    """

    a: float = 1.0
    b: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", positive_real(self.a, "a"))
        object.__setattr__(self, "b", positive_real(self.b, "b"))
        if not self.a < self.b:
            raise ValueError(
                f"DeltaGaussian needs a < b, got a={self.a} and b={self.b}; for the opposite sign write "
                f"-DeltaGaussian({self.b}, {self.a})"
            )

    def radial(self, z: Any) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        wide = z / self.b
        gap = (z * ((self.b - self.a) / self.b) / self.a) * (z / self.a + wide)  # z²/a² − z²/b²
        return np.exp(-0.5 * wide**2) * np.expm1(-0.5 * gap) + 0.0  # no cancellation near z = 0

    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        return (1.0, Gaussian(self.a)), (-1.0, Gaussian(self.b))


@final
@dataclass(frozen=True, repr=False)
class Multiquadric(_GrowingKernel):
    r"""Multiquadric: unbounded, and minus it is conditionally positive definite of order 1.

    .. math:: k(z) = \sqrt{c^2 + z^2}

    Parameters
    ----------
    c : float, default=1.0
        Shape :math:`c > 0`.
    """

    def radial(self, z: Any) -> np.ndarray:
        return np.hypot(self.c, np.asarray(z, dtype=np.float64))


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


@final
@dataclass(frozen=True, repr=False)
class ThinPlate(_EuclideanKernel):
    r"""Thin-plate spline: unbounded, conditionally positive definite of order 2.

    .. math:: k(z) = z^2 \log z, \qquad k(0) = 0
    """

    def radial(self, z: Any) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        return z * special.xlogy(z, z)

    @property
    def facts(self) -> Facts:
        return Facts(bounded=False, edge_smoothness=math.inf)
