r"""A kernel as a difference :math:`k = k_+ - k_-` of two positive definite kernels, and why the two are that.

Nothing here needs a finite measure. The parts need not be functions of :math:`x - y`:

.. math:: z^2 = \tfrac12(\|x\|^2 + 1)(\|y\|^2 + 1) - \bigl[\tfrac12(\|x\|^2 - 1)(\|y\|^2 - 1) + 2\,x \cdot y\bigr]

Sums add the parts, a negative factor swaps them, and products multiply out,
:math:`(p_1 - m_1)(p_2 - m_2) = (p_1p_2 + m_1m_2) - (p_1m_2 + m_1p_2)`, where all four products are positive definite (Schur).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.polynomial import chebyshev

from krein.kernels.gram import radial_gram

__all__ = [
    "Split",
    "anchored",
    "as_it_is",
    "fit_polynomial",
    "of_polynomial",
    "of_radials",
    "product_of",
    "signed_sum_of",
]

Pair = tuple[np.ndarray, np.ndarray]
Grams = Callable[[np.ndarray, np.ndarray], Pair]
Function = Callable[[np.ndarray], np.ndarray]

_HIGHEST = 4  # degree in z² of a polynomial that is looked for
_NEAR, _NODES = 8.0, 40  # a polynomial is fitted at Chebyshev nodes of z² in [0, 8²], ten for each coefficient
_FITTED = 1e-13  # of the largest |k| there: a few hundred roundings, for a formula has some of its own
_FAR, _HOLDS = 1e6, 1e-9  # it must hold far out as well, to the digits that its coefficients have there


@final
@dataclass(frozen=True, eq=False)
class Split:
    """Two positive definite kernels and their difference.

    Parameters
    ----------
    rule : str
        In a word or two.
    reason : str
        What the parts are.
    grams : callable
        Both matrices for two blocks of rows, dense arrays as `Kernel.place` returns them.
    conditional : (sign, order) or None
        The kernel times the sign is conditionally positive definite of this order; order 0 is positive definite.
    """

    rule: str
    reason: str
    grams: Grams
    conditional: tuple[int, int] | None = None


def as_it_is(kernel: Any, reason: str) -> Split:
    """A kernel that is positive definite."""

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        gram = kernel.gram(X, Y)
        return gram, np.zeros_like(gram)

    return Split("positive definite", reason, grams, (1, 0))


def signed_sum_of(terms: Sequence[tuple[float, Split]]) -> Split:
    """Parts added, those of a term with a negative coefficient swapped."""
    if len(terms) == 1 and terms[0][0] == 1.0:
        return terms[0][1]

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        positive, negative = np.zeros((len(X), len(Y))), np.zeros((len(X), len(Y)))
        for coefficient, split in terms:
            parts = split.grams(X, Y)
            up, down = parts if coefficient > 0 else parts[::-1]
            positive += abs(coefficient) * up
            negative += abs(coefficient) * down
        return positive, negative

    splits = [split for _, split in terms]
    rule = _rule("sum", splits)
    if all(split.rule == "positive definite" for split in splits):
        reason = "its terms with positive coefficients minus those with negative ones"
        rule = "positive definite" if min(c for c, _ in terms) > 0 else "signed sum"
    elif len(terms) == 1:
        reason = f"the parts of one term, {'' if terms[0][0] > 0 else 'swapped, '}where {splits[0].reason}"
    else:
        reasons = dict.fromkeys(split.reason for split in splits)
        reason = "the parts of its terms added, those of a negative coefficient swapped: " + "; ".join(reasons)
    signs = {split.conditional and math.copysign(split.conditional[0], c * split.conditional[0]) for c, split in terms}
    orders = [split.conditional[1] for split in splits if split.conditional]
    shared = signs.pop() if len(signs) == 1 else None
    return Split(rule, reason, grams, None if shared is None else (int(shared), max(orders)))


def product_of(factors: Sequence[Split]) -> Split:
    """Products of the parts: those with an even number of negative ones, and those with an odd one."""

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        positive, negative = factors[0].grams(X, Y)
        for factor in factors[1:]:
            up, down = factor.grams(X, Y)
            positive, negative = positive * up + negative * down, positive * down + negative * up
        return positive, negative

    if all(split.rule == "positive definite" for split in factors):
        return Split("positive definite", "a product of positive definite kernels (Schur)", grams, (1, 0))
    reason = "; ".join(dict.fromkeys(split.reason for split in factors))
    return Split(_rule("product", factors), f"(p₁p₂ + m₁m₂) − (p₁m₂ + m₁p₂) of its factors p − m: {reason}", grams)


def _rule(name: str, splits: Sequence[Split]) -> str:
    rules = dict.fromkeys(split.rule.removeprefix("sum of ").removeprefix("product of ") for split in splits)
    return f"{name} of {', '.join(rules)}" if len(splits) > 1 else next(iter(rules))


def _square(X: np.ndarray, Y: np.ndarray) -> Pair:
    """z² = p − m."""
    a, b = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Y, Y)
    return 0.5 * np.outer(a + 1, b + 1), 0.5 * np.outer(a - 1, b - 1) + 2.0 * X @ Y.T


def of_polynomial(coefficients: Sequence[float]) -> Split:
    r"""A polynomial :math:`\sum_q c_q z^{2q}`, by Horner's rule on the parts of z²."""

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        p, m = _square(X, Y)
        positive, negative = np.zeros_like(p), np.zeros_like(p)
        for c in reversed(coefficients):
            positive, negative = positive * p + negative * m, positive * m + negative * p
            positive, negative = positive + max(c, 0.0), negative + max(-c, 0.0)
        return positive, negative

    degree = len(coefficients) - 1
    text = " + ".join(f"{c:.6g}" + (f" z^{2 * q}" if q else "") for q, c in enumerate(coefficients) if c) or "0"
    return Split(
        "polynomial in z²",
        f"k = {text.replace('+ -', '- ')}, and z² = ½(|x|²+1)(|y|²+1) − [½(|x|²−1)(|y|²−1) + 2x·y]",
        grams,
        (int(math.copysign(1, coefficients[-1] * (-1) ** degree)), degree),
    )


def of_radials(positive: Function, negative: Function, rule: str, reason: str, reach: float = math.inf) -> Split:
    """Two functions of the distance that are known to be positive definite."""

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        return radial_gram(positive, X, Y, max_distance=reach), radial_gram(negative, X, Y, max_distance=reach)

    return Split(rule, reason, grams)


def anchored(kernel: Any, sign: int, order: int) -> Split:
    r"""A kernel that times `sign` is conditionally positive definite of an order, 1 or 2.

    With points :math:`\xi_i` and polynomials :math:`p_i` of degree below the order, :math:`p_i(\xi_j) = \delta_{ij}`,

    .. math:: g(x, y) = k(x - y) - \sum_i p_i(x) k(\xi_i - y) - \sum_j p_j(y) k(x - \xi_j)
              + \sum_{i,j} p_i(x) p_j(y) k(\xi_i - \xi_j)

    is positive definite, and what is left is :math:`\sum_i p_i(x) b_i(y) + b_i(x) p_i(y)`, each term of which is
    :math:`\tfrac12(p_i + b_i)(x)\,(p_i + b_i)(y) - \tfrac12(p_i - b_i)(x)\,(p_i - b_i)(y)`. For order 1 the point is the origin and
    p is 1; for order 2 the points are the origin and the unit vectors.
    """

    def grams(X: np.ndarray, Y: np.ndarray) -> Pair:
        d = X.shape[1]
        points = np.zeros((1, d)) if order == 1 else np.concatenate([np.zeros((1, d)), np.eye(d)])
        middle = sign * kernel.gram(points, points)
        basis, rest, seen = [], [], []
        for rows in (X, Y):
            p = np.ones((len(rows), 1)) if order == 1 else np.hstack([1.0 - rows.sum(axis=1, keepdims=True), rows])
            at = sign * kernel.gram(rows, points)
            basis.append(p)
            seen.append(at)
            rest.append(at - 0.5 * p @ middle)
        (p, q), (b, c), (at, to) = basis, rest, seen
        core = sign * kernel.gram(X, Y) - at @ q.T - p @ to.T + p @ middle @ q.T
        positive, negative = core + 0.5 * (p + b) @ (q + c).T, 0.5 * (p - b) @ (q - c).T
        return (positive, negative) if sign > 0 else (negative, positive)

    k, psi = ("k", "−k") if sign > 0 else ("−k", "k")
    how = (
        f"with ψ = {psi}, ψ(x) + ψ(y) − ψ(0) − ψ(x−y) is positive definite, and a(x) + a(y) = ½(a+1)(x)(a+1)(y) − ½(a−1)(x)(a−1)(y)"
        if order == 1
        else f"{k} less its interpolants at d + 1 points is positive definite, and p(x)b(y) + b(x)p(y) = ½(p+b)(x)(p+b)(y) − "
        "½(p−b)(x)(p−b)(y)"
    )
    reason = f"{k} is conditionally positive definite of order {order}: {how}"
    return Split("conditionally definite", reason, grams, (sign, order))


def fit_polynomial(function: Function, reach: float | None) -> tuple[float, ...] | None:
    """Coefficients of the polynomial in z² of degree up to 4 that a function is to rounding, or None.

    It is fitted at Chebyshev nodes of z² in [0, 8²], or up to `reach`, and must leave rounding there; without a reach it must hold
    up to a million as well. A certificate for these distances: what a function of one's own does elsewhere cannot be known.
    """
    top = (_NEAR if reach is None else reach) ** 2
    unit = chebyshev.chebpts1(_NODES)
    t = 0.5 * top * (unit + 1.0)
    values = function(np.sqrt(t))
    size = float(np.max(np.abs(values)))
    if size == 0.0 or not math.isfinite(size):
        return (0.0,) if size == 0.0 else None
    for degree in range(_HIGHEST + 1):
        fitted = chebyshev.chebfit(unit, values, degree)
        if np.max(np.abs(chebyshev.chebval(unit, fitted) - values)) > _FITTED * size:
            continue
        series = chebyshev.Chebyshev(fitted, domain=[0.0, top]).convert(kind=np.polynomial.Polynomial)
        scaled = np.array(series.convert(domain=[-1, 1]).coef, dtype=np.float64) * top ** np.arange(series.coef.size)
        scaled = np.where(np.abs(scaled) > _FITTED * np.abs(scaled).max(), scaled, 0.0)
        coefficients = scaled / top ** np.arange(scaled.size)
        if reach is None:
            far = np.geomspace(_NEAR, _FAR, _NODES)
            terms = np.multiply.outer(far**2, np.ones(coefficients.size)) ** np.arange(coefficients.size) * coefficients
            if np.any(np.abs(function(far) - terms.sum(axis=1)) > _HOLDS * np.abs(terms).sum(axis=1)):
                return None
        return tuple(float(c) for c in coefficients)
    return None
