"""The interface of a kernel, and the algebra of sums and signed multiples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, final

import numpy as np

from krein._core.checks import real
from krein._core.rows import as_rows, unit_rows
from krein.kernels.facts import UNKNOWN, Facts
from krein.kernels.gram import radial_gram
from krein.kernels.laws import RadiusLaw

__all__ = ["Domain", "Kernel", "Sum"]

Domain = Literal["euclidean", "sphere"]


class Kernel(ABC):
    """A radial kernel :math:`k(x, y) = k(\\|x - y\\|)`, positive definite or not.

    A new kernel is a frozen dataclass with a `radial` function; everything else has a default. Kernels are
    values: hashable, comparable, and combined by ``+``, ``-`` and multiplication with a number of any sign.
    """

    __array_ufunc__ = None  # numpy scalars leave multiplication to the kernel, arrays are refused

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """``"euclidean"`` or ``"sphere"`` (unit vectors, distances up to 2)."""

    @abstractmethod
    def radial(self, z: Any) -> np.ndarray:
        """k(z), elementwise, for distances z ≥ 0."""

    @property
    def facts(self) -> Facts:
        """What is known analytically about the radial function."""
        return UNKNOWN

    @property
    def scales_rows(self) -> bool:
        """Whether rows are brought to unit length by the kernel itself."""
        return False

    def radius_law(self, dim: int) -> RadiusLaw | None:
        """The law of ‖ω‖ if the kernel is the transform of a known probability measure on ℝ^dim, else None."""
        return None

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None:
        """Closed form of the radial Fourier transform ρ(r) of the extension by zero, where there is one."""
        return None

    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        """The kernel as a signed sum of kernels that are not sums."""
        return ((1.0, self),)

    def place(self, X: Any, name: str = "X") -> Any:
        """Rows of X as points of the kernel's domain: checked, and on the sphere of unit length."""
        X = as_rows(X, name)
        if self.domain == "sphere":
            X = unit_rows(X, normalize=self.scales_rows, name=name)
        return X

    def __call__(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Exact Gram matrix.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples_X, n_features)
        Y : array or sparse matrix of shape (n_samples_Y, n_features), default=None
            If None, or the same object as X, the result is exactly symmetric with k(0) on the diagonal.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            float32 if both inputs are float32, else float64.
        """
        same = Y is None or Y is X
        X = self.place(X)
        if not same:
            Y = self.place(Y, "Y")
            if X.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}; "
                    "both must come from the same preprocessing"
                )
        return self.gram(X, None if same else Y)

    def gram(self, X: Any, Y: Any | None = None) -> np.ndarray:
        """Exact Gram matrix of rows that are placed already: nothing is checked and nothing scaled again.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples_X, n_features)
            As `place` returns it.
        Y : array or CSR matrix of shape (n_samples_Y, n_features), default=None
            If None, the result is exactly symmetric with k(0) on the diagonal.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            float32 if both inputs are float32, else float64.
        """
        limit = 2.0 if self.domain == "sphere" else math.inf
        return radial_gram(self.radial, X, Y, max_distance=limit)

    def __add__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        return _signed_sum(self.terms() + other.terms())

    def __sub__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        return _signed_sum(self.terms() + tuple((-c, k) for c, k in other.terms()))

    def __mul__(self, factor: Any) -> Kernel:
        if not isinstance(factor, Real) or isinstance(factor, bool):
            return NotImplemented
        factor = real(factor, "factor")
        if factor == 1.0:
            return self
        return _signed_sum(tuple((factor * c, k) for c, k in self.terms()))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Kernel:
        if not isinstance(divisor, Real) or isinstance(divisor, bool):
            return NotImplemented
        divisor = real(divisor, "divisor")
        if divisor == 0.0:
            raise ZeroDivisionError("a kernel cannot be divided by 0; multiply by 0 for the zero kernel")
        return _signed_sum(tuple((c / divisor, k) for c, k in self.terms())) if divisor != 1.0 else self

    def __neg__(self) -> Kernel:
        return self * -1.0

    def __repr__(self) -> str:
        shown = []
        for field in sorted(fields(self), key=lambda f: bool(f.kw_only)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.kw_only and value == field.default:
                continue
            shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


@final
@dataclass(frozen=True, repr=False, eq=False)
class Sum(Kernel):
    """A signed sum of kernels, ``2 * Gaussian(1.0) - Laplacian(0.5)``; built by the operators, always flat.

    Two sums are equal if they have the same terms, in any order.
    """

    parts: tuple[tuple[float, Kernel], ...]

    def __post_init__(self) -> None:
        parts = tuple((real(c, "a coefficient"), k) for c, k in self.parts)
        if not parts or not all(isinstance(k, Kernel) for _, k in parts):
            raise TypeError(f"a sum is made of pairs (coefficient, kernel), at least one, got {self.parts!r}")
        object.__setattr__(self, "parts", _collected(parts))

    def __eq__(self, other: object) -> bool:
        return frozenset(self.parts) == frozenset(other.parts) if isinstance(other, Sum) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.parts))

    @property
    def domain(self) -> Domain:
        return "sphere" if any(k.domain == "sphere" for _, k in self.parts) else "euclidean"

    @property
    def scales_rows(self) -> bool:
        return any(k.scales_rows for _, k in self.parts)

    @property
    def facts(self) -> Facts:
        if any(c == 0.0 for c, _ in self.parts):  # the zero kernel
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
        if abs(math.fsum(ends)) > 1e-12 * max(abs(end) for end in ends):
            return 0.0
        return _least_if_unique([fact.edge_exponent for fact in known])

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None:
        total = np.zeros_like(r, dtype=np.float64)
        for coefficient, kernel in self.parts:
            density = kernel.fourier_density(r, dim)
            if density is None:
                return None
            total += coefficient * density
        return total

    def radial(self, z: Any) -> np.ndarray:
        z = np.asarray(z, dtype=np.float64)
        total = np.zeros_like(z)
        for coefficient, kernel in self.parts:
            total += coefficient * kernel.radial(z)
        return total

    def terms(self) -> tuple[tuple[float, Kernel], ...]:
        return self.parts

    def __repr__(self) -> str:
        text = ""
        for coefficient, kernel in self.parts:
            sign = " - " if coefficient < 0 else " + "
            if not text:
                sign = "-" if coefficient < 0 else ""
            size = "" if abs(coefficient) == 1.0 else f"{abs(coefficient)!r} * "
            text += f"{sign}{size}{kernel!r}"
        return text


def _least_if_unique(exponents: list[float | None]) -> float | None:
    """The least exponent where it belongs to one term only, or to none that is singular; None where terms may cancel."""
    if any(exponent is None for exponent in exponents):
        return None
    known = sorted(exponent for exponent in exponents if exponent is not None)
    return known[0] if len(known) == 1 or known[0] < known[1] or math.isinf(known[0]) else None


def _signed_sum(terms: tuple[tuple[float, Kernel], ...]) -> Kernel:
    """The sum, or the bare kernel where only one with coefficient 1 is left."""
    kept = _collected(terms)
    if len(kept) == 1 and kept[0][0] == 1.0:
        return kept[0][1]
    return Sum(kept)


def _collected(terms: tuple[tuple[float, Kernel], ...]) -> tuple[tuple[float, Kernel], ...]:
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
