"""What this subpackage needs of a kernel; `krein.kernels.Kernel` provides it, and nothing here imports that class."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from krein._core.checks import integer, one_of, positive_real
from krein.measures.parts import Law

__all__ = ["check_degree", "check_kernel", "check_radius", "check_tol", "closed_terms"]


class Facts(Protocol):
    """Analytic facts that a kernel declares about its radial function."""

    @property
    def bounded(self) -> bool:
        """Whether k is bounded on [0, ∞)."""
        ...

    @property
    def edge_exponent(self) -> float | None:
        """α in k ~ (2 − z)^α at the end of the sphere; None if not known."""
        ...

    @property
    def edge_smoothness(self) -> float | None:
        """How often k is differentiable at z = 2 from inside; None if not known."""
        ...

    @property
    def positive_on_spheres(self) -> bool | None:
        """Whether k is positive definite on spheres of every dimension; None if not known."""
        ...


@runtime_checkable
class RadialKernel(Protocol):
    """A radial function with a domain, its declared facts, and its spectrum where that is known."""

    @property
    def domain(self) -> Any:
        """``"euclidean"`` or ``"sphere"``."""
        ...

    @property
    def facts(self) -> Facts:
        """What is known analytically."""
        ...

    def radial(self, z: Any) -> np.ndarray:
        """k(z)."""
        ...

    def terms(self) -> tuple[tuple[float, Any], ...]:
        """The kernel as a signed sum: coefficients and kernels."""
        ...

    def radius_law(self, dim: int) -> Law | None:
        """The law of the radius if the kernel is the transform of a known probability measure on ℝ^dim."""
        ...

    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None:
        """Closed form of ρ(r) of the extension by zero, where there is one."""
        ...

    def place(self, X: Any, name: str = "X") -> Any:
        """Rows as points of the domain."""
        ...

    def split(self, dim: int) -> Any:
        """The kernel as a difference of two positive definite ones, if one is known: rule, reason, grams, conditional."""
        ...

    def split_into(self, positive: Any, negative: Any, rule: str, reason: str) -> Any:
        """A split into two functions of the distance."""
        ...


def closed_terms(kernel: RadialKernel, dim: int) -> list[tuple[float, Law, Any]] | None:
    """The kernel as a signed sum of known laws with their transforms, or None if any term has no known law."""
    terms = []
    for coefficient, part in kernel.terms():
        law = part.radius_law(dim)
        if law is None:
            return None
        terms.append((coefficient, law, part.radial))
    return terms


def check_kernel(kernel: Any) -> None:
    """An error for what is not a kernel, with what to do about it."""
    if isinstance(kernel, type):
        raise TypeError(
            f"kernel must be a kernel such as krein.kernels.NTK(), got the class {kernel.__name__}; make one of it, such as "
            f"{kernel.__name__}() or with its parameters"
        )
    if not isinstance(kernel, RadialKernel):
        hint = "wrap the function as krein.kernels.Radial(function)" if callable(kernel) else "use one of krein.kernels"
        raise TypeError(f"kernel must be a kernel such as krein.kernels.NTK(), got {kernel!r}; {hint}")


def check_radius(radius: Any, sphere: bool) -> float | None:
    """The largest distance as a float, at most 2 on the sphere; None stays None."""
    if radius is None:
        return None
    value = positive_real(radius, "radius")
    if not sphere:
        return value
    if value > 2.0 * (1 + 1e-9):  # rounding of a radius computed from unit vectors
        raise ValueError(f"distances on the unit sphere are at most 2, got radius={radius!r}; use radius=2 or less")
    return min(value, 2.0)


def check_tol(tol: Any) -> float | None:
    """The tolerance as a float, None for "auto"."""
    if isinstance(tol, str):
        one_of(tol, "tol", ("auto",), otherwise=" or a positive number")
        return None
    return positive_real(tol, "tol")


def check_degree(degree: Any, n_components: int | None) -> int | str:
    """The head's degree as an int or "auto", or an error that names the choices; without a width, "auto" is 1."""
    if isinstance(degree, str):
        one_of(degree, "head_degree", ("auto",), otherwise=" or -1 (no head), 0, 1 or 2")
        return "auto" if n_components is not None else 1
    return integer(degree, "head_degree", least=-1, most=2, why=" (-1 is no head)")
