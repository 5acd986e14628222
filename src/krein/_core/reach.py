"""How far a kernel is worth drawing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["visible_reach"]


def visible_reach(radial: Callable[[np.ndarray], np.ndarray]) -> float:
    """Where a kernel has fallen to a few percent of its largest value."""
    z = np.geomspace(1e-3, 1e4, 1401)
    size = np.abs(radial(z))
    seen = np.flatnonzero(size > 0.03 * size.max())
    return float(z[min(seen[-1] + 1, z.size - 1)]) if seen.size else 1.0
