r"""How smooth an unknown radial function is away from 0, measured: this decides whether its measure can be finite.

A singularity :math:`|z - z_0|^\alpha` at :math:`z_0 > 0` gives the radial Fourier transform a tail
:math:`|\rho(r)| \sim r^{-\beta}`, :math:`\beta = 1 + \alpha - (d-1)/2`. The exponent α does not depend on the dimension, so it is
fitted in one dimension, to the transform of k times a window that is zero at the origin (singularities there do no harm).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

__all__ = ["FIT_MARGIN", "Shape", "radial_shape", "singularity_exponent"]

Function = Callable[[np.ndarray], np.ndarray]

_SAMPLES = 2**17  # of the function: aliasing bends the tail beyond frequency 4000, well below their number
FIT_MARGIN = 0.05  # a fitted exponent this close to the critical one counts as critical, which is infinite
_FLOOR = 1e-12  # of the largest coefficient: below is rounding


@dataclass(frozen=True)
class Shape:
    """What sampling says of a function on [0, ∞).

    Parameters
    ----------
    bounded : bool
    continuous_at_zero : bool
    limit : float or None
        At infinity, None if it does not settle.
    support : float
        Where it has settled, or how far it was looked at.
    decays : bool
        Whether it has settled there to rounding.
    oscillates : bool
        Whether it does not decay and keeps turning: its transform may then be concentrated, or worse, at some radius.
    """

    bounded: bool = True
    continuous_at_zero: bool = True
    limit: float | None = None
    support: float = math.inf
    decays: bool = False
    oscillates: bool = False


def radial_shape(function: Function) -> Shape:
    """Sample the function from 1e-6 to 1e8."""
    z = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 2801)])
    values = function(z)
    size = np.abs(values)
    if size[z > 1e7].max() > 1.2 * size[z <= 1e4].max() + 1e-300:
        return Shape(bounded=False)
    limit = float(values[-1])
    spread = float(np.max(np.abs(values - limit))) or 1.0
    far = np.abs(values - limit) / spread
    continuous = bool(abs(values[0] - float(function(np.array([1e-200]))[0])) <= 1e-3 * spread)
    if far[z > 1e6].max() > 1e-2:
        return Shape(continuous_at_zero=continuous)
    away = np.flatnonzero(far > (1e-18 if limit == 0.0 else 1e-13))  # a cut leaves a jump, small as it may be
    support = _support(function, limit, z, int(away[-1])) if away.size else 1.0
    half = max(float(z[np.flatnonzero(far > 0.5)[-1]]) if (far > 0.5).any() else 1.0, 1e-5)
    if support < 200 * half:
        return Shape(continuous_at_zero=continuous, limit=limit, support=support, decays=True)
    turns = np.diff(np.sign(np.diff(function(np.linspace(2 * half, 200 * half, 8001)))))
    oscillates = bool(np.count_nonzero(turns) > 10)
    return Shape(continuous_at_zero=continuous, limit=limit, support=200 * half, oscillates=oscillates)


def _support(function: Function, limit: float, z: np.ndarray, last: int) -> float:
    """The end of the support, found exactly where the function is exactly constant beyond it."""
    if last + 1 >= z.size:
        return float(z[-1])
    low, high = float(z[last]), float(z[last + 1])
    if float(function(np.array([high]))[0]) != limit:
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float(function(np.array([middle]))[0]) == limit:
            high = middle
        else:
            low = middle
    return high


def singularity_exponent(function: Function, cutoff: float, *, ends: bool) -> float:
    """Smallest α of a singularity on (0, cutoff], ``inf`` if none is found."""
    inside = [_windowed_exponent(function, length, 0.25, 0.75) for length in (0.99 * cutoff, cutoff / 3, cutoff / 9)]
    if not ends:
        return min(inside)
    return min(*inside, _windowed_exponent(function, cutoff, 0.5, None), _edge_exponent(function, cutoff))


def _windowed_exponent(function: Function, length: float, start: float, stop: float | None) -> float:
    """Exponent seen through a window that rises at `start` and falls at `stop`, in units of the length looked at.

    The steps are Gaussian, narrow enough to vanish (1e-36) at the ends and wide enough to leave no trace in the tail.
    """
    z = (np.arange(_SAMPLES) + 0.5) * (length / _SAMPLES)
    window = special.ndtr((z / length - start) / (start / 12.5))
    if stop is not None:
        window *= special.ndtr((stop - z / length) / ((1 - stop) / 12.5))
    return _spectral_exponent(function(z) * window)


def _spectral_exponent(samples: np.ndarray) -> float:
    size = np.abs(np.fft.rfft(samples, n=2 * _SAMPLES))
    largest = size.max()
    if largest == 0.0:
        return math.inf
    # Frequencies in units of 1/length: beyond 400 the windows have decayed, beyond 4000 aliasing bends the tail.
    omega = np.pi * np.arange(size.size)
    bins = np.geomspace(400.0, 4000.0, 13)
    index = np.digitize(omega, bins)
    level = np.array([np.sqrt(np.mean(size[index == i] ** 2)) for i in range(1, bins.size)]) / largest
    center = np.sqrt(bins[:-1] * bins[1:])
    seen = level > _FLOOR
    if seen.sum() < 4 or not seen[:4].all():
        return math.inf
    slope = np.polyfit(np.log(center[seen]), np.log(level[seen]), 1)[0]
    return float(-slope - 1.0)


def _edge_exponent(function: Function, cutoff: float) -> float:
    """α in k ~ (cutoff − z)^α, from the logarithmic slope next to the edge."""
    gap = cutoff * np.array([1e-4, 1e-5])
    scale = float(np.max(np.abs(function(np.linspace(0.0, cutoff, 65))))) or 1.0
    near = np.abs(function(cutoff - gap))
    if near[1] == 0.0:
        return math.inf
    if abs(near[1] / near[0] - 1) < 0.05 and near[1] > 1e-3 * scale:
        return 0.0
    return math.log(near[0] / near[1]) / math.log(10)
