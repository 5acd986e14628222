"""Structured orthogonal frequencies, applied by the fast Walsh--Hadamard transform."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.directions import hadamard_order, structured_rows
from krein.measures import SignedMeasure
from krein.sampling.base import Sampler
from krein.sampling.frequencies import Frequencies, Structure
from krein.sampling.parts import paired, signed_weights, strata

__all__ = ["Hadamard"]

_SIGNS = np.array([-1, 1], dtype=np.int8)
_LOST = 1e-6  # length below which a unit vector has lost its direction with the coordinates that were cut off


@final
@dataclass(frozen=True)
class Hadamard(Sampler):
    r"""Structured orthogonal directions :math:`HD_3HD_2HD_1` applied by the fast Walsh--Hadamard transform.

    A transform costs O(d log d) per d frequencies instead of O(d²). Directions are orthogonal in blocks but only close to
    uniform: with the three random sign diagonals, :math:`E\cos(\omega\cdot\Delta)` differs from :math:`\Omega_d` by O(1/d)
    (Yu et al. 2016), so the estimate is unbiased only up to that. Radii are stratified and norms exact.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.

    References
    ----------
    .. [1] F. X. Yu et al. "Orthogonal random features". NeurIPS, 2016.
    """

    @property
    def orthogonal(self) -> bool:
        return True

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = self._counts(measure, n)
        radii = np.concatenate([strata(part, count, rng) for part, count in paired(measure, counts)])
        p = hadamard_order(measure.dim)
        signs = rng.choice(_SIGNS, size=(-(-n // p), 3, p))
        unit = structured_rows(signs, n, measure.dim)
        norms = np.linalg.norm(unit, axis=1)
        while (lost := np.unique(np.flatnonzero(norms < _LOST) // p)).size:
            # In low dimension a row may lie wholly in the coordinates that are cut off, and has no direction left.
            signs[lost] = rng.choice(_SIGNS, size=(lost.size, 3, p))
            unit = structured_rows(signs, n, measure.dim)
            norms = np.linalg.norm(unit, axis=1)
        scale = radii / norms
        # The fast transform multiplies the rows by √(p/d), so that their mean square norm is 1.
        structure = Structure(signs, scale * math.sqrt(measure.dim / p))
        return Frequencies(unit * scale[:, None], signed_weights(measure, counts), structure)
