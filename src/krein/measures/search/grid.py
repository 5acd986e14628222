"""Distances and radii of a program, and the waves at their products: the same for every R."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from krein.measures.omega import omega
from krein.measures.search.policy import SearchPolicy

__all__ = ["Grid", "even_powers", "unit_grid"]

# The largest dimension in which Ω_d is an elementary or a tabulated function, so that many points are cheap
_CLOSED_FORM_DIM = 3


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
