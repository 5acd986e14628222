"""The card of a kernel in a notebook: its function of the distance, and facts about it."""

from __future__ import annotations

import numpy as np

from krein.kernels.base import Kernel
from krein.show.cards import card, curve, sketch, visible_reach

__all__ = ["kernel_card"]

_STEPS = 120  # points of the curve
_GROWING = 4.0  # length scales of a kernel that grows without end


def kernel_card(kernel: Kernel) -> str:
    """A kernel as HTML."""
    drawing, facts = "", []
    if kernel.known_everywhere:
        z = np.linspace(0.0, _reach(kernel), _STEPS)
        values = kernel.radial(z)
        drawing = sketch([curve(z, values)], f"k(z) for distances z up to {z[-1]:.3g}", "distance z")
        facts.append(("k(0)", f"{float(values[0]):.4g}"))
    rows = "unit vectors, distances up to 2" if kernel.domain == "sphere" else "any rows of numbers"
    facts.append(("rows", rows + (", scaled by the kernel" if kernel.scales_rows else "")))
    if kernel.length_scale is not None:
        facts.append(("length scale", f"{kernel.length_scale:.4g}"))
    return card(repr(kernel), [*facts, ("positive definite?", "see krein.diagnose(kernel, dim)")], drawing=drawing)


def _reach(kernel: Kernel) -> float:
    if kernel.domain == "sphere":
        return 2.0
    return visible_reach(kernel.radial) if kernel.facts.bounded else _GROWING * (kernel.length_scale or 1.0)
