"""The interface of a kernel, and the algebra of sums and signed multiples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal, final

import numpy as np

from krein.kernels.facts import UNKNOWN, Facts
from krein.kernels.gram import radial_gram
from krein.kernels.laws import RadiusLaw
from krein.kernels.rows import as_rows, unit_rows

__all__ = ["Domain", "Kernel", "Sum", "positive_integer", "positive_real", "real"]

Domain = Literal["euclidean", "sphere"]


class Kernel(ABC):
    """A radial kernel :math:`k(x, y) = k(\\|x - y\\|)`, positive definite or not.

    A new kernel is a frozen dataclass with a `radial` function; everything else has a default. Kernels are
    values: hashable, comparable, and combined by ``+``, ``-`` and multiplication with a number of any sign.
    """

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
        limit = 2.0 if self.domain == "sphere" else math.inf
        return radial_gram(self.radial, X, None if same else Y, max_distance=limit)

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
        if not isinstance(divisor, Real) or isinstance(divisor, bool) or divisor == 0:
            return NotImplemented
        return self * (1.0 / divisor)

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
@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """A signed sum of kernels, ``2 * Gaussian(1.0) - Laplacian(0.5)``; built by the operators, always flat."""

    parts: tuple[tuple[float, Kernel], ...]

    @property
    def domain(self) -> Domain:
        return "sphere" if any(k.domain == "sphere" for _, k in self.parts) else "euclidean"

    @property
    def scales_rows(self) -> bool:
        return any(k.scales_rows for _, k in self.parts)

    @property
    def facts(self) -> Facts:
        if len(self.parts) == 1 and self.parts[0][0] != 0.0:
            coefficient, kernel = self.parts[0]
            known = kernel.facts
            positive = known.positive_on_spheres if coefficient > 0 else None
            return Facts(known.bounded, known.edge_exponent, known.edge_smoothness, positive)
        if all(c > 0 for c, _ in self.parts) and all(k.facts.positive_on_spheres for _, k in self.parts):
            return Facts(positive_on_spheres=True)
        return UNKNOWN

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


def _signed_sum(terms: tuple[tuple[float, Kernel], ...]) -> Kernel:
    """Flatten, collect equal kernels, and return the bare kernel where only one with coefficient 1 is left."""
    collected: dict[Kernel, float] = {}
    for coefficient, term in terms:
        for inner, kernel in term.terms():
            collected[kernel] = collected.get(kernel, 0.0) + coefficient * inner
    kept = tuple((c, k) for k, c in collected.items() if c != 0.0)
    if not kept:  # everything cancelled: the zero kernel, on the domain of what cancelled
        kept = ((0.0, next(iter(collected))),)
    if len(kept) == 1 and kept[0][0] == 1.0:
        return kept[0][1]
    return Sum(kept)


def real(value: Any, name: str) -> float:
    """A finite float, or an error that names the parameter."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number, got {value!r} of type {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return float(value)


def positive_real(value: Any, name: str) -> float:
    """A positive finite float, or an error that names the parameter."""
    number = real(value, name)
    if number <= 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}; use a number greater than 0")
    return number


def positive_integer(value: Any, name: str, *, least: int = 1) -> int:
    """An integer of at least `least`, or an error that names the parameter."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")
    return int(value)
