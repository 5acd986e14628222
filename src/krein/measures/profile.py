"""What a picture of a signed measure shows: densities and atoms on the radii worth showing, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from krein.measures.parts import Atoms, Mixture, RadialPart
from krein.measures.signed import SignedMeasure

__all__ = ["Profile", "SignedPart", "radial_profile"]

Sign = Literal["positive", "negative"]

_SHOWN = 0.99  # of the mass of a density; heavy tails would squeeze the rest into a corner
_WIDE = 12.0  # ratio of radii beyond which the axis is logarithmic


@dataclass(frozen=True, eq=False)
class SignedPart:
    """One of the two parts of a measure.

    Parameters
    ----------
    sign : float
        1 or -1, which the heights have in them.
    name : {"positive", "negative"}
    mass : float
    curves : tuple of (ndarray, ndarray)
        Radii and density, per unit of log r where the axis is logarithmic, so that areas are masses there too.
    radii, weights : ndarray
        Of the atoms.
    """

    sign: float
    name: Sign
    mass: float
    curves: tuple[tuple[np.ndarray, np.ndarray], ...]
    radii: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Profile:
    """A measure on radii.

    Parameters
    ----------
    low, high : float
        Radii worth showing: all atoms but the one at 0, and the bulk of each density.
    logarithmic : bool
    parts : tuple of SignedPart
        Those that have mass, the positive one first.
    """

    low: float
    high: float
    logarithmic: bool
    parts: tuple[SignedPart, ...]


def radial_profile(measure: SignedMeasure, steps: int) -> Profile:
    """The numbers behind a picture of a measure."""
    low, high = _radius_range(measure)
    wide = high > _WIDE * low
    grid = np.geomspace(low, high, steps) if wide else np.linspace(0.0, high, steps)
    parts = []
    both: tuple[tuple[float, Sign, RadialPart], ...]
    both = ((1.0, "positive", measure.positive), (-1.0, "negative", measure.negative))
    for sign, name, part in both:
        if part.mass > 0.0:
            densities = (_density(leaf, grid) for leaf in _continuous(part))
            curves = tuple((r, sign * height * (r if wide else 1.0)) for r, height in densities)
            atoms = _atoms(part)
            parts.append(SignedPart(sign, name, part.mass, curves, atoms.radii, sign * atoms.weights))
    return Profile(low, high, wide, tuple(parts))


def _leaves(part: RadialPart) -> tuple[RadialPart, ...]:
    return part.parts if isinstance(part, Mixture) else (part,)


def _continuous(part: RadialPart) -> list[RadialPart]:
    return [leaf for leaf in _leaves(part) if not isinstance(leaf, Atoms) and leaf.mass > 0]


def _atoms(part: RadialPart) -> Atoms:
    found = [leaf for leaf in _leaves(part) if isinstance(leaf, Atoms)]
    return found[0] if found else Atoms(np.empty(0), np.empty(0))


def _density(part: RadialPart, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean density between neighboring radii, from the distribution function that every part has."""
    return 0.5 * (grid[:-1] + grid[1:]), part.mass * np.diff(part.cdf(grid)) / np.diff(grid)


def _radius_range(measure: SignedMeasure) -> tuple[float, float]:
    radii: list[float] = []
    for part in (measure.positive, measure.negative):
        atoms = _atoms(part)
        radii.extend(atoms.radii[atoms.radii > 0])
        for leaf in _continuous(part):
            radii.extend(leaf.ppf(np.array([1 - _SHOWN, _SHOWN])))
    if not radii:
        return 0.1, 1.0
    return 0.7 * float(min(radii)), 1.15 * float(max(radii))
