"""What samplers do with the two parts of a measure: radii in strata, weights of one size, densities."""

from __future__ import annotations

import math

import numpy as np

from krein._core.checks import one_of
from krein.measures import Density, LawPart, Mixture, RadialPart, SignedMeasure

__all__ = ["ALLOCATIONS", "allocate", "density_at", "has_density", "mass_up_to", "paired", "signed_weights", "strata"]

ALLOCATIONS = ("mass", "neyman", "equal")
# Of a frequency: shares of two parts that are equal but for rounding get the same numbers on every processor
_TIE = 1e-6


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
    if isinstance(part, Mixture):
        return all(has_density(inner) for inner in part.parts)
    return isinstance(part, (Density, LawPart)) or part.mass == 0.0


def density_at(part: RadialPart, r: np.ndarray) -> np.ndarray:
    """Density of a part at radii r, zero outside its panels."""
    if isinstance(part, Mixture):
        return np.asarray(np.sum([density_at(inner, r) for inner in part.parts], axis=0))
    if isinstance(part, LawPart):
        return np.asarray(part.mass * part.law.pdf(r))
    if isinstance(part, Density):
        return np.asarray(part.density(r))
    return np.zeros_like(r)


def allocate(measure: SignedMeasure, n_frequencies: int, rule: str = "mass") -> tuple[int, int]:
    r"""Numbers :math:`s_+, s_-` of frequencies for the positive and the negative part.

    Parameters
    ----------
    measure : SignedMeasure
    n_frequencies : int
    rule : {"mass", "neyman", "equal"}, default="mass"
        ``"mass"``: in proportion to mass. ``"neyman"``: in proportion to mass times the standard deviation of
        :math:`\cos(\omega\cdot\Delta)`, averaged over distances up to the radius of the measure (Neyman 1934, least variance for
        independent draws). ``"equal"``: half each, as in the paper.

    Returns
    -------
    tuple of int
        Each part with mass gets at least one frequency; the odd one of two equal halves goes to the positive part.
    """
    one_of(rule, "allocation", ALLOCATIONS)
    up, down = measure.positive.mass, measure.negative.mass
    if down == 0.0:
        return n_frequencies, 0
    if up == 0.0:
        return 0, n_frequencies
    if n_frequencies < 2:
        raise ValueError(
            f"a measure with two signs needs at least two frequencies, one for each, got {n_frequencies}; use more components"
        )
    if rule == "equal":
        share = 0.5
    elif rule == "neyman":
        a, b = (part.mass * _spread(part, measure) for part in (measure.positive, measure.negative))
        share = a / (a + b) if a + b > 0 else up / (up + down)
    else:
        share = up / (up + down)
    first = min(max(math.floor(share * n_frequencies + 0.5 + _TIE), 1), n_frequencies - 1)
    return first, n_frequencies - first


def _spread(part: RadialPart, measure: SignedMeasure) -> float:
    radius = (
        measure.radius if math.isfinite(measure.radius) else 2 * math.sqrt(measure.dim / max(_typical(part), 1e-300))
    )
    z = np.linspace(0.0, radius, 33)
    mean = part.evaluate(z, measure.dim) / part.mass
    second = (1 + part.evaluate(2 * z, measure.dim) / part.mass) / 2
    return math.sqrt(float(np.mean(np.maximum(second - mean**2, 0.0))))


def _typical(part: RadialPart) -> float:
    return float(part.ppf(np.array(0.5))) ** 2
