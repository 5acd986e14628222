"""How far a measure is from the function it stands for, between grid points too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from krein.measures.head import Head
from krein.measures.omega import omega

__all__ = ["certified_bias", "check_grid"]

# Points: some for each period of the fastest waves in use, and 44 per decade next to either end
_CHEBYSHEV, _GEOMETRIC = 1500, 250


def check_grid(radius: float) -> np.ndarray:
    """Distances in [0, R], dense at both ends: a kernel may have a kink at 0 and an infinite slope at R."""
    even = radius * (0.5 - 0.5 * np.cos(np.pi * np.arange(_CHEBYSHEV + 1) / _CHEBYSHEV))
    near = np.geomspace(1e-7 * radius, 0.05 * radius, _GEOMETRIC)
    return np.unique(np.concatenate([even, near, radius - near]))


def certified_bias(
    function: Callable[[np.ndarray], np.ndarray],
    dim: int,
    radius: float,
    head: Head,
    radii: np.ndarray,
    weights: np.ndarray,
) -> tuple[float, np.ndarray, np.ndarray]:
    r"""A bound on :math:`\sup_{[0,R]} |e|` for the residual e = head + Σ w_j Ω_d(r_j z) − k(z).

    On a cell of width h, :math:`|e| \le \max(|e_i|, |e_{i+1}|) + \tfrac{h^2}{8}\sup|e''|`. The second derivative of the
    measure's side is bounded by :math:`\sum|w_j| r_j^2/d` (as :math:`|\Omega_d''| \le 1/d`) plus that of the head; the
    kernel's is estimated by twice its second difference on the grid, because k is a black box.
    """
    z = check_grid(radius)
    k = function(z)
    residual = head.evaluate(z) + omega(dim, np.multiply.outer(z, radii)) @ weights - k
    step = np.diff(z)
    slope = np.diff(k) / step
    bend = np.abs(np.diff(slope)) / (0.5 * (step[:-1] + step[1:]))
    bend = np.maximum(np.concatenate([bend[:1], bend]), np.concatenate([bend, bend[-1:]]))
    curvature = float(np.abs(weights) @ radii**2) / dim
    for q, c in enumerate(head.coefficients):
        if q:
            curvature += abs(c) * 2 * q * (2 * q - 1) * radius ** (2 * q - 2)
    size = np.abs(residual)
    cell = np.maximum(size[:-1], size[1:]) + step**2 / 8 * (curvature + 2 * bend)
    return float(cell.max()), z, residual
