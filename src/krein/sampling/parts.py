"""What samplers do with the two parts of a measure: radii in strata, weights of one size, densities."""

from __future__ import annotations

import math

import numpy as np

from krein.measures import Density, LawPart, RadialPart, SignedMeasure

__all__ = ["density_at", "has_density", "mass_up_to", "paired", "signed_weights", "strata"]


def paired(measure: SignedMeasure, counts: tuple[int, int]) -> list[tuple[RadialPart, int]]:
    """The positive and the negative part, each with its number of frequencies."""
    return [(measure.positive, counts[0]), (measure.negative, counts[1])]


def signed_weights(measure: SignedMeasure, counts: tuple[int, int], inside: float = math.inf) -> np.ndarray:
    """±mass/count for each part, only the mass at radii up to `inside` counted."""
    weights = []
    for sign, (part, count) in zip((1.0, -1.0), paired(measure, counts), strict=True):
        if count:
            weights.append(np.full(count, sign * mass_up_to(part, inside) / count))
    return np.concatenate(weights)


def mass_up_to(part: RadialPart, radius: float) -> float:
    """Mass of a part at radii up to one."""
    if part.mass == 0.0 or math.isinf(radius):
        return part.mass
    return part.mass * float(part.cdf(np.array(radius)))


def strata(part: RadialPart, count: int, rng: np.random.Generator) -> np.ndarray:
    """One radius from each of `count` slices of equal mass, ascending.

    Frequencies of one block then have nearly the same length, which takes up to half the variance off a random order: on a
    common sphere orthogonal directions are at their most complementary.
    """
    if not count:
        return np.empty(0)
    return part.ppf((np.arange(count) + rng.random(count)) / count)


def has_density(part: RadialPart) -> bool:
    """Whether a part has a density, or no mass at all."""
    return isinstance(part, (Density, LawPart)) or part.mass == 0.0


def density_at(part: RadialPart, r: np.ndarray) -> np.ndarray:
    """Density of a part at radii r, zero outside its panels."""
    if isinstance(part, LawPart):
        return np.asarray(part.mass * part.law.pdf(r))
    if isinstance(part, Density):
        return np.asarray(part.density(r))
    return np.zeros_like(r)
