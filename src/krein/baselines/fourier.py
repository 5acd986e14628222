"""Trigonometric columns of any number, even or odd, from a law of frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from krein._core.checks import frozen_array, integer, real
from krein._core.rows import check_magnitude
from krein.features.waves import trig_map

__all__ = ["FourierColumns", "systematic_choice"]


class _FrequencyLaw(Protocol):
    """A positive measure on frequencies: its mass, and draws from it."""

    @property
    def mass(self) -> float:
        """Total mass."""

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Frequencies of shape (count, dim)."""


def systematic_choice(weights: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draws from some weights by systematic sampling: each as often as its share says, up to one, in random order."""
    sums = np.cumsum(weights)
    places = (rng.permutation(count) + rng.random()) / max(count, 1) * sums[-1]
    return np.asarray(np.minimum(np.searchsorted(sums, places, side="right"), weights.size - 1))


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
        m, not negative.
    phase : float
        Of the last column if width is odd.
    """

    frequencies: np.ndarray
    width: int
    mass: float
    phase: float

    def __post_init__(self) -> None:
        width = integer(self.width, "width", least=0)
        object.__setattr__(self, "frequencies", frozen_array(self.frequencies, "frequencies", (-(-width // 2), None)))
        object.__setattr__(self, "phase", real(self.phase, "phase"))
        if real(self.mass, "mass") < 0.0:
            raise ValueError(f"mass must not be negative, got {self.mass}")

    @classmethod
    def drawn(cls, law: _FrequencyLaw | None, width: int, dim: int, rng: np.random.Generator) -> Self:
        """Columns from a law; columns of zeros if there is none, or if it has no mass."""
        count = -(-width // 2)
        if law is None or not law.mass:
            return cls(np.zeros((count, dim)), width, 0.0, 0.0)
        frequency_rng, phase_rng = rng.spawn(2)
        return cls(law.draw(count, frequency_rng), width, law.mass, float(phase_rng.uniform(0.0, 2.0 * np.pi)))

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the features of some rows."""
        if self.width == 0:
            return
        check_magnitude(X)
        pairs, dtype = self.width // 2, out.dtype
        amplitude = math.sqrt(2.0 * self.mass / self.width)
        frequencies = self.frequencies.astype(dtype)
        trig_map(X, frequencies[:pairs], np.full(pairs, amplitude, dtype), out[:, : 2 * pairs])
        if self.width % 2:
            # a column of weight 1/width: amplitude √(1/width) times √2 for the phase
            out[:, -1] = amplitude * np.cos(X @ frequencies[-1] + dtype.type(self.phase))
