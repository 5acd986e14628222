"""From a kernel to a signed measure that really exists: one function, three methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from krein.measures.closed_form import jordan_of_laws, truncated_laws
from krein.measures.fourier import critical_exponent, fourier_measure
from krein.measures.hankel import hankel_density
from krein.measures.head import head_columns
from krein.measures.least_mass import least_mass, least_mass_for_width
from krein.measures.omega import check_dim
from krein.measures.predict import Outlook, check_width, frequencies_for_width
from krein.measures.protocol import RadialKernel, closed_terms
from krein.measures.signed import SignedMeasure
from krein.measures.smoothness import FIT_MARGIN, radial_shape, singularity_exponent

__all__ = ["METHODS", "check_degree", "check_kernel", "edge_exponent", "fourier_transform", "signed_measure"]

METHODS = ("auto", "closed_form", "fourier", "least_mass")
_DEFAULT_TOL = 1e-3  # of sup|k|, when neither a tolerance nor a width is given
_DEFAULT_FREQUENCIES = 256


def signed_measure(
    kernel: RadialKernel,
    dim: int,
    radius: float | None = None,
    method: str = "auto",
    head_degree: int | str = 1,
    tol: float | str = "auto",
    *,
    n_components: int | None = None,
    truncate: float | None = None,
    sphere: bool | None = None,
    distances: Any = None,
    orthogonal: bool = False,
) -> SignedMeasure:
    r"""A signed measure whose transform is the kernel, exactly or on the distances that matter.

    Parameters
    ----------
    kernel : Kernel
        From :mod:`krein.kernels`.
    dim : int
        Number of columns of the data.
    radius : float, default=None
        Largest distance R of the data. None means all distances where that is possible (closed forms), 2 on the sphere.
    method : {"auto", "closed_form", "fourier", "least_mass"}, default="auto"
        ``"closed_form"``: Jordan parts of a signed sum of classical spectra. ``"fourier"``: Algorithm 1 of the paper, the
        Fourier transform of the kernel extended by zero; refused where its mass is infinite. ``"least_mass"``: the linear
        program on [0, R]. ``"auto"``: the closed form when there is one and no radius is given, or where its predicted error is
        not worse; else least mass.
    head_degree : {-1, 0, 1, 2} or "auto", default=1
        Degree in :math:`z^2` of the exact polynomial head (least mass only); ``"auto"`` takes the least predicted error at
        ``n_components``, which it needs.
    tol : float or "auto", default="auto"
        Absolute tolerance of the least-mass measure. ``"auto"`` with ``n_components`` minimises the predicted mean squared error;
        without, it is 1e-3 of the largest |k|.
    n_components : int, default=None
        Output columns the features will have.
    truncate : float, default=None
        With ``method="fourier"``: cut the measure at this radius, whether or not its mass is finite (the paper cuts at 10), and
        state the bias.
    sphere : bool, default=None
        Whether rows are unit vectors; None for what the kernel says.
    distances : array, default=None
        A sample of the data's distances, over which predicted errors are averaged; None for uniform on [0, R].
    orthogonal : bool, default=False
        Predict errors for directions orthogonal in blocks and stratified radii instead of independent draws.

    Returns
    -------
    SignedMeasure

    Examples
    --------
    >>> import krein
    >>> from krein.kernels import NTK
    >>> m = krein.signed_measure(NTK(), dim=16, radius=1.2, tol=1e-3)
    >>> round(m.mass, 2), m.bias < 1.1e-3
    (0.62, True)
    """
    dim = check_dim(dim)
    check_kernel(kernel)
    _check_tol(tol)
    degree = check_degree(head_degree, n_components)
    n_components = None if n_components is None else check_width(n_components)
    on_sphere = kernel.domain == "sphere" if sphere is None else bool(sphere)
    radius = _check_radius(radius, on_sphere)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if truncate is not None and method != "fourier":
        raise ValueError(
            "truncate cuts the Fourier transform and goes with method='fourier' only; use tol or radius instead"
        )
    if method == "fourier":
        return _fourier(kernel, dim, radius, truncate, on_sphere)
    terms = closed_terms(kernel, dim)
    if method == "closed_form" or (method == "auto" and terms is not None and radius is None):
        if terms is None:
            raise ValueError(f"{kernel!r} has no closed-form spectrum; use method='least_mass' with the data's radius")
        return replace(jordan_of_laws(dim, terms), sphere=on_sphere)
    if radius is None:
        if not on_sphere:
            raise ValueError(
                f"{kernel!r} has no closed-form measure on R^{dim}; give radius=, the largest distance between two rows of "
                "the data, and the measure is made for distances up to that"
            )
        radius = 2.0
    outlook = Outlook.of(kernel.radial, radius, distances, orthogonal=orthogonal)

    def search(tolerance: float | str) -> SignedMeasure:
        if degree == "auto":
            return _best_head(kernel, dim, radius, tolerance, int(n_components or 0), on_sphere, outlook)
        return _least_mass(kernel, dim, radius, tolerance, int(degree), n_components, on_sphere, outlook)

    if method == "least_mass" or terms is None:
        return search(tol)
    try:
        closed = replace(jordan_of_laws(dim, terms), sphere=on_sphere)
    except ValueError:  # tails too heavy for a table
        return search(tol)
    if n_components is None and isinstance(tol, str):
        tol = _DEFAULT_TOL * outlook.size
    try:
        found = search(tol)
    except ValueError:  # a radius far beyond the kernel's scale, where the exact measure is the better one
        return closed
    if not isinstance(tol, str) and found.bias > 3 * tol:
        return closed
    return closed if _predicted(closed, outlook, n_components) <= _predicted(found, outlook, n_components) else found


def _predicted(measure: SignedMeasure, outlook: Outlook, n_components: int | None) -> float:
    s = _DEFAULT_FREQUENCIES if n_components is None else frequencies_for_width(measure, n_components)
    return outlook.error(measure, s)


def check_kernel(kernel: Any) -> None:
    """An error for what is not a kernel, with what to do about it."""
    if not isinstance(kernel, RadialKernel):
        hint = "wrap the function as krein.kernels.Radial(function)" if callable(kernel) else "use one of krein.kernels"
        raise TypeError(f"kernel must be a kernel such as krein.kernels.NTK(), got {kernel!r}; {hint}")


def _least_mass(
    kernel: RadialKernel,
    dim: int,
    radius: float,
    tol: float | str,
    degree: int,
    n_components: int | None,
    sphere: bool,
    outlook: Outlook,
) -> SignedMeasure:
    if not isinstance(tol, str):
        return least_mass(kernel.radial, dim, radius, float(tol), degree, sphere=sphere)
    if n_components is not None:
        free = n_components - head_columns(degree, dim, sphere=sphere)
        least = head_columns(degree, dim, sphere=sphere) or 2
        if n_components < least:
            raise ValueError(
                f"n_components must be at least {least} for head_degree={degree} in dimension {dim}, got {n_components}; use "
                f"{least} or more, or a smaller head_degree"
            )
        return least_mass_for_width(kernel.radial, dim, radius, free // 2, degree, outlook, sphere=sphere)
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, radius, 65))))) or 1.0
    try:
        return least_mass(kernel.radial, dim, radius, _DEFAULT_TOL * size, degree, sphere=sphere)
    except ValueError:
        # A singularity inside [0, R]: the default tolerance has no useful measure, so trade bias against variance.
        measure = least_mass_for_width(kernel.radial, dim, radius, _DEFAULT_FREQUENCIES, degree, outlook, sphere=sphere)
        note = (
            f"tol={_DEFAULT_TOL * size:.2g} would need a mass beyond use; this is the best trade of bias and variance for "
            f"{_DEFAULT_FREQUENCIES} frequencies. A smaller radius gives a smaller bias"
        )
        return replace(measure, note=note)


def _best_head(
    kernel: RadialKernel,
    dim: int,
    radius: float,
    tol: float | str,
    n_components: int,
    sphere: bool,
    outlook: Outlook,
) -> SignedMeasure:
    """Heads of every degree that fits, compared by predicted error at the asked width."""
    best, least = None, math.inf
    refusal: ValueError | None = None
    for degree in _degrees_to_try(n_components, dim, sphere):
        try:
            measure = _least_mass(kernel, dim, radius, tol, degree, n_components, sphere, outlook)
            predicted = outlook.error(measure, frequencies_for_width(measure, n_components))
        except (
            ValueError
        ) as error:  # no room beside this head, or a tolerance that is within reach of another head only
            refusal = error
            continue
        if predicted < least:
            best, least = measure, predicted
    if best is None:
        raise refusal or ValueError(f"n_components must be at least 1, got {n_components}; use 1 or more")
    return best


def _degrees_to_try(n_components: int, dim: int, sphere: bool) -> list[int]:
    """Degrees whose columns fit; low ones only while higher ones take up much of the width."""
    room = [q for q in (-1, 0, 1, 2) if n_components >= (head_columns(q, dim, sphere=sphere) or 2)]
    settled = [q for q in room if 5 * head_columns(q, dim, sphere=sphere) <= n_components]
    return [q for q in room if q >= min(max(settled, default=-1), 1)]


def _fourier(
    kernel: RadialKernel, dim: int, radius: float | None, truncate: float | None, sphere: bool
) -> SignedMeasure:
    if truncate is not None:
        if not isinstance(truncate, Real) or isinstance(truncate, bool) or not 0.0 < float(truncate) < math.inf:
            raise ValueError(f"truncate must be a positive finite radius, got {truncate!r}")
        truncate = float(truncate)
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
    for arches, allowed in ((30, 0.8), (600 if known else 200, 0.1)):  # a short look first
        measure = fourier_measure(kernel.radial, density, dim, cutoff, reach, sphere=sphere, arches=arches)
        if measure.bias > allowed * size:
            raise ValueError(
                f"the numerical Fourier transform of {kernel!r} has lost its digits to cancellation in dimension {dim}: it gives "
                f"the kernel with a bias of {measure.bias:.3g} only. Use method='least_mass' with the data's radius"
            )
    return measure


def fourier_transform(
    kernel: RadialKernel, dim: int, radius: float | None = None
) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """ρ(r) of the kernel extended by zero, and where that extension starts: 2 on the sphere, `radius`, or where k has decayed."""
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
    if kernel.domain == "sphere" or abs(float(kernel.radial(cutoff))) > 1e-16 * size:
        return singularity_exponent(kernel.radial, cutoff, ends=True)
    return singularity_exponent(kernel.radial, 1.5 * cutoff, ends=False)  # k ends there by itself: look across


def _check_radius(radius: Any, sphere: bool) -> float | None:
    if radius is None:
        return None
    if not isinstance(radius, Real) or isinstance(radius, bool):
        raise TypeError(f"radius must be a number, the largest distance in the data, got {radius!r}")
    if not 0.0 < float(radius) < math.inf:
        raise ValueError(f"radius must be positive and finite, the largest distance in the data, got {radius!r}")
    if sphere and float(radius) > 2.0 * (1 + 1e-9):
        raise ValueError(f"distances on the unit sphere are at most 2, got radius={radius!r}; use radius=2 or less")
    return min(float(radius), 2.0) if sphere else float(radius)


def _check_tol(tol: Any) -> None:
    if isinstance(tol, str):
        if tol != "auto":
            raise ValueError(f"tol must be a positive number or 'auto', got {tol!r}")
        return
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0.0 < float(tol) < math.inf:
        raise ValueError(f"tol must be a positive number or 'auto', got {tol!r}")


def check_degree(degree: Any, n_components: int | None) -> int | str:
    """The head's degree as an int or "auto", or an error that names the choices; without a width, "auto" is 1."""
    if isinstance(degree, str) and degree == "auto":
        return "auto" if n_components is not None else 1
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree not in (-1, 0, 1, 2):
        raise ValueError(f"head_degree must be -1 (no head), 0, 1, 2 or 'auto', got {degree!r}")
    return int(degree)
