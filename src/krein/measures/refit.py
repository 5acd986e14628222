"""Measures for weights that will be refitted to the data: known before the data are, and remembered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from krein.measures.build import check_degree
from krein.measures.head import head_columns
from krein.measures.least_mass import least_mass_to_refit
from krein.measures.protocol import RadialKernel
from krein.measures.signed import SignedMeasure

__all__ = ["measure_to_refit"]

_ROOM = 4  # columns beside a head: a frequency of each sign
_SHARE = (
    0.75  # of all columns, that a head of degree 2 may take off the sphere, where it has only three weights to refit
)
_CROWD = 4  # times the squared dimension: frequencies from which on more of them want more different radii
_BLEND, _BLEND_FINENESS = 0.02, 2  # how much of another measure to mix in, so fine that calibration leaves it alone
_SPARE = 4  # empty columns per column of such a head from which on they are worth a little of the kernel's accuracy


def measure_to_refit(
    kernel: RadialKernel, dim: int, radius: float, n_components: int, head_degree: int | str, *, sphere: bool
) -> SignedMeasure | None:
    """A head and waves to refit the weights of, or None where so few columns have no room for both.

    Refitting gains far more on the waves that a head leaves over than on those that stand in for it, so ``"auto"`` is the
    largest head that fits. Many frequencies in few dimensions get a smaller tolerance, hence more different radii. A kernel that
    is its own head, as a polynomial can be, would leave most of many columns empty: a small part of it is then given to a lower
    head and its waves, which changes the kernel by less than 1e-4 and gives a linear model more to work with than the few
    columns of an exact kernel of low rank.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    radius : float
    n_components : int
        Output columns the features will have.
    head_degree : {-1, 0, 1, 2} or "auto"
    sphere : bool
        Whether rows are unit vectors.
    """
    columns = {q: head_columns(q, dim, sphere=sphere) for q in (2, 1, 0, -1)}
    degrees = [q for q in columns if columns[q] + _ROOM <= n_components]
    asked = check_degree(head_degree, n_components)
    if not isinstance(asked, str):
        degrees = [q for q in degrees if q <= asked]
        if not degrees or degrees[0] != asked:
            return None
    elif not sphere and columns[2] > _SHARE * n_components:
        degrees = [q for q in degrees if q < 2]
    if not degrees:
        return None
    values = kernel.radial(np.linspace(0.0, radius, 129)).tobytes()

    def of(degree: int, least: int = 0) -> SignedMeasure:
        crowd = (n_components - columns[degree]) / (2 * _CROWD * dim**2)
        fineness = max(least, round(math.log2(crowd)))
        return _remembered(_Question(dim, radius, degree, sphere, fineness, values, kernel))

    measure = of(degrees[0])
    spare = n_components - measure.head_columns()
    if measure.mass == 0.0 and spare >= _SPARE * measure.head_columns():
        for degree in degrees[1:]:
            lower = of(degree, _BLEND_FINENESS)
            if lower.mass > 0.0:
                return measure * (1.0 - _BLEND) + lower * _BLEND
    return measure


@dataclass(frozen=True)
class _Question:
    """What a measure depends on; the kernel by its values, so that a function that changed is not mistaken for what it was."""

    dim: int
    radius: float
    degree: int
    sphere: bool
    fineness: int
    values: bytes
    kernel: RadialKernel = field(compare=False)


@lru_cache(maxsize=128)
def _remembered(asked: _Question) -> SignedMeasure:
    rest = 0.5 ** (asked.fineness + 2)
    return least_mass_to_refit(asked.kernel.radial, asked.dim, asked.radius, asked.degree, rest, sphere=asked.sphere)
