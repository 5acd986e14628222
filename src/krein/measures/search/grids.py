"""Distances and radii of a program, and the waves at their products: the same for every R."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from krein.measures.harmonics import omega
from krein.measures.search.policy import SearchPolicy
from krein.measures.signed import SignedMeasure

__all__ = ["Grid", "certified_bias", "check_grid", "even_powers", "unit_grid"]

# The largest dimension in which Ω_d is an elementary or a tabulated function, so that many points are cheap
_CLOSED_FORM_DIM = 3
# Points: some for each period of the fastest waves in use, and 44 per decade next to either end
_CHEBYSHEV, _GEOMETRIC = 1500, 250


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """The grid for R = 1.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Increasing, from 0 to 1.
    radii : ndarray of shape (m,)
        Increasing.
    waves : ndarray of shape (n, m)
        Ω_d of their products.
    """

    distances: np.ndarray
    radii: np.ndarray
    waves: np.ndarray


@lru_cache(maxsize=16)
def unit_grid(dim: int, reach: float, with_zero: bool, policy: SearchPolicy) -> Grid:
    """The grid for one dimension, kept for the next kernel."""
    count = policy.least_distances
    if dim <= _CLOSED_FORM_DIM:
        # Chebyshev points are at most π/2n apart, the shortest wavelength is 2π/(√d·reach): four points to a wavelength.
        count = max(count, min(math.ceil(reach * math.sqrt(dim)), policy.most_distances))
    even = 0.5 - 0.5 * np.cos(np.pi * np.arange(count) / (count - 1))
    distances = np.unique(np.concatenate([even, np.geomspace(policy.nearest, 0.5, policy.near_distances)]))
    decades = math.log10(reach / policy.smallest_radius)
    radii = math.sqrt(dim) * np.geomspace(policy.smallest_radius, reach, math.ceil(policy.radii_per_decade * decades))
    if with_zero:
        radii = np.concatenate([[0.0], radii])
    waves = omega(dim, np.multiply.outer(distances, radii))
    for array in (distances, radii, waves):
        array.setflags(write=False)
    return Grid(distances, radii, waves)


def even_powers(x: np.ndarray, degree: int) -> np.ndarray:
    """The columns 1, x², …, x^{2·degree}; none for degree −1."""
    return x[:, None] ** (2 * np.arange(degree + 1))


def check_grid(radius: float) -> np.ndarray:
    """Distances in [0, R], dense at both ends: a kernel may have a kink at 0 and an infinite slope at R."""
    even = radius * (0.5 - 0.5 * np.cos(np.pi * np.arange(_CHEBYSHEV + 1) / _CHEBYSHEV))
    near = np.geomspace(1e-7 * radius, 0.05 * radius, _GEOMETRIC)
    return np.unique(np.concatenate([even, near, radius - near]))


def certified_bias(function: Callable[[np.ndarray], np.ndarray], measure: SignedMeasure) -> float:
    r"""A bound on :math:`\sup_{[0,R]} |e|` for the residual e = head + Σ w_j Ω_d(r_j z) − k(z).

    On a cell of width h, :math:`|e| \le \max(|e_i|, |e_{i+1}|) + \tfrac{h^2}{8}\sup|e''|`. The second derivative of the
    measure's side is bounded by :math:`\sum|w_j| r_j^2/d` (as :math:`|\Omega_d''| \le 1/d`) plus that of the head; the
    kernel's is estimated by twice its second difference on the grid, because k is a black box.
    """
    z = check_grid(measure.radius)
    k = function(z)
    step = np.diff(z)
    slope = np.diff(k) / step
    bend = np.abs(np.diff(slope)) / (0.5 * (step[:-1] + step[1:]))
    bend = np.maximum(np.concatenate([bend[:1], bend]), np.concatenate([bend, bend[-1:]]))
    curvature = measure.second_moment / measure.dim
    for q, c in enumerate(measure.head.coefficients):
        if q:
            curvature += abs(c) * 2 * q * (2 * q - 1) * measure.radius ** (2 * q - 2)
    size = np.abs(measure.evaluate(z) - k)
    cell = np.maximum(size[:-1], size[1:]) + step**2 / 8 * (curvature + 2 * bend)
    return float(cell.max())
