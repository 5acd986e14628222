"""What is tried: kernels at several scales, each on rows placed for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krein._core.rows import row_norms
from krein.kernels import NTK, ArcCosine, Cauchy, DeltaGaussian, Gaussian, Kernel, Laplacian, Matern
from krein.kernels.gram import radial_gram
from krein.learning.tuning.placement import Placement

__all__ = ["PORTFOLIO", "Candidate", "candidates", "median_distance"]

_PAIRED = 500  # rows whose distances give the median
_FACTORS = (2.0, 1.0, 0.5, 0.25, 0.125)  # of the median distance: from smooth to rough
_WIDER = 10.0  # the wide Gaussian of a Delta-Gaussian, as in its default

# families at unit length scale, the plainest first: of near-equals the first is taken
PORTFOLIO: tuple[Kernel, ...] = (
    Gaussian(1.0),
    Cauchy(1.0),
    Matern(1.0, nu=1.5),
    Laplacian(1.0),
    ArcCosine(1),
    NTK(),
    ArcCosine(0),
    DeltaGaussian(1.0, _WIDER),
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel on placed rows.

    Parameters
    ----------
    kernel : Kernel
    placement : Placement
    family : str
        What the kernel is called apart from its scale.
    factor : float or None
        Its length scale over the median distance; None on the sphere.
    """

    kernel: Kernel
    placement: Placement
    family: str
    factor: float | None

    def gram(self, X: Any) -> np.ndarray:
        """Kernel matrix of raw rows, float64."""
        return self.kernel.gram(self.placement(X).astype(np.float64, copy=False))


def candidates(kernels: Iterable[Kernel], placement: Placement, X: Any) -> list[Candidate]:
    """Every kernel at every scale."""
    placed = placement(X[:_PAIRED]).astype(np.float64, copy=False)
    distance = median_distance(placed)
    length = float(np.median(row_norms(placed))) or 1.0
    found = []
    for kernel in kernels:
        name = type(kernel).__name__
        if kernel.domain == "sphere":
            found += [Candidate(kernel, placement.lifted(lift), f"{kernel!r}", None) for lift in (length, 1.0)]
        elif kernel.length_scale is None:
            found.append(Candidate(kernel, placement, f"{kernel!r}", None))
        else:
            unit = kernel.scaled(distance / kernel.length_scale)
            found += [Candidate(unit.scaled(factor), placement, name, factor) for factor in _FACTORS]
    return found


def median_distance(X: Any) -> float:
    """The median distance of distinct rows among the first few hundred."""
    some = X[:_PAIRED]
    distances = radial_gram(lambda z: z, some, None)[np.triu_indices(some.shape[0], 1)]
    distances = distances[distances > 0.0]
    return float(np.median(distances)) if distances.size and math.isfinite(distances.max()) else 1.0
