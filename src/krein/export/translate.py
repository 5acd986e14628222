"""From what a fit gave to a formula of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from krein._core.errors import ExportError
from krein.export.expression import Expression, concatenated, constant
from krein.features import FeatureMap, FittedMap
from krein.features.feature_map import HeadColumns, SectionColumns, WaveColumns
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
from krein.learning.chosen_features import PlacedMap
from krein.learning.kernel_model import KernelModel
from krein.learning.model import LinearModel
from krein.learning.tuning.placement import Placement
from krein.nystroem.fitted_nystroem import FittedNystroem
from krein.similarities import KernelSimilarity

__all__ = ["translate", "radial_expression"]


@singledispatch
def translate(part: Any, rows: Expression) -> Expression:
    """The formula of a fitted part."""
    raise ExportError(f"a {type(part).__name__} cannot be exported: it has no formula for other runtimes")


def unit_length(rows: Expression) -> Expression:
    """Rows divided by their length."""
    return rows / (rows * rows).sum().apply("sqrt")


def sections(kernel: Kernel, rows: Expression, landmarks: np.ndarray) -> Expression:
    """Values of the kernel between placed rows and landmarks."""
    lengths = np.einsum("ij,ij->i", landmarks, landmarks)
    square = (rows * rows).sum() + lengths - (rows @ landmarks.T) * 2.0
    return radial_expression(kernel, square.at_least(0.0))


@translate.register
def _(part: FittedMap, rows: Expression) -> Expression:
    region = part.region
    placed = unit_length(rows) if region.sphere and region.normalize else rows
    return translate(part.feature_map, placed)


@translate.register
def _(part: FeatureMap, rows: Expression) -> Expression:
    columns = [translate(one, rows) for one in part.parts if one.n_columns]
    if part.padding:
        columns.append(rows @ np.zeros((part.dim, part.padding)))
    found = concatenated(columns)
    return found if part.projection is None else found @ part.projection


@translate.register
def _(part: WaveColumns, rows: Expression) -> Expression:
    angles = rows @ part.frequencies.vectors.T
    return concatenated([angles.apply("cos"), angles.apply("sin")]) * constant(np.sqrt(np.abs(part.column_weights)))


@translate.register
def _(part: SectionColumns, rows: Expression) -> Expression:
    return sections(part.kernel, rows, part.landmarks)


@translate.register
def _(part: HeadColumns, rows: Expression) -> Expression:
    basis = part.basis
    centered = rows - basis.center
    square = (centered * centered).sum() / basis.scale
    powers = [square * 0.0 + 1.0, square, square * square]
    columns: list[Expression] = [concatenated(powers[: len(basis.radial_mix)]) @ basis.radial_mix]
    for mix in basis.linear_mix.T:
        factor = concatenated(powers[: mix.size]) @ mix[:, None]
        columns.append(centered * factor)
    if basis.degree >= 2:
        first, second = np.triu_indices(basis.dim)
        columns.append(centered.columns(first) * centered.columns(second))
    return concatenated(columns) * constant(np.sqrt(np.abs(part.weights)))


@translate.register
def _(part: FittedNystroem, rows: Expression) -> Expression:
    similarity = part.similarity
    if not isinstance(similarity, KernelSimilarity):
        raise ExportError(f"a map of {similarity!r} cannot be exported: other runtimes cannot call the similarity")
    if similarity.kernel.domain == "sphere" and similarity.kernel.scales_rows:
        rows = unit_length(rows)
    return sections(similarity.kernel, rows, np.asarray(part.landmarks, dtype=np.float64)) @ np.pad(
        part.root.astype(np.float64), ((0, 0), (0, part.signature.size - part.rank))
    )


@translate.register
def _(part: Placement, rows: Expression) -> Expression:
    if part.scores is not None:
        raise ExportError("normal scores of columns cannot be exported; no runtime has piecewise linear functions")
    if part.shift is not None:
        rows = rows - part.shift
    if part.scale is not None:
        rows = rows * part.scale if part.scale.ndim == 1 else rows @ part.scale
    if part.limits is not None:
        rows = rows.at_least(part.limits[0]).at_most(part.limits[1])
    if part.lift is None:
        return rows
    return unit_length(concatenated([rows, (rows * 0.0).sum() + part.lift]))


@translate.register
def _(part: PlacedMap, rows: Expression) -> Expression:
    return translate(part.map, translate(part.placement, rows))


@translate.register
def _(part: KernelModel, rows: Expression) -> Expression:
    if not isinstance(part.rows, np.ndarray):
        raise ExportError("a model of sparse rows cannot be exported; fit it on dense ones")
    return sections(part.kernel, translate(part.placement, rows), part.rows) @ part.dual + part.offset


@translate.register
def _(part: LinearModel, rows: Expression) -> Expression:
    return translate(part.features, rows) @ part.coef.T + part.intercept


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
    total, power = constant(1.0), t
    for coefficient in orders[kernel.nu][1:]:
        total, power = total + power * coefficient, power * t
    return total * (-t).apply("exp")


def _kappa(cosine: Expression) -> tuple[Expression, Expression]:
    """Arc-cosine kernels of order 0 and 1 of the cosine of an angle."""
    bounded = cosine.at_least(-1.0).at_most(1.0)
    away = bounded.apply("arccos") * -1.0 + math.pi
    sine = (bounded * bounded * -1.0 + 1.0).at_least(_NEAREST).apply("sqrt")
    return away / math.pi, (sine + bounded * away) / math.pi


def _ntk(kernel: Any, square: Expression) -> Expression:
    sigma = square * -0.5 + 1.0
    total = sigma
    for _ in range(kernel.depth):
        slope, sigma = _kappa(sigma)
        total = total * slope + sigma
    return total


def _polynomial(kernel: Any, square: Expression) -> Expression:
    base = square * (-1.0 / float(kernel.a) ** 2) + 1.0
    return math.prod([base] * (int(kernel.p) - 1), start=base)


def _sum(kernel: Any, square: Expression) -> Expression:
    first, *others = (radial_expression(part, square) * float(coefficient) for coefficient, part in kernel.parts)
    return sum(others, start=first)


_FORMULAS: dict[type[Kernel], Callable[[Any, Expression], Expression]] = {
    Gaussian: lambda k, square: _gaussian(k.scale, square),
    DeltaGaussian: lambda k, square: _gaussian(k.a, square) - _gaussian(k.b, square),
    Laplacian: lambda k, square: (_distance(square) * (-1.0 / k.scale)).apply("exp"),
    Matern: _matern,
    Cauchy: lambda k, square: constant(1.0) / (square * (1.0 / k.scale**2) + 1.0),
    Multiquadric: lambda k, square: (square + k.c**2).apply("sqrt"),
    ArcCosine: lambda k, square: _kappa(square * -0.5 + 1.0)[k.order],
    NTK: _ntk,
    SphericalPolynomial: _polynomial,
    Scaled: lambda k, square: radial_expression(k.kernel, square * (1.0 / k.scale**2)),
    Sum: _sum,
}
