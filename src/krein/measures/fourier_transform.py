r"""Algorithm 1 of the paper: the Fourier transform of a radial function on :math:`\mathbb{R}^d`, as a density of radii.

.. math:: \rho(r) = \frac{2^{1-d/2}}{\Gamma(d/2)}\, r^{d/2} \int_0^L k(z)\, z^{d/2} J_{d/2-1}(rz)\,dz

The Jacobian :math:`r^{d-1}` is included. Where the Bessel function underflows the integrand does too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from krein.kernels import Kernel
from krein.measures.closed_form import closed_terms, jordan_of_laws
from krein.measures.radial_parts import NO_MASS, Density, RadialPart
from krein.measures.search.grids import check_grid
from krein.measures.signed import SignedMeasure
from krein.measures.smoothness import FIT_MARGIN, radial_shape, singularity_exponent

__all__ = [
    "ZeroExtension",
    "critical_exponent",
    "edge_exponent",
    "extended_measure",
    "hankel_density",
    "zero_extension",
]

Function = Callable[[np.ndarray], np.ndarray]

_ORDER = 20  # Gauss nodes per panel
_PHASE = 16.0  # radians of the Bessel function per panel
_HIGH = 120  # dimension from which on the factors of the kernel alone would overflow
_ROUNDING = 1e-13  # relative to the integral of the absolute value: what is below has no digit left and is set to 0
_GRADING = 0.2 ** np.arange(14, 0, -1)  # panels shrink towards the ends, where k may be singular
# Sign changes of the density to go by, and the bias allowed then, of sup|k|: a short look first, which finds digits
# lost to cancellation at once; then as many as a closed form or a quadrature can afford, which must come close.
_LOOK = (30, 0.8)
_KNOWN, _QUADRATURE = (600, 0.1), (200, 0.1)
_VANISHED = 1e-16  # of sup|k|: a kernel that is smaller than this where it is cut ends there by itself


def hankel_density(function: Function, r: Any, dim: int, cutoff: float) -> np.ndarray:
    """ρ(r) of the function set to zero beyond `cutoff`, by Gauss--Legendre on panels graded towards both ends.

    The integral cancels more and more as d and r grow; where nothing is left of it but rounding the result is 0. In dimensions
    above about 20 that is most of the density: the caller compares the transform back with k.
    """
    r = np.asarray(r, dtype=np.float64)
    flat, result = r.ravel(), np.empty(r.size)
    # Panels resolve the Bessel function and the power z^{d/2}; powers of two make few distinct rules.
    levels = np.ceil(np.log2(np.maximum(flat * cutoff / _PHASE, max(8.0, dim / 16)))).astype(int)
    for level in np.unique(levels):
        z, weights = _rule(2**level, cutoff)
        values = weights * function(z)
        used = values != 0.0
        z, values = z[used], values[used]
        chosen = np.flatnonzero(levels == level)
        step = max(1, 2**20 // max(1, z.size))
        for start in range(0, chosen.size, step):
            rows = chosen[start : start + step]
            waves = _kernel(flat[rows], z, dim)
            result[rows] = waves @ values
            noise = _ROUNDING * (np.abs(waves) @ np.abs(values))
            result[rows[np.abs(result[rows]) <= noise]] = 0.0
    return result.reshape(r.shape)


def _rule(panels: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    inner = np.arange(1, panels) / panels
    ends = _GRADING / panels
    edges = length * np.concatenate([[0.0], ends, inner, 1.0 - ends[::-1], [1.0]])
    x, w = np.polynomial.legendre.leggauss(_ORDER)
    half = np.diff(edges) / 2
    z = (edges[:-1] + half)[:, None] + half[:, None] * x
    return np.minimum(z.ravel(), length), (half[:, None] * w).ravel()


def _kernel(r: np.ndarray, z: np.ndarray, dim: int) -> np.ndarray:
    """2^{1−d/2}/Γ(d/2)·(rz)^{d/2} J_{d/2−1}(rz), which is exp(log) where factors alone would overflow."""
    half, t = dim / 2, np.multiply.outer(r, z)
    if dim == 1:
        return np.asarray(2 / np.pi * np.cos(t))
    constant = (1 - half) * math.log(2) - special.gammaln(half)
    if dim % 2 and dim < _HIGH:  # the elementary ones are five times as fast
        bessel = special.spherical_jn((dim - 3) // 2, t) * np.sqrt(2 * t / np.pi)
    else:
        bessel = special.j0(t) if dim == 2 else special.jv(half - 1, t)
    if dim < _HIGH:
        return np.asarray(math.exp(constant) * t**half * bessel)
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.sign(bessel) * np.exp(np.minimum(constant + half * np.log(t) + np.log(np.abs(bessel)), 600.0))
        )


def critical_exponent(dim: int) -> float:
    """(d − 1)/2: an edge (R − z)^α extended by zero has a finite measure iff α is larger (Bochner–Riesz)."""
    return (dim - 1) / 2


@dataclass(frozen=True, eq=False)
class ZeroExtension:
    """A kernel set to zero beyond a distance, and the density of radii that is its transform.

    Parameters
    ----------
    radial : callable
        k(z).
    dim : int
    cutoff : float
        Where the extension starts.
    density : callable
        ρ(r).
    known : bool
        Whether the density has a closed form.
    """

    radial: Function
    dim: int
    cutoff: float
    density: Function
    known: bool

    @property
    def size(self) -> float:
        """sup|k| before the cut."""
        return float(np.max(np.abs(self.radial(np.linspace(0.0, self.cutoff, 65)))))

    def measure(self, reach: float, *, r_max: float | None = None, arches: int = 600) -> SignedMeasure:
        """Jordan parts of the density up to a radius, by default so many sign changes; its bias up to `reach` is measured."""
        spacing = math.pi / self.cutoff
        first = self.dim / 2 + 2 * (self.dim / 2) ** (1 / 3) + 2  # where J_{d/2} starts to oscillate
        end = first / self.cutoff + arches * spacing if r_max is None else r_max
        grid = np.linspace(0.0, end, math.ceil(end / spacing * 4) + 8)
        edges = np.union1d(np.append(grid[::4], end), _roots(self.density, grid))
        edges = edges[np.append(True, np.diff(edges) > 1e-12 * end)]
        middle = self.density(0.5 * (edges[:-1] + edges[1:]))
        floor = 1e-14 * float(np.max(np.abs(middle), initial=0.0))
        positive = _part(self.density, edges, middle > floor)
        negative = _part(lambda r: -self.density(r), edges, middle < -floor)
        measure = SignedMeasure.jordan(self.dim, positive, negative, radius=reach)
        z = check_grid(reach)[::8]
        gap = float(np.max(np.abs(measure.evaluate(z) - self.radial(z))))
        if not math.isfinite(gap):
            raise ValueError(
                f"the kernel or its Fourier transform is not finite on [0, {reach:.4g}]; use a kernel whose scale is nearer to the "
                "distances, or a smaller radius"
            )
        note = f"cut at r = {end:.4g}" if r_max is None else f"truncated at r = {end:.4g} as asked"
        return replace(measure, bias=1.05 * gap + 1e-12, note=note)

    def tail_mass(self, end: float, exponent: float) -> float:
        r"""Mass beyond a radius when :math:`|\rho| \sim A r^{-\beta}|\cos|` with β > 1; the mean of |cos| is 2/π."""
        last = np.linspace(end - 4 * math.pi / self.cutoff, end, 2001)
        mean = float(np.mean(np.abs(self.density(last)) * last**exponent))  # A·2/π
        return float(mean * end ** (1 - exponent) / (exponent - 1))


def _part(density: Function, edges: np.ndarray, marks: np.ndarray) -> RadialPart:
    # The panels end at sign changes, so what is cut off here is rounding.
    return Density(lambda r: np.maximum(density(r), 0.0), edges, marks) if marks.any() else NO_MASS


def _roots(density: Function, grid: np.ndarray) -> np.ndarray:
    """Sign changes between grid points, by the Illinois method; a mass errs with the square of what is left."""
    values = density(grid)
    change = np.flatnonzero(values[:-1] * values[1:] < 0)
    left, right, f_left, f_right = grid[change], grid[change + 1], values[change], values[change + 1]
    for _ in range(7 if change.size else 0):
        middle = (left * f_right - right * f_left) / (f_right - f_left)
        f_middle = density(middle)
        crossed = f_middle * f_right < 0  # the root lies between middle and right
        left, f_left = np.where(crossed, right, left), np.where(crossed, f_right, f_left / 2)
        right, f_right = middle, np.where(f_middle == 0.0, np.sign(f_right) * 1e-300, f_middle)
    return np.sort(np.clip(right, grid[change], grid[change + 1]))


def extended_measure(
    kernel: Kernel, dim: int, radius: float | None, truncate: float | None, sphere: bool
) -> SignedMeasure:
    """Algorithm 1 of the paper: Jordan parts of the Fourier transform, refused where their mass is infinite."""
    terms = closed_terms(kernel, dim)
    if (
        terms is not None and radius is None and truncate is None
    ):  # no extension needed: this is the Fourier transform itself
        return replace(jordan_of_laws(dim, terms), sphere=sphere)
    extension = zero_extension(kernel, dim, radius)
    cutoff, exponent = extension.cutoff, edge_exponent(kernel, extension.cutoff)
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
        return replace(extension.measure(reach, r_max=truncate), sphere=sphere)
    for arches, allowed in (_LOOK, _KNOWN if extension.known else _QUADRATURE):
        measure = replace(extension.measure(reach, arches=arches), sphere=sphere)
        if measure.bias > allowed * extension.size:
            raise ValueError(
                f"the numerical Fourier transform of {kernel!r} has lost its digits to cancellation in dimension {dim}: it gives "
                f"the kernel with a bias of {measure.bias:.1g} only. Use method='least_mass' with the data's radius"
            )
    return measure


def zero_extension(kernel: Kernel, dim: int, radius: float | None = None) -> ZeroExtension:
    """The kernel set to zero beyond a radius: 2 on the sphere, else the one given or where it has decayed."""
    if kernel.domain == "sphere":
        known = kernel.fourier_density(np.ones(1), dim) is not None
        cutoff = 2.0
    else:
        known = False
        cutoff = radius or _decayed(kernel)

    def density(r: np.ndarray) -> np.ndarray:
        return np.asarray(kernel.fourier_density(r, dim) if known else hankel_density(kernel.radial, r, dim, cutoff))

    return ZeroExtension(kernel.radial, dim, cutoff, density, known)


def _decayed(kernel: Kernel) -> float:
    shape = radial_shape(kernel.radial)
    if not shape.decays or shape.limit != 0.0:
        raise ValueError(
            f"{kernel!r} does not decay to 0 fast enough for a numerical Fourier transform; give radius=, beyond which it "
            "is set to 0, or use method='least_mass'"
        )
    return shape.support


def edge_exponent(kernel: Kernel, cutoff: float) -> float:
    """α of the worst singularity of the zero extension: declared by the kernel, else measured."""
    declared = kernel.facts.edge_exponent
    if kernel.domain == "sphere" and declared is not None:
        return declared
    size = float(np.max(np.abs(kernel.radial(np.linspace(0.0, cutoff, 65)))))
    if kernel.domain == "sphere" or abs(float(kernel.radial(cutoff))) > _VANISHED * size:
        return singularity_exponent(kernel.radial, cutoff, ends=True)
    return singularity_exponent(kernel.radial, 1.5 * cutoff, ends=False)  # k ends there by itself: look across
