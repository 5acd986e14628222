"""What this room asks of a kernel; `krein.kernels.Kernel` has it, and nothing here imports that."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from krein.measures.parts import Law

__all__ = ["Facts", "RadialKernel", "closed_terms"]


class Facts(Protocol):
    """Analytic facts that a kernel declares about its radial function."""

    @property
    def bounded(self) -> bool: ...
    @property
    def edge_exponent(self) -> float | None: ...
    @property
    def edge_smoothness(self) -> float | None: ...
    @property
    def positive_on_spheres(self) -> bool | None: ...


@runtime_checkable
class RadialKernel(Protocol):
    """A radial function with a domain, its declared facts, and its spectrum where that is known."""

    @property
    def domain(self) -> Any: ...
    @property
    def facts(self) -> Facts: ...
    def radial(self, z: Any) -> np.ndarray: ...
    def terms(self) -> tuple[tuple[float, Any], ...]: ...
    def radius_law(self, dim: int) -> Law | None: ...
    def fourier_density(self, r: np.ndarray, dim: int) -> np.ndarray | None: ...


def closed_terms(kernel: RadialKernel, dim: int) -> list[tuple[float, Law, Any]] | None:
    """The kernel as a signed sum of known laws with their transforms, or None if any term has no known law."""
    terms = []
    for coefficient, part in kernel.terms():
        law = part.radius_law(dim)
        if law is None:
            return None
        terms.append((coefficient, law, part.radial))
    return terms
