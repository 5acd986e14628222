"""Frequencies with signed weights, which a sampler returns and a feature map uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.checks import frozen_array
from krein._core.directions import hadamard_order

__all__ = ["Frequencies", "Structure"]


@final
@dataclass(frozen=True, eq=False)
class Structure:
    """Signs and radii of structured orthogonal frequencies, from which they are applied without their matrix.

    Parameters
    ----------
    signs : ndarray of shape (n_blocks, 3, p), int8
        Entries ±1, p a power of two.
    radii : ndarray of shape (n_frequencies,)
        Scale of each row, as `krein.features.walsh` takes it; at most n_blocks · p of them.
    """

    signs: np.ndarray
    radii: np.ndarray

    def __post_init__(self) -> None:
        signs = np.array(self.signs, dtype=np.int8)
        if signs.ndim != 3 or signs.shape[1] != 3 or signs.shape[2].bit_count() != 1 or (np.abs(signs) != 1).any():
            raise ValueError(f"signs must be ±1 of shape (n_blocks, 3, a power of two), got shape {signs.shape}")
        radii = frozen_array(self.radii, "radii", (None,))
        if radii.size > signs.shape[0] * signs.shape[2]:
            raise ValueError(
                f"{signs.shape[0]} blocks of {signs.shape[2]} frequencies cannot give {radii.size}; give more blocks"
            )
        signs.setflags(write=False)
        object.__setattr__(self, "signs", signs)
        object.__setattr__(self, "radii", radii)


@final
@dataclass(frozen=True, eq=False)
class Frequencies:
    r"""Vectors :math:`\omega_j` and signed weights :math:`a_j`: the estimate :math:`\sum_j a_j \cos(\omega_j\cdot(x - x'))`.

    Parameters
    ----------
    vectors : ndarray of shape (n_frequencies, dim)
    weights : ndarray of shape (n_frequencies,)
    structure : Structure or None
        Structure of the vectors, if they have a fast transform.
    """

    vectors: np.ndarray
    weights: np.ndarray
    structure: Structure | None = None

    def __post_init__(self) -> None:
        vectors = frozen_array(self.vectors, "vectors", (None, None))
        weights = frozen_array(self.weights, "weights", (vectors.shape[0],))
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "weights", weights)
        if self.structure is not None:
            p = hadamard_order(self.dim)
            if not isinstance(self.structure, Structure):
                raise TypeError(f"structure must be a Structure or None, got {self.structure!r}")
            if self.structure.signs.shape[2] != p or self.structure.radii.shape != weights.shape:
                raise ValueError(
                    f"{len(self)} vectors of dimension {self.dim} need a structure of as many radii and diagonals of "
                    f"order {p}, got {self.structure.radii.size} and {self.structure.signs.shape[2]}"
                )

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    @property
    def dim(self) -> int:
        """Entries of a vector."""
        return int(self.vectors.shape[1])

    def evaluate(self, differences: np.ndarray) -> np.ndarray:
        """The estimate at some differences of rows.

        Parameters
        ----------
        differences : ndarray of shape (m, dim)
            Rows x − x'.

        Returns
        -------
        ndarray of shape (m,)
        """
        return np.asarray(np.cos(differences @ self.vectors.T) @ self.weights)
