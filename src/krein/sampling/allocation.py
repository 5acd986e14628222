"""How many frequencies each part of a signed measure gets."""

from __future__ import annotations

import math

import numpy as np

from krein._core.checks import one_of
from krein.measures import RadialPart, SignedMeasure

__all__ = ["ALLOCATIONS", "allocate"]

ALLOCATIONS = ("mass", "neyman", "equal")
# Of a frequency: shares of two parts that are equal but for rounding get the same numbers on every processor
_TIE = 1e-6


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
