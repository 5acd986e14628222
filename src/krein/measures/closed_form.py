"""Measures of kernels with a classical spectrum, and the Jordan decomposition of signed sums of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from krein.kernels import Kernel
from krein.kernels.laws import RadiusLaw
from krein.measures.radial_parts import NO_MASS, Density, LawPart, RadialPart
from krein.measures.signed import SignedMeasure

__all__ = ["Term", "closed_terms", "jordan_of_laws"]

Function = Callable[[Any], np.ndarray]
Term = tuple[float, RadiusLaw, Function]

_LOST = 1e-12  # fraction of each law left outside the table at either end
_PANELS_PER_DECADE = 60  # a density changes by 4 % in r from edge to edge, which twelve nodes resolve to rounding
_ROUNDING = 1e-12  # of the terms: what is left of their sum below this is rounding, of either sign


def closed_terms(kernel: Kernel, dim: int) -> list[Term] | None:
    """The kernel as a signed sum of known laws with their transforms, or None if any term has no known law."""
    laws = [(coefficient, part, part.radius_law(dim)) for coefficient, part in kernel.terms()]
    known: list[Term] = [(coefficient, law, part.radial) for coefficient, part, law in laws if law is not None]
    return known if len(known) == len(laws) else None


def jordan_of_laws(dim: int, terms: Sequence[Term]) -> SignedMeasure:
    r"""Jordan parts of :math:`\sum_i c_i P_i`, where the :math:`P_i` are probability laws of the radius.

    The density :math:`\sum_i c_i f_i(r)` is cut at its sign changes. Where the laws overlap, mass cancels: this is less
    than :math:`\sum_i |c_i|`, the mass of the mere difference.
    """
    terms = [term for term in terms if term[0] != 0.0]
    if not terms:
        return SignedMeasure.jordan(dim, NO_MASS, NO_MASS)
    if len(terms) == 1:
        coefficient, law, transform = terms[0]
        return _in_order(dim, LawPart(law, transform, abs(coefficient)), NO_MASS, coefficient > 0)

    def density(r: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum([c * law.pdf(r) for c, law, _ in terms], axis=0))

    def total(z: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum([c * transform(z) for c, _, transform in terms], axis=0))

    edges = _edges_with_roots(density, terms)
    up, down = _signs(terms, 0.5 * (edges[:-1] + edges[1:]))
    if not (up.any() or down.any()):
        return SignedMeasure.jordan(dim, NO_MASS, NO_MASS, bias=_ROUNDING * sum(abs(c) for c, _, _ in terms))
    last_up = bool(up[np.flatnonzero(up | down)[-1]])
    # The part without the tail is integrated; the other is what it needs to be for the difference to be exact.
    light_marks, heavy_marks = (down, up) if last_up else (up, down)
    sign = 1.0 if last_up else -1.0
    light = Density(lambda r: -sign * density(r), edges, light_marks) if light_marks.any() else NO_MASS
    heavy = Density(lambda r: sign * density(r), edges, heavy_marks, lambda z: sign * total(z) + light.evaluate(z, dim))
    return _in_order(dim, heavy, light, last_up)


def _in_order(dim: int, first: RadialPart, second: RadialPart, first_is_positive: bool) -> SignedMeasure:
    return SignedMeasure.jordan(dim, *((first, second) if first_is_positive else (second, first)))


def _signs(terms: Sequence[Term], r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the density is positive and where negative, beyond rounding of its terms: laws that cancel leave no mass."""
    values = np.array([c * law.pdf(r) for c, law, _ in terms])
    margin = _ROUNDING * np.abs(values).sum(axis=0)
    total = values.sum(axis=0)
    return total > margin, total < -margin


def _edges_with_roots(density: Function, terms: Sequence[Term]) -> np.ndarray:
    low = min(float(law.ppf(np.array(_LOST))) for _, law, _ in terms)
    high = max(float(law.ppf(np.array(1 - _LOST))) for _, law, _ in terms)
    n = int(_PANELS_PER_DECADE * np.log10(high / low)) + 2
    edges = np.concatenate([[0.0], np.geomspace(low, high, n)])
    values = density(edges)
    change = np.flatnonzero(np.sign(values[1:-1]) * np.sign(values[2:]) < 0) + 1
    left, right = edges[change], edges[change + 1]
    for _ in range(100):  # bisection on all brackets at once
        middle = 0.5 * (left + right)
        same = np.sign(density(middle)) == np.sign(values[change])
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return np.union1d(edges, 0.5 * (left + right))
