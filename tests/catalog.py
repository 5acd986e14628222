"""One list of all kernels, and each of them again from the formulas of the paper and of MATH.md, number by number."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np

from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Kernel,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    Product,
    Radial,
    Scaled,
    Sigmoid,
    SphericalPolynomial,
    Sum,
    ThinPlate,
)

__all__ = ["KERNELS", "NAMED", "POSITIVE", "exact_slope", "reference"]


def _tent(z: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1.0 - z / 3.0)


NAMED: list[Kernel] = [
    Gaussian(0.7),
    Laplacian(1.3),
    Matern(1.1, 1.5),
    Cauchy(0.8),
    DeltaGaussian(1.0, 10.0),
    SphericalPolynomial(2, 2),
    ArcCosine(0),
    ArcCosine(1),
    NTK(),
    Sigmoid(1.0, -0.5),
    GeodesicGaussian(0.9),
    Multiquadric(1.0),
    Log(1.0),
    ThinPlate(),
]

KERNELS: list[Kernel] = [
    *NAMED,
    Matern(0.9, 0.3),
    Matern(1.0, 0.5),
    Matern(1.0, 2.5),
    Matern(2.0, 7.0),
    DeltaGaussian(1.0, 1.001),
    SphericalPolynomial(2.5, 5),
    NTK(2),
    NTK(4),
    Sigmoid(2.0, 2.0),
    GeodesicGaussian(3.0),
    Multiquadric(0.1),
    Log(3.0),
    Radial(_tent),
    Radial(_tent, domain="sphere"),
    2.0 * Gaussian(1.0) - Laplacian(0.5),
    -3.0 * NTK() + 0.5 * SphericalPolynomial(2, 3) - Cauchy(2.0),
    Gaussian(1.0) * Cauchy(2.0),
    ArcCosine(0) * SphericalPolynomial(2, 2),
    Gaussian(1.5) * NTK() - 2.0 * Matern(1.0, 2.0) * Cauchy(0.7) * Cauchy(0.7),
    Multiquadric(1.0) * Log(2.0),
    Multiquadric(1.0).scaled(3.0),
    ThinPlate().scaled(2.0),
    ThinPlate().scaled(0.5) * Gaussian(1.0) - ThinPlate(),
    Radial(_tent).scaled(0.7),
]

# Positive definite on every ℝ^d or on every sphere, by theorem.
POSITIVE: list[Kernel] = [
    Gaussian(0.3),
    Gaussian(5.0),
    Laplacian(0.4),
    Matern(1.0, 0.2),
    Matern(1.0, 2.5),
    Cauchy(0.5),
    SphericalPolynomial(2, 2),
    SphericalPolynomial(3, 7),
    ArcCosine(0),
    ArcCosine(1),
    NTK(),
    NTK(3),
    Gaussian(1.0) * Cauchy(2.0),
    Laplacian(0.7) * Matern(1.0, 2.5) * Cauchy(1.0),
    NTK(2) * SphericalPolynomial(2, 3),
    Gaussian(2.0) * ArcCosine(1) + 0.1 * NTK(),
]


def reference(kernel: Kernel, z: float) -> float:
    """k(z) in 40 digits, from the formula alone."""
    with mp.workdps(40):
        return float(_exact(kernel, mp.mpf(z)))


def exact_slope(kernel: Kernel, z: float) -> float:
    """k'(z)/z, from the formula alone: a difference of 60 digits."""
    with mp.workdps(60):
        return float(mp.diff(lambda t: _exact(kernel, t), mp.mpf(z), h=mp.mpf(10) ** -25) / mp.mpf(z))


def _exact(kernel: Kernel, z: mp.mpf) -> mp.mpf:
    if isinstance(kernel, Sum):
        return mp.fsum(mp.mpf(c) * _exact(k, z) for c, k in kernel.parts)
    if isinstance(kernel, Product):
        return mp.fprod(_exact(k, z) for k in kernel.parts)
    if isinstance(kernel, Scaled):
        return _exact(kernel.kernel, z / mp.mpf(kernel.scale))
    return _FORMULAS[type(kernel)](kernel, z)


def _matern(kernel: Matern, z: mp.mpf) -> mp.mpf:
    if z == 0:
        return mp.mpf(1)
    nu = mp.mpf(kernel.nu)
    x = mp.sqrt(2 * nu) * z / mp.mpf(kernel.scale)
    return 2 ** (1 - nu) / mp.gamma(nu) * x**nu * mp.besselk(nu, x)


def _inner(z: mp.mpf) -> mp.mpf:
    return 1 - z * z / 2


def _kappa0(u: mp.mpf) -> mp.mpf:
    return (mp.pi - mp.acos(u)) / mp.pi


def _kappa1(u: mp.mpf) -> mp.mpf:
    return (u * (mp.pi - mp.acos(u)) + mp.sqrt(1 - u * u)) / mp.pi


def _ntk(kernel: NTK, z: mp.mpf) -> mp.mpf:
    sigma = theta = _inner(z)
    for _ in range(kernel.depth):
        theta = theta * _kappa0(sigma) + _kappa1(sigma)
        sigma = _kappa1(sigma)
    return theta


def _sigmoid(kernel: Sigmoid, z: mp.mpf) -> mp.mpf:
    return mp.tanh(mp.mpf(kernel.a) * _inner(z) + mp.mpf(kernel.b))


_FORMULAS: dict[type, Callable] = {
    Gaussian: lambda k, z: mp.exp(-(z**2) / (2 * mp.mpf(k.scale) ** 2)),
    Laplacian: lambda k, z: mp.exp(-z / mp.mpf(k.scale)),
    Matern: _matern,
    Cauchy: lambda k, z: 1 / (1 + (z / mp.mpf(k.scale)) ** 2),
    DeltaGaussian: lambda k, z: mp.exp(-(z**2) / (2 * mp.mpf(k.a) ** 2)) - mp.exp(-(z**2) / (2 * mp.mpf(k.b) ** 2)),
    SphericalPolynomial: lambda k, z: (1 - z**2 / mp.mpf(k.a) ** 2) ** k.p,
    ArcCosine: lambda k, z: _kappa0(_inner(z)) if k.order == 0 else _kappa1(_inner(z)),
    NTK: _ntk,
    Sigmoid: _sigmoid,
    GeodesicGaussian: lambda k, z: mp.exp(-((2 * mp.asin(z / 2)) ** 2) / (2 * mp.mpf(k.scale) ** 2)),
    Multiquadric: lambda k, z: mp.sqrt(mp.mpf(k.c) ** 2 + z**2),
    Log: lambda k, z: -mp.log(1 + z**2 / mp.mpf(k.c) ** 2),
    ThinPlate: lambda k, z: z**2 * mp.log(z) if z > 0 else mp.mpf(0),
    Radial: lambda k, z: max(mp.mpf(0), 1 - z / 3),
}
