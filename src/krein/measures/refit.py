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
from krein.measures.protocol import RadialKernel
from krein.measures.signed import SignedMeasure

__all__ = ["ToRefit", "measure_to_refit"]

_ROOM = 4  # columns beside a head: a frequency of each sign
_SHARE = 0.75  # of all columns that a head of degree 2 may take off the sphere, where it has three weights to refit
_EXACT = 1e-5  # of sup|k|: the bound on the bias below which a head without waves is the kernel
_CROWD = 4  # times the squared dimension: frequencies from which on more of them want more different radii


@dataclass(frozen=True)
class ToRefit:
    """A measure whose weights can be refitted.

    Parameters
    ----------
    measure : SignedMeasure
    exact : bool
        The head is the whole kernel: there is nothing to refit, and no use for waves.
    """

    measure: SignedMeasure
    exact: bool


def measure_to_refit(
    kernel: RadialKernel, dim: int, radius: float, n_components: int, head_degree: int | str, *, sphere: bool
) -> ToRefit | None:
    """A head and waves to refit the weights of, or None where so few columns have no room for both.

    Refitting gains far more on the waves that a head leaves over than on those that stand in for it, so ``"auto"`` is the
    largest head that fits. Many frequencies in few dimensions get a smaller tolerance, hence more different radii. A head that
    is the whole kernel, as a polynomial's can be, needs no room beside it.

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
    asked = check_degree(head_degree, n_components)
    values = kernel.radial(check_grid(radius))
    size = float(np.max(np.abs(values)))

    def of(degree: int) -> ToRefit:
        crowd = max(n_components - columns[degree], 1) / (2 * _CROWD * dim**2)
        fineness = max(0, round(math.log2(crowd)))
        measure = _remembered(_Question(dim, radius, degree, sphere, fineness, values.tobytes()), kernel)
        # no mass may mean that none would help
        return ToRefit(measure, measure.mass == 0.0 and measure.bias <= _EXACT * size)

    for degree in (2, 1, 0):  # a head that just fits is worth taking if it is the whole kernel
        if columns[degree] <= n_components < columns[degree] + _ROOM and asked in ("auto", degree):
            found = of(degree)
            if found.exact:
                return found
    room = [q for q in columns if columns[q] + _ROOM <= n_components]
    if not isinstance(asked, str):
        return of(asked) if asked in room else None
    most = 2 if sphere or columns[2] <= _SHARE * n_components else 1
    degrees = [q for q in room if 0 <= q <= most]
    return of(degrees[0]) if degrees else None


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
