"""Trigonometric columns from a law of frequencies, and what fitting such laws takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy import optimize

from krein._core.checks import frozen_array, real
from krein._core.rows import check_magnitude
from krein.features.waves import trig_map

__all__ = ["FourierColumns", "nonnegative_weights", "systematic_choice"]


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


def nonnegative_weights(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """Non-negative least squares."""
    try:
        masses, residual = optimize.nnls(A, b, maxiter=50 * A.shape[1])
    except RuntimeError:  # solutions of nearly dependent columns may go in circles; this is slower and does not
        masses = np.maximum(optimize.lsq_linear(A, b, bounds=(0.0, np.inf), method="bvls").x, 0.0)
        residual = np.linalg.norm(A @ masses - b)
    return np.asarray(masses), float(residual)


@dataclass(frozen=True, eq=False)
class FourierColumns:
    r"""Columns whose inner products estimate :math:`m\,E\cos(\omega\cdot(x - y))`.

    A pair :math:`\cos, \sin` of one frequency has less variance than two cosines with random phases (Sutherland and
    Schneider 2015). Each column has the same weight.

    Parameters
    ----------
    frequencies : ndarray of shape (n_pairs + n_phases, n_features)
    phases : ndarray of shape (n_phases,)
        Of the last frequencies, which have one column each; the others have two.
    mass : float
        m, not negative.
    """

    frequencies: np.ndarray
    phases: np.ndarray
    mass: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", frozen_array(self.frequencies, "frequencies", (None, None)))
        object.__setattr__(self, "phases", frozen_array(self.phases, "phases", (None,)))
        if self.phases.size > self.frequencies.shape[0]:
            raise ValueError("phases must not be more than frequencies")
        if real(self.mass, "mass") < 0.0:
            raise ValueError(f"mass must not be negative, got {self.mass}")

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(2 * self.frequencies.shape[0] - self.phases.size)

    @classmethod
    def drawn(
        cls, law: _FrequencyLaw | None, width: int, dim: int, rng: np.random.Generator, *, phased: bool = False
    ) -> Self:
        """Columns from a law, in pairs but for the last of an odd number, or all with phases; zeros if it has no mass."""
        n_phases = width if phased else width % 2
        count = (width + n_phases) // 2
        if law is None or not law.mass:
            return cls(np.zeros((count, dim)), np.zeros(n_phases), 0.0)
        frequency_rng, phase_rng = rng.spawn(2)
        return cls(law.draw(count, frequency_rng), phase_rng.uniform(0.0, 2.0 * np.pi, n_phases), law.mass)

    def fill(self, X: Any, out: np.ndarray) -> None:
        """Write the features of some rows."""
        if self.width == 0:
            return
        check_magnitude(X)
        dtype, pairs = out.dtype, self.frequencies.shape[0] - self.phases.size
        amplitude = math.sqrt(2.0 * self.mass / self.width)  # that of a column with a phase is √(m / width) times √2
        frequencies = self.frequencies.astype(dtype)
        trig_map(X, frequencies[:pairs], np.full(pairs, amplitude, dtype), out[:, : 2 * pairs])
        if self.phases.size:
            out[:, 2 * pairs :] = amplitude * np.cos(X @ frequencies[pairs:].T + self.phases.astype(dtype))
