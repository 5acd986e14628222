"""Trigonometric columns of any number, even or odd."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from krein.features.trig import trig_map

__all__ = ["FourierColumns"]


@dataclass(frozen=True, eq=False)
class FourierColumns:
    r"""Columns whose inner products estimate :math:`m\,E\cos(\omega\cdot(x - y))`.

    A pair :math:`\cos, \sin` of one frequency has less variance than two cosines with random phases (Sutherland and
    Schneider 2015). If the number of columns is odd, the last one is a cosine with a random phase; each column has the same
    weight.

    Parameters
    ----------
    frequencies : ndarray of shape (ceil(width / 2), n_features)
    width : int
    mass : float
    phase : float
        Of the last column if width is odd.
    """

    frequencies: np.ndarray
    width: int
    mass: float
    phase: float

    @staticmethod
    def count(width: int) -> int:
        """Frequencies needed for so many columns."""
        return -(-width // 2)

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the features of the rows of X."""
        if self.width == 0:
            return
        pairs, dtype = self.width // 2, out.dtype
        amplitude = math.sqrt(2.0 * self.mass / self.width)
        frequencies = self.frequencies.astype(dtype)
        trig_map(X, frequencies[:pairs], np.full(pairs, amplitude, dtype), out[:, : 2 * pairs])
        if self.width % 2:
            # a column of weight 1/width: amplitude √(1/width) times √2 for the phase
            out[:, -1] = amplitude * np.cos(X @ frequencies[-1] + dtype.type(self.phase))
