"""Algorithm 1 as printed, with the Jacobian: the measure of the function extended by zero, cut into Jordan parts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from krein.measures.certificate import check_grid
from krein.measures.density import Density
from krein.measures.parts import NO_MASS, RadialPart
from krein.measures.signed import SignedMeasure

__all__ = ["critical_exponent", "fourier_measure", "tail_mass"]


def critical_exponent(dim: int) -> float:
    """(d − 1)/2: an edge (R − z)^α extended by zero has a finite measure iff α is larger (Bochner–Riesz)."""
    return (dim - 1) / 2


def fourier_measure(
    function: Callable[[np.ndarray], np.ndarray],
    density: Callable[[np.ndarray], np.ndarray],
    dim: int,
    cutoff: float,
    radius: float,
    *,
    r_max: float | None = None,
    arches: int = 600,
    sphere: bool = False,
) -> SignedMeasure:
    r"""Jordan parts of :math:`\rho` on :math:`[0, r_{max}]`, with the bias that the cut causes, measured."""
    spacing = math.pi / cutoff
    start = _first_arch(dim) / cutoff
    if r_max is None:
        r_max = start + arches * spacing
        note = f"cut at r = {r_max:.4g}"
    else:
        note = f"truncated at r = {r_max:.4g} as asked"
    count = math.ceil(r_max / spacing * 4) + 8
    grid = np.linspace(0.0, r_max, count)
    edges = np.union1d(np.append(grid[::4], r_max), _roots(density, grid))
    edges = edges[np.append(True, np.diff(edges) > 1e-12 * r_max)]
    middle = density(0.5 * (edges[:-1] + edges[1:]))
    floor = 1e-14 * float(np.max(np.abs(middle), initial=0.0))
    positive = _part(density, edges, middle > floor)
    negative = _part(lambda r: -density(r), edges, middle < -floor)
    measure = SignedMeasure.jordan(dim, positive, negative, radius=radius, sphere=sphere)
    z = check_grid(radius)[::8]
    gap = float(np.max(np.abs(measure.evaluate(z) - function(z))))
    if not math.isfinite(gap):
        raise ValueError(
            f"the kernel or its Fourier transform is not finite on [0, {radius:.4g}]; use a kernel whose scale is nearer to the "
            "distances, or a smaller radius"
        )
    return SignedMeasure.jordan(
        dim, positive, negative, radius=radius, sphere=sphere, bias=1.05 * gap + 1e-12, note=note
    )


def tail_mass(density: Callable[[np.ndarray], np.ndarray], r_max: float, cutoff: float, exponent: float) -> float:
    r"""Mass beyond :math:`r_{max}` when :math:`|\rho| \sim A r^{-\beta}|\cos|` with β > 1; the mean of |cos| is 2/π."""
    period = math.pi / cutoff
    last = np.linspace(r_max - 4 * period, r_max, 2001)
    mean = float(np.mean(np.abs(density(last)) * last**exponent))  # A·2/π
    return float(mean * r_max ** (1 - exponent) / (exponent - 1))


def _first_arch(dim: int) -> float:
    """Where J_{d/2} starts to oscillate, a little beyond its order."""
    return float(dim / 2 + 2 * (dim / 2) ** (1 / 3) + 2)


def _part(density: Callable[[np.ndarray], np.ndarray], edges: np.ndarray, marks: np.ndarray) -> RadialPart:
    # The panels end at sign changes, so what is cut off here is rounding.
    return Density(lambda r: np.maximum(density(r), 0.0), edges, marks) if marks.any() else NO_MASS


def _roots(density: Callable[[np.ndarray], np.ndarray], grid: np.ndarray) -> np.ndarray:
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
