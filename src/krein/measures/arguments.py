"""Checks of the arguments that several functions of this subpackage share."""

from __future__ import annotations

from typing import Any

from krein._core.checks import integer, one_of, positive_real
from krein.measures.protocol import RadialKernel

__all__ = ["check_degree", "check_kernel", "check_radius", "check_tol"]


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
