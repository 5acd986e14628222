"""Frequencies with signed weights: what a sampler returns and a feature map is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

__all__ = ["Frequencies", "Structure"]


@final
@dataclass(frozen=True, eq=False)
class Structure:
    """Signs and radii of structured orthogonal frequencies, from which they are applied without their matrix.

    Parameters
    ----------
    signs : ndarray of shape (n_blocks, 3, p), int8
        p a power of two.
    radii : ndarray of shape (n_frequencies,)
        Scale of each row, as `krein.features.walsh` takes it.
    """

    signs: np.ndarray
    radii: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Frequencies:
    r"""Vectors :math:`\omega_j` and signed weights :math:`a_j`: the estimate :math:`\sum_j a_j \cos(\omega_j\cdot(x - x'))`.

    Parameters
    ----------
    vectors : ndarray of shape (n_frequencies, dim)
    weights : ndarray of shape (n_frequencies,)
    structure : Structure or None
        Where the vectors have a fast transform.
    """

    vectors: np.ndarray
    weights: np.ndarray
    structure: Structure | None = None

    def __post_init__(self) -> None:
        vectors, weights = np.array(self.vectors, dtype=np.float64), np.array(self.weights, dtype=np.float64)
        if vectors.ndim != 2 or weights.shape != (vectors.shape[0],):
            raise ValueError(f"vectors (s, d) and weights (s,) do not fit: got {vectors.shape} and {weights.shape}")
        for name, array in (("vectors", vectors), ("weights", weights)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return self.weights.shape[0]

    def evaluate(self, differences: np.ndarray) -> np.ndarray:
        """The estimate at rows of differences x − x', shape (m, dim)."""
        return np.cos(differences @ self.vectors.T) @ self.weights
