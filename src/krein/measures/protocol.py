"""What this subpackage needs of a kernel; `krein.kernels.Kernel` provides it, and nothing here imports that class."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from krein.measures.parts import Law

__all__ = ["closed_terms"]  # beside the protocols, which have no constructor to document


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


def closed_terms(kernel: RadialKernel, dim: int) -> list[tuple[float, Law, Any]] | None:
    """The kernel as a signed sum of known laws with their transforms, or None if any term has no known law."""
    terms = []
    for coefficient, part in kernel.terms():
        law = part.radius_law(dim)
        if law is None:
            return None
        terms.append((coefficient, law, part.radial))
    return terms
