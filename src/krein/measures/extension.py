"""The kernel extended by zero beyond its domain or the data: its Fourier transform, and whether that has finite mass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from krein.measures.closed_form import jordan_of_laws, truncated_laws
from krein.measures.fourier import critical_exponent, fourier_measure
from krein.measures.hankel import hankel_density
from krein.measures.protocol import RadialKernel, closed_terms
from krein.measures.signed import SignedMeasure
from krein.measures.smoothness import FIT_MARGIN, radial_shape, singularity_exponent

__all__ = ["edge_exponent", "extended_measure", "fourier_transform"]

# Sign changes of the density to go by, and the bias allowed then, of sup|k|: a short look first, which finds digits
# lost to cancellation at once; then as many as a closed form or a quadrature can afford, which must come close.
_LOOK = (30, 0.8)
_KNOWN, _QUADRATURE = (600, 0.1), (200, 0.1)
_VANISHED = 1e-16  # of sup|k|: a kernel that is smaller than this where it is cut ends there by itself


def extended_measure(
    kernel: RadialKernel, dim: int, radius: float | None, truncate: float | None, sphere: bool
) -> SignedMeasure:
    """Algorithm 1 of the paper: Jordan parts of the Fourier transform, refused where their mass is infinite."""
    terms = closed_terms(kernel, dim)
    if terms is not None and radius is None:  # no extension needed: this is the Fourier transform itself
        measure = jordan_of_laws(dim, terms) if truncate is None else truncated_laws(dim, terms, truncate)
        return replace(measure, sphere=sphere)
    density, cutoff = fourier_transform(kernel, dim, radius if kernel.domain != "sphere" else None)
    exponent = edge_exponent(kernel, cutoff)
    fitted = kernel.domain != "sphere" or kernel.facts.edge_exponent is None
    if truncate is None and not exponent > critical_exponent(dim) + (FIT_MARGIN if fitted else 0.0):
        raise ValueError(
            f"the Fourier transform of {kernel!r} extended by zero beyond z = {cutoff:.4g} has infinite mass on R^{dim}: at its "
            f"edge or a kink it behaves like |z - z0|^{exponent:.3g}, and a finite mass needs an exponent above (d-1)/2 = "
            f"{critical_exponent(dim):g}. Use method='least_mass', which is free beyond the data's radius, or truncate=r_max "
            "for the paper's truncated measure with its bias"
        )
    reach = min(cutoff, radius) if radius is not None else cutoff
    if truncate is not None:
        return fourier_measure(kernel.radial, density, dim, cutoff, reach, r_max=truncate, sphere=sphere)
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, reach, 65)))))
    known = kernel.domain == "sphere" and kernel.fourier_density(np.ones(1), dim) is not None
    for arches, allowed in (_LOOK, _KNOWN if known else _QUADRATURE):
        measure = fourier_measure(kernel.radial, density, dim, cutoff, reach, sphere=sphere, arches=arches)
        if measure.bias > allowed * size:
            raise ValueError(
                f"the numerical Fourier transform of {kernel!r} has lost its digits to cancellation in dimension {dim}: it gives "
                f"the kernel with a bias of {measure.bias:.1g} only. Use method='least_mass' with the data's radius"
            )
    return measure


def fourier_transform(
    kernel: RadialKernel, dim: int, radius: float | None = None
) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """ρ(r) of the kernel extended by zero, and where that extension starts."""
    if kernel.domain == "sphere":
        cutoff = 2.0
    elif radius is not None:
        cutoff = radius
    else:
        shape = radial_shape(kernel.radial)
        if not shape.decays or shape.limit != 0.0:
            raise ValueError(
                f"{kernel!r} does not decay to 0 fast enough for a numerical Fourier transform; give radius=, beyond which it "
                "is set to 0, or use method='least_mass'"
            )
        cutoff = shape.support
    if kernel.domain == "sphere" and kernel.fourier_density(np.ones(1), dim) is not None:

        def density(r: np.ndarray) -> np.ndarray:
            return np.asarray(kernel.fourier_density(r, dim))
    else:

        def density(r: np.ndarray) -> np.ndarray:
            return hankel_density(kernel.radial, r, dim, cutoff)

    return density, cutoff


def edge_exponent(kernel: RadialKernel, cutoff: float) -> float:
    """α of the worst singularity of the zero extension: declared by the kernel, else measured."""
    declared = kernel.facts.edge_exponent
    if kernel.domain == "sphere" and declared is not None:
        return declared
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, cutoff, 65)))))
    if kernel.domain == "sphere" or abs(float(kernel.radial(cutoff))) > _VANISHED * size:
        return singularity_exponent(kernel.radial, cutoff, ends=True)
    return singularity_exponent(kernel.radial, 1.5 * cutoff, ends=False)  # k ends there by itself: look across
