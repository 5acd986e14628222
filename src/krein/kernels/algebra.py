"""The algebra of kernels: signed sums and products, always expanded into a sum of products of plain kernels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from krein._core.checks import positive_real, real
from krein.kernels.decomposition import Split, product_of
from krein.kernels.kernel import Domain, Facts, Kernel

__all__ = ["Product", "Scaled", "Sum", "product", "signed_sum"]

Terms = tuple[tuple[float, Kernel], ...]

_MOST_TERMS = 1024  # of a product of sums, whose number multiplies; each is evaluated at every pair of rows
_MOST_FACTORS = 64  # of one product; beyond, it is a typing error or an attack on the parser
_VANISHES = 1e-12  # a sum at z = 2 below this fraction of its largest term is 0 up to rounding


class _Composite(Kernel):
    """A kernel made of kernels; on the sphere as soon as one of them is."""

    @abstractmethod
    def _kernels(self) -> tuple[Kernel, ...]:
        """The kernels it is made of."""

    @property
    def domain(self) -> Domain:
        return "sphere" if any(k.domain == "sphere" for k in self._kernels()) else "euclidean"

    @property
    def scales_rows(self) -> bool:
        return any(k.scales_rows for k in self._kernels())

    @property
    def known_everywhere(self) -> bool:
        return all(k.known_everywhere for k in self._kernels())


@final
@dataclass(frozen=True, repr=False, eq=False)
class Sum(_Composite):
    """A signed sum of kernels, ``2 * Gaussian(1.0) - Laplacian(0.5)``; built by the operators, always flat.

    Two sums are equal if they have the same terms, in any order.

    Parameters
    ----------
    parts : tuple of (coefficient, kernel)
        Parameters are numbered in this order, from 0: ``c0``, ``k0``, ``k0__scale``, ``c1``, …
    """

    parts: Terms

    def __post_init__(self) -> None:
        pairs = self.parts if isinstance(self.parts, (tuple, list)) else ()
        if not pairs or not all(
            isinstance(part, (tuple, list)) and len(part) == 2 and isinstance(part[1], Kernel) for part in pairs
        ):
            raise TypeError(
                f"parts must be pairs (coefficient, kernel), at least one, got {self.parts!r}; write k1 + k2"
            )
        parts = tuple((real(c, "a coefficient"), k) for c, k in self.parts)
        object.__setattr__(self, "parts", _collected(parts))
        if len(self.parts) == 1 and self.parts[0][0] == 1.0:
            raise ValueError(f"a sum of one kernel is that kernel; use {self.parts[0][1]!r}")

    def __eq__(self, other: object) -> bool:
        return frozenset(self.parts) == frozenset(other.parts) if isinstance(other, Sum) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.parts))

    def _kernels(self) -> tuple[Kernel, ...]:
        return tuple(k for _, k in self.parts)

    @property
    def _is_zero(self) -> bool:
        return self.parts[0][0] == 0.0

    @property
    def length_scale(self) -> float | None:
        scales = [k.length_scale for _, k in self.parts]
        known = [scale for scale in scales if scale is not None]
        return min(known) if len(known) == len(scales) and not self._is_zero and self.domain != "sphere" else None

    @property
    def facts(self) -> Facts:
        if self._is_zero:
            return Facts(edge_exponent=math.inf, edge_smoothness=math.inf, positive_on_spheres=True)
        known = [k.facts for _, k in self.parts]
        return Facts(
            bounded=sum(not fact.bounded for fact in known) != 1,  # two that grow may cancel
            edge_exponent=self._edge_exponent(known),
            edge_smoothness=_least_if_unique([fact.edge_smoothness for fact in known]),
            positive_on_spheres=True
            if all(c > 0 and fact.positive_on_spheres for (c, _), fact in zip(self.parts, known, strict=True))
            else None,
        )

    def _edge_exponent(self, known: list[Facts]) -> float | None:
        """A value other than 0 at z = 2 is a jump; else the worst of the terms, unless two of that kind may cancel."""
        if self.domain != "sphere":
            return None
        ends = [c * float(kernel.radial(2.0)) for c, kernel in self.parts]
        if abs(math.fsum(ends)) > _VANISHES * max(abs(end) for end in ends):
            return 0.0
        return _least_if_unique([fact.edge_exponent for fact in known])

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None:
        found = ((coefficient, kernel.fourier_density(r, dim)) for coefficient, kernel in self.parts)
        known = [coefficient * density for coefficient, density in found if density is not None]
        return np.sum(known, axis=0) if len(known) == len(self.parts) else None

    def radial(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        total = np.zeros_like(distances)
        if self._is_zero:
            return total
        for coefficient, kernel in self.parts:
            total += coefficient * kernel.radial(distances)
        return total

    def radial_slope(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        total = np.zeros_like(distances)
        for coefficient, kernel in self.parts:
            total += coefficient * kernel.radial_slope(distances)
        return total

    def terms(self) -> Terms:
        return self.parts

    def _scaled(self, factor: float) -> Kernel:
        return signed_sum(tuple((c, k.scaled(factor)) for c, k in self.parts))

    def _own_params(self) -> dict[str, Any]:
        return {name: value for i, (c, k) in enumerate(self.parts) for name, value in ((f"c{i}", c), (f"k{i}", k))}

    def _from_params(self, own: dict[str, Any]) -> Kernel:
        numbers = range(len(self.parts))
        return signed_sum(tuple((real(own[f"c{i}"], f"c{i}"), _kernel(own[f"k{i}"], f"k{i}")) for i in numbers))

    def __repr__(self) -> str:
        text = ""
        for coefficient, kernel in self.parts:
            size = "" if abs(coefficient) == 1.0 else f"{abs(coefficient)!r} * "
            text += f" {'-' if coefficient < 0 else '+'} {size}{kernel!r}"
        return text[3:] if text.startswith(" +") else f"-{text[3:]}"


@final
@dataclass(frozen=True, repr=False, eq=False)
class Product(_Composite):
    """A product of kernels, ``Gaussian(1.0) * Cauchy(2.0)``; built by the operator, always flat.

    Sums are multiplied out, numbers become coefficients of a sum, and kernels of one family are combined if their product is in
    the family: Gaussians, Laplacians, and spherical polynomials of the same ``a``. Two products are equal if they have the same
    factors, in any order. A product of positive definite kernels is positive definite (Schur).

    Parameters
    ----------
    parts : tuple of Kernel
        Parameters are numbered in this order, from 0: ``k0``, ``k0__scale``, ``k1``, …

    Examples
    --------
    >>> from krein.kernels import Cauchy, Gaussian, Laplacian
    >>> Gaussian(1.0) * Cauchy(2.0)
    Gaussian(scale=1.0) * Cauchy(scale=2.0)
    >>> Laplacian(2.0) * (Laplacian(2.0) - 2 * Cauchy(2.0))
    Laplacian(scale=1.0) - 2.0 * Laplacian(scale=2.0) * Cauchy(scale=2.0)
    """

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        sequence = isinstance(self.parts, (tuple, list))
        if not sequence or not all(isinstance(k, Kernel) and k.terms() == ((1.0, k),) for k in self.parts):
            raise TypeError(f"parts of a product must be kernels that are not sums, got {self.parts!r}; write k1 * k2")
        merged = _merged([factor for k in self.parts for factor in k._factors()])
        if len(merged) < 2:
            raise ValueError(
                f"parts of a product must be at least two kernels that do not join into one, got {self.parts!r}"
            )
        object.__setattr__(self, "parts", merged)

    def __eq__(self, other: object) -> bool:
        return Counter(self.parts) == Counter(other.parts) if isinstance(other, Product) else NotImplemented

    def __hash__(self) -> int:
        # With the class: Log(1.0) and Cauchy(1.0) have one hash, as dataclasses hash their fields only.
        return hash(frozenset(Counter((type(k).__name__, k) for k in self.parts).items()))

    def _kernels(self) -> tuple[Kernel, ...]:
        return self.parts

    def _factors(self) -> tuple[Kernel, ...]:
        return self.parts

    @property
    def length_scale(self) -> float | None:
        # As for Gaussians, whose curvatures at 0 add.
        scales = [k.length_scale for k in self.parts]
        known = [scale for scale in scales if scale is not None]
        if len(known) < len(scales) or self.domain == "sphere":
            return None
        least = min(known)
        return least / math.sqrt(math.fsum((least / scale) ** 2 for scale in known))

    @property
    def facts(self) -> Facts:
        known = [k.facts for k in self.parts]
        orders = [_order_at_edge(k) for k in self.parts]
        order = None if None in orders else math.fsum(o for o in orders if o is not None)
        return Facts(
            bounded=any(fact.bounded for fact in known),  # one that grows and one that decays may do either
            edge_exponent=order if self.domain == "sphere" else None,
            edge_smoothness=_edge_smoothness([fact.edge_smoothness for fact in known], orders),
            positive_on_spheres=True if all(fact.positive_on_spheres for fact in known) else None,
        )

    def radial(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        total = np.ones_like(distances)
        for kernel in self.parts:
            total *= kernel.radial(distances)
        return total

    def radial_slope(self, z: Any) -> np.ndarray:
        distances = np.asarray(z, dtype=np.float64)
        value, slope = np.ones_like(distances), np.zeros_like(distances)
        for kernel in self.parts:
            factor = kernel.radial(distances)
            slope = slope * factor + value * kernel.radial_slope(distances)
            value *= factor
        return slope

    def split(self, dim: int) -> Split | None:
        factors = [split for split in (kernel.split(dim) for kernel in self.parts) if split is not None]
        return product_of(factors) if len(factors) == len(self.parts) else None

    def _scaled(self, factor: float) -> Kernel:
        return math.prod((kernel.scaled(factor) for kernel in self.parts[1:]), start=self.parts[0].scaled(factor))

    def _own_params(self) -> dict[str, Any]:
        return {f"k{i}": k for i, k in enumerate(self.parts)}

    def _from_params(self, own: dict[str, Any]) -> Kernel:
        first, *others = (_kernel(kernel, name) for name, kernel in own.items())
        return math.prod(others, start=first)

    def __repr__(self) -> str:
        return " * ".join(map(repr, self.parts))


def signed_sum(terms: Terms) -> Kernel:
    """The sum, or the bare kernel where only one with coefficient 1 is left."""
    kept = _collected(terms)
    if len(kept) == 1 and kept[0][0] == 1.0:
        return kept[0][1]
    return Sum(kept)


def product(left: Kernel, right: Kernel) -> Kernel:
    """The product of two kernels, multiplied out."""
    count = len(left.terms()) * len(right.terms())
    if count > _MOST_TERMS:
        raise ValueError(
            f"this product of sums has {count} terms, more than {_MOST_TERMS}; write it as Radial(lambda z: ...) with the sums "
            "evaluated first"
        )
    return signed_sum(tuple((a * b, _times(k, other)) for a, k in left.terms() for b, other in right.terms()))


def _times(left: Kernel, right: Kernel) -> Kernel:
    """The product of two kernels that are not sums."""
    factors = _merged([*left._factors(), *right._factors()])
    return factors[0] if len(factors) == 1 else Product(factors)


def _merged(factors: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """Factors, those of one family joined where they are of the family again."""
    if len(factors) > _MOST_FACTORS:
        raise ValueError(
            f"a product has at most {_MOST_FACTORS} factors, got {len(factors)}; write it as Radial(lambda z: ...)"
        )
    kept: list[Kernel] = []
    for factor in factors:
        for i, other in enumerate(kept):
            joined = other._joined(factor)
            if joined is not None:
                kept[i] = joined
                break
        else:
            kept.append(factor)
    return tuple(kept)


def _collected(terms: Terms) -> Terms:
    """Terms that are not sums themselves, equal kernels once, zeros dropped; all zero: one, which keeps the domain."""
    collected: dict[Kernel, float] = {}
    for coefficient, term in terms:
        for inner, kernel in term.terms():
            collected[kernel] = collected.get(kernel, 0.0) + coefficient * inner
    kept = tuple((c, k) for k, c in collected.items() if c != 0.0)
    if kept:
        return kept
    keeper = next((k for k in collected if k.domain == "sphere"), next(iter(collected)))
    return ((0.0, keeper),)


def _kernel(value: Any, name: str) -> Kernel:
    if not isinstance(value, Kernel):
        raise TypeError(f"{name} must be a kernel, such as Gaussian(1.0), got {value!r}")
    return value


def _least_if_unique(exponents: list[float | None]) -> float | None:
    """The least exponent where it belongs to one term only, or to none that is singular; None where terms may cancel."""
    if any(exponent is None for exponent in exponents):
        return None
    known = sorted(exponent for exponent in exponents if exponent is not None)
    return known[0] if len(known) == 1 or known[0] < known[1] or math.isinf(known[0]) else None


def _order_at_edge(kernel: Kernel) -> float | None:
    """α in k(z) ~ c(2−z)^α: declared on the sphere, 0 for a kernel on all of space that is smooth and not 0 there."""
    declared = kernel.facts.edge_exponent
    if declared is not None:
        return declared
    smooth = kernel.domain != "sphere" and kernel.facts.edge_smoothness == math.inf
    return 0.0 if smooth and float(kernel.radial(2.0)) != 0.0 else None


def _edge_smoothness(exponents: list[float | None], orders: list[float | None]) -> float | None:
    """Of a product: with one rough factor, its exponent raised by the orders of the others; two rough ones may be smooth."""
    if any(exponent is None for exponent in exponents):
        return None
    rough = [i for i, exponent in enumerate(exponents) if exponent is not None and math.isfinite(exponent)]
    if not rough:
        return math.inf
    others = [order for i, order in enumerate(orders) if i != rough[0]]
    if len(rough) > 1 or any(order is None for order in others):
        return None
    return math.fsum(value for value in (exponents[rough[0]], *others) if value is not None)


@final
@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    r"""A kernel of scaled distances; ``k.scaled(s)`` makes one only where the family has no such member.

    .. math:: k_s(z) = k(z/s)

    Parameters
    ----------
    kernel : Kernel
        On all of space: on the sphere a chord has no scale.
    scale : float
        :math:`s > 0`, not 1.

    Examples
    --------
    >>> from krein.kernels import Gaussian, Radial, Scaled
    >>> float(Radial(lambda z: 1.0 - z).scaled(4.0).radial(2.0))
    0.5
    >>> Gaussian(1.0).scaled(4.0)
    Gaussian(scale=4.0)
    """

    kernel: Kernel
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive_real(self.scale, "scale"))
        if _kernel(self.kernel, "kernel").domain == "sphere":
            raise ValueError(
                f"kernel must be defined on all of space, because a chord of the sphere has no scale, got {self.kernel!r}"
            )

    @property
    def facts(self) -> Facts:
        # On unit vectors k(z/s) is k on a sphere of radius 1/s, which for s ≥ 1 is a small circle of a unit sphere of one more
        # dimension. What k does at z = 2 says nothing of 2/s.
        known = self.kernel.facts
        positive = True if self.scale >= 1.0 and known.positive_on_spheres else None
        return Facts(bounded=known.bounded, positive_on_spheres=positive)

    @property
    def length_scale(self) -> float | None:
        inner = self.kernel.length_scale
        return None if inner is None else inner * self.scale

    def radial(self, z: Any) -> np.ndarray:
        return self.kernel.radial(np.asarray(z, dtype=np.float64) / self.scale)

    def radial_slope(self, z: Any) -> np.ndarray:
        return np.asarray(
            self.kernel.radial_slope(np.asarray(z, dtype=np.float64) / self.scale) / self.scale / self.scale
        )

    def split(self, dim: int) -> Split | None:
        inner = self.kernel.split(dim)
        return None if inner is None else replace(inner, grams=lambda X, Y: inner.grams(X / self.scale, Y / self.scale))

    def _scaled(self, factor: float) -> Kernel:
        return self.kernel.scaled(self.scale * factor)

    def _from_params(self, own: dict[str, Any]) -> Kernel:
        return _kernel(own["kernel"], "kernel").scaled(own["scale"])

    @property
    def known_everywhere(self) -> bool:
        return self.kernel.known_everywhere
