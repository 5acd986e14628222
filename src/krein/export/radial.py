"""Kernels as formulas of the squared distance, for those whose formula other runtimes can compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from krein._core.errors import ExportError
from krein.export.expression import Expression, constant
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Laplacian,
    Matern,
    Multiquadric,
    Scaled,
    SphericalPolynomial,
    Sum,
)

__all__ = ["radial_expression"]

_NEAREST = 1e-30  # squared distances below this are this: a root has no slope at zero


def radial_expression(kernel: Kernel, square: Expression) -> Expression:
    r"""The kernel of squared distances."""
    formula = _FORMULAS.get(type(kernel))
    if formula is None:
        known = ", ".join(sorted(one.__name__ for one in _FORMULAS))
        raise ExportError(
            f"{kernel!r} cannot be exported: ONNX and torch have operators for these kernels only: {known}; "
            "features without kernel sections (weights='calibrated') can be exported for every kernel"
        )
    return formula(kernel, square)


def _distance(square: Expression) -> Expression:
    return square.at_least(_NEAREST).apply("sqrt")


def _gaussian(scale: float, square: Expression) -> Expression:
    return (square * (-0.5 / scale**2)).apply("exp")


def _matern(kernel: Any, square: Expression) -> Expression:
    orders = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}
    if kernel.nu not in orders:
        raise ExportError(
            f"{kernel!r} cannot be exported: only nu of 0.5, 1.5 and 2.5 have formulas without Bessel functions"
        )
    t = _distance(square) * (math.sqrt(2.0 * kernel.nu) / float(kernel.scale))
    coefficients = orders[kernel.nu]
    total, power = constant(1.0), t
    for coefficient in coefficients[1:]:
        total, power = total + power * coefficient, power * t
    return total * (-t).apply("exp")


def _kappa(cosine: Expression) -> tuple[Expression, Expression]:
    """Arc-cosine kernels of order 0 and 1 of the cosine of an angle."""
    bounded = cosine.at_least(-1.0).at_most(1.0)
    away = bounded.apply("arccos") * -1.0 + math.pi
    sine = (bounded * bounded * -1.0 + 1.0).at_least(_NEAREST).apply("sqrt")
    return away / math.pi, (sine + bounded * away) / math.pi


def _arc_cosine(kernel: Any, square: Expression) -> Expression:
    return _kappa(square * -0.5 + 1.0)[kernel.order]


def _ntk(kernel: Any, square: Expression) -> Expression:
    sigma = square * -0.5 + 1.0
    total = sigma
    for _ in range(kernel.depth):
        slope, sigma = _kappa(sigma)
        total = total * slope + sigma
    return total


def _polynomial(kernel: Any, square: Expression) -> Expression:
    base = square * (-1.0 / float(kernel.a) ** 2) + 1.0
    total = base
    for _ in range(int(kernel.p) - 1):
        total = total * base
    return total


def _sum(kernel: Any, square: Expression) -> Expression:
    parts = [radial_expression(part, square) * float(coefficient) for coefficient, part in kernel.parts]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


_FORMULAS: dict[type[Kernel], Callable[[Any, Expression], Expression]] = {
    Gaussian: lambda k, square: _gaussian(k.scale, square),
    DeltaGaussian: lambda k, square: _gaussian(k.a, square) - _gaussian(k.b, square),
    Laplacian: lambda k, square: (_distance(square) * (-1.0 / k.scale)).apply("exp"),
    Matern: _matern,
    Cauchy: lambda k, square: constant(1.0) / (square * (1.0 / k.scale**2) + 1.0),
    Multiquadric: lambda k, square: (square + k.c**2).apply("sqrt"),
    ArcCosine: _arc_cosine,
    NTK: _ntk,
    SphericalPolynomial: _polynomial,
    Scaled: lambda k, square: radial_expression(k.kernel, square * (1.0 / k.scale**2)),
    Sum: _sum,
}
