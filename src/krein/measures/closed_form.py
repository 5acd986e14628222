"""Measures of kernels with a classical spectrum, and the Jordan decomposition of signed sums of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from krein.measures.density import Density, LawPart
from krein.measures.parts import NO_MASS, Law, RadialPart
from krein.measures.signed import SignedMeasure

__all__ = ["Term", "has_table", "jordan_of_laws", "truncated_laws"]

Term = tuple[float, Law, Callable[[np.ndarray], np.ndarray]]

_LOST = 1e-12  # fraction of each law left outside the table at either end
_PANELS_PER_DECADE = 60  # a density changes by 4 % in r from edge to edge, which twelve nodes resolve to rounding
_ROUNDING = 1e-12  # of the terms: what is left of their sum below this is rounding, of either sign
_LARGEST = 1e150  # radius in a table: beyond, squares overflow


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
        part = LawPart(law, transform, abs(coefficient))
        return SignedMeasure.jordan(dim, *((part, NO_MASS) if coefficient > 0 else (NO_MASS, part)))

    density = _density(terms)

    def total(z: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum([c * transform(z) for c, _, transform in terms], axis=0))

    edges = _edges_with_roots(density, terms)
    up, down = _signs(terms, 0.5 * (edges[:-1] + edges[1:]))
    if not (up.any() or down.any()):
        return SignedMeasure.jordan(dim, NO_MASS, NO_MASS, bias=_ROUNDING * sum(abs(c) for c, _, _ in terms))
    last_up = bool(np.flatnonzero(up | down)[-1] in np.flatnonzero(up))
    # The part without the tail is integrated; the other is what it needs to be for the difference to be exact.
    light_marks, heavy_marks = (down, up) if last_up else (up, down)
    sign = 1.0 if last_up else -1.0
    if not light_marks.any():
        heavy: RadialPart = Density(lambda r: sign * density(r), edges, heavy_marks, lambda z: sign * total(z))
        return SignedMeasure.jordan(dim, *((heavy, NO_MASS) if last_up else (NO_MASS, heavy)))
    light = Density(lambda r: -sign * density(r), edges, light_marks)
    heavy = Density(lambda r: sign * density(r), edges, heavy_marks, lambda z: sign * total(z) + light.evaluate(z, dim))
    return SignedMeasure.jordan(dim, *((heavy, light) if last_up else (light, heavy)))


def has_table(terms: Sequence[Term]) -> bool:
    """Whether the Jordan parts can be had: a single law needs no table, and the tails of several must not be too heavy for one."""
    filled = [term for term in terms if term[0] != 0.0]
    return len(filled) < 2 or _fits(*_range(filled))


def truncated_laws(dim: int, terms: Sequence[Term], r_max: float) -> SignedMeasure:
    """Jordan parts of the same sum cut at a radius; the bias is at most the mass cut off, at every distance."""
    density = _density(terms)
    edges = _edges_with_roots(density, terms)
    edges = np.append(edges[edges < r_max * (1 - 1e-12)], r_max)
    up, down = _signs(terms, 0.5 * (edges[:-1] + edges[1:]))
    positive = Density(lambda r: np.maximum(density(r), 0.0), edges, up) if up.any() else NO_MASS
    negative = Density(lambda r: np.maximum(-density(r), 0.0), edges, down) if down.any() else NO_MASS
    bias = sum(abs(c) * float(law.sf(np.array(r_max))) for c, law, _ in terms)
    return SignedMeasure.jordan(
        dim, positive, negative, bias=bias + 1e-12, note=f"truncated at r = {r_max:.4g} as asked"
    )


def _range(terms: Sequence[Term]) -> tuple[float, float]:
    """Radii between which all but a fraction `_LOST` of each law lies."""
    low = min(float(law.ppf(np.array(_LOST))) for _, law, _ in terms)
    high = max(float(law.ppf(np.array(1 - _LOST))) for _, law, _ in terms)
    return max(low, 1 / _LARGEST), high


def _fits(low: float, high: float) -> bool:
    return low < high < _LARGEST


def _signs(terms: Sequence[Term], r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the density is positive and where negative, beyond rounding of its terms: laws that cancel leave no mass."""
    values = np.array([c * law.pdf(r) for c, law, _ in terms])
    margin = _ROUNDING * np.abs(values).sum(axis=0)
    total = values.sum(axis=0)
    return total > margin, total < -margin


def _density(terms: Sequence[Term]) -> Callable[[np.ndarray], np.ndarray]:
    def density(r: np.ndarray) -> np.ndarray:
        return np.asarray(np.sum([c * law.pdf(r) for c, law, _ in terms], axis=0))

    return density


def _edges_with_roots(density: Callable[[np.ndarray], np.ndarray], terms: Sequence[Term]) -> np.ndarray:
    low, high = _range(terms)
    if not _fits(low, high):
        raise ValueError(
            f"the radii of the spectra go up to {high:.2g}, and a table has those from {1 / _LARGEST:g} to {_LARGEST:g}: a tail is "
            "too heavy for a table (a Matérn kernel with nu below about 0.04), or a scale is out of range; use method='least_mass' "
            "with the data's radius, a larger nu or another scale"
        )
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
