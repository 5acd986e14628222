"""Waves for weights that will be refitted, where the best unbiased trade-off has none or next to none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from krein.measures.build import signed_measure
from krein.measures.protocol import RadialKernel
from krein.measures.signed import SignedMeasure

__all__ = ["with_tail"]

_LEAST_TAIL = 1e-2  # of sup|k|: a tail of less mass is no basis to fit weights on
_BLEND, _BLEND_TOL = 0.02, 1e-3  # how much of another measure to mix in, and its tolerance
_SPARE = 4  # empty columns per column of such a head from which on they are worth a little of the kernel's accuracy
_ALMOST_ALL = 1.8  # distances on the sphere up to which a kernel with infinite slope at 2 has a measure


def with_tail(measure: SignedMeasure, kernel: RadialKernel, width: int) -> SignedMeasure:
    """A measure with some mass, if the kernel is more than its head.

    For unbiased weights the head alone can be the best trade of bias and variance, but weights that are refitted need waves to
    work with, and what they are is not delicate: a smaller tolerance gives some. A kernel with infinite slope at antipodal points
    has no measure of useful mass on the whole sphere, so there the waves are those of somewhat smaller distances, with next to no
    mass to start from. A kernel that is its own head, as a polynomial can be, would leave most of many columns empty: a small
    part of it is given to a lower head and its waves, which changes the kernel by less than 1e-4 and gives a linear model more
    to work with than the few columns of an exact kernel of low rank. Where there is no room for a frequency of each sign, the
    measure stays.
    """
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, measure.radius, 65)))))
    if width - measure.head_columns() < 4 or measure.mass >= _LEAST_TAIL * size:
        return measure
    tol, degree, dim, sphere = min(measure.bias, 1e-2 * size) / 3, measure.head.degree, measure.dim, measure.sphere
    if sphere and measure.radius > _ALMOST_ALL:
        try:
            waves = signed_measure(kernel, dim, _ALMOST_ALL, "least_mass", degree, 1e-3 * size, sphere=True)
        except ValueError:
            return measure
        if waves.mass == 0.0:
            return measure
        small = waves * (_LEAST_TAIL * size / waves.mass)
        bias = measure.bias + _LEAST_TAIL * size
        return replace(measure, positive=small.positive, negative=small.negative, bias=bias)
    while measure.mass < _LEAST_TAIL * size and tol > 1e-5 * size:
        try:
            measure = signed_measure(kernel, dim, measure.radius, "least_mass", degree, tol, sphere=sphere)
        except ValueError:
            return measure
        tol /= 10
    spare = width - measure.head_columns()
    for lower in range(degree - 1, -2, -1):
        if measure.mass > 0.0 or spare < _SPARE * measure.head_columns():
            break
        measure = _blend(measure, kernel, lower)
    return measure


def _blend(measure: SignedMeasure, kernel: RadialKernel, degree: int) -> SignedMeasure:
    """A measure with no mass, and a little of the one with a head of lower degree: their heads make up for each other."""
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, measure.radius, 65)))))
    try:
        other = signed_measure(
            kernel, measure.dim, measure.radius, "least_mass", degree, _BLEND_TOL * size, sphere=measure.sphere
        )
    except ValueError:
        return measure
    return measure * (1.0 - _BLEND) + other * _BLEND if other.mass > 0.0 else measure
