"""Measures for weights that will be refitted to the data: known before the data are, and remembered."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np

from krein.measures.build import check_degree
from krein.measures.certificate import check_grid
from krein.measures.head import head_columns
from krein.measures.least_mass import least_mass_to_refit
from krein.measures.predict import Outlook
from krein.measures.protocol import RadialKernel
from krein.measures.signed import SignedMeasure

__all__ = ["ToRefit", "measure_to_refit"]

_ROOM = 4  # columns beside a head: a frequency of each sign
_SHARE = 0.75  # of all columns that a head of degree 2 may take off the sphere, where it has three weights to refit
_EXACT = 1e-5  # of sup|k|: the bound on the bias below which a head without waves is the kernel
_CROWD = 4  # times the squared dimension: frequencies from which on more of them want more different radii
_BLEND, _BLEND_FINENESS = 0.02, 2  # how much of another measure to mix in at most, and how fine it is
_BLEND_ERROR = 1e-4  # relative, that it may be expected to bring
_SPARE = 4  # empty columns per column of such a head from which on they are worth a little of the kernel's accuracy


@dataclass(frozen=True)
class ToRefit:
    """A measure whose weights can be refitted.

    Parameters
    ----------
    measure : SignedMeasure
    exact : bool
        The head is the whole kernel, or was until a little of it was given to waves: there is nothing to refit.
    """

    measure: SignedMeasure
    exact: bool


def measure_to_refit(
    kernel: RadialKernel, dim: int, radius: float, n_components: int, head_degree: int | str, *, sphere: bool
) -> ToRefit | None:
    """A head and waves to refit the weights of, or None where so few columns have no room for both.

    Refitting gains far more on the waves that a head leaves over than on those that stand in for it, so ``"auto"`` is the
    largest head that fits. Many frequencies in few dimensions get a smaller tolerance, hence more different radii. A kernel that
    is its own head, as a polynomial can be, would leave most of many columns empty: a small part of it is then given to a lower
    head and its waves, at the price of a relative error of some 1e-4, which gives a linear model more to work with than the few
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
    room = [q for q in columns if columns[q] + _ROOM <= n_components]
    asked = check_degree(head_degree, n_components)
    if not isinstance(asked, str):
        degrees = [q for q in room if q <= asked]
        if asked not in degrees:
            return None
    else:
        most = 2 if sphere or columns[2] <= _SHARE * n_components else 1
        degrees = [q for q in room if 0 <= q <= most]
        if not degrees:
            return None
    values = kernel.radial(check_grid(radius))

    def of(degree: int, least: int = 0) -> SignedMeasure:
        crowd = (n_components - columns[degree]) / (2 * _CROWD * dim**2)
        fineness = max(least, round(math.log2(crowd)))
        return _remembered(_Question(dim, radius, degree, sphere, fineness, values.tobytes()), kernel)

    measure = of(degrees[0])
    if measure.mass > 0.0 or measure.bias > _EXACT * float(
        np.max(np.abs(values))
    ):  # no mass may mean that none would help
        return ToRefit(measure, False)
    spare = n_components - measure.head_columns()
    if spare >= _SPARE * measure.head_columns():
        outlook = Outlook.of(kernel.radial, radius, orthogonal=True)
        size = math.sqrt(float(np.mean(outlook.exact**2))) or 1.0
        for degree in degrees[1:]:
            lower = of(degree, _BLEND_FINENESS)
            if lower.mass > 0.0:
                part = min(_BLEND, _BLEND_ERROR * size / math.sqrt(outlook.error(lower, spare // 2)))
                return ToRefit(measure * (1.0 - part) + lower * part, True)
    return ToRefit(measure, True)


@dataclass(frozen=True)
class _Question:
    """What a measure depends on; the kernel by its values, so that a function that changed is not mistaken for what it was."""

    dim: int
    radius: float
    degree: int
    sphere: bool
    fineness: int
    values: bytes


_MOST_REMEMBERED = 128
_answers: OrderedDict[_Question, SignedMeasure] = OrderedDict()
_lock = Lock()


def _remembered(asked: _Question, kernel: RadialKernel) -> SignedMeasure:
    """The answer to a question, found once; the kernel itself is not kept."""
    with _lock:
        if asked in _answers:
            _answers.move_to_end(asked)
            return _answers[asked]
    rest = 0.5 ** (asked.fineness + 2)
    found = least_mass_to_refit(kernel.radial, asked.dim, asked.radius, asked.degree, rest, sphere=asked.sphere)
    with _lock:
        _answers[asked] = found
        while len(_answers) > _MOST_REMEMBERED:
            _answers.popitem(last=False)
    return found
