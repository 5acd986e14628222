"""The interface of a sampler, from a signed measure to frequencies with signed weights; and what samplers do with its two parts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar, final

import numpy as np

from krein._core.checks import FrozenParams, frozen_array, integer, one_of, param
from krein._core.directions import hadamard_order
from krein.measures import Atoms, RadialPart, SignedMeasure
from krein.measures.error_prediction import ALLOCATIONS

__all__ = ["Frequencies", "Sampler", "Structure", "mass_up_to", "paired", "signed_weights", "strata"]

_PAPERS_CUT = 10.0  # radius at which the paper cuts a Fourier transform whose mass is infinite


@dataclass(frozen=True)
class Sampler(FrozenParams, ABC):
    """Draws frequencies from a measure, unbiased for its radial parts. `sample` checks, `_sample` draws.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the positive and the negative part; see `allocate`.
    """

    # whether the measure must have a density, and whether directions are orthogonal in blocks, which lowers the variance
    needs_density: ClassVar[bool] = False
    orthogonal: ClassVar[bool] = False

    _: KW_ONLY
    allocation: str = param("mass", partial(one_of, choices=ALLOCATIONS))

    @property
    def cut(self) -> float:
        """Radius at which a Fourier transform is cut, if this sampler needs it cut: 10, as in the paper."""
        return _PAPERS_CUT

    def sample(
        self,
        measure: SignedMeasure,
        n_frequencies: int,
        rng: np.random.Generator,
        *,
        rows: np.ndarray | None = None,
    ) -> Frequencies:
        """Draw frequencies.

        Parameters
        ----------
        measure : SignedMeasure
        n_frequencies : int
            At least one; two if the measure has two signs.
        rng : numpy.random.Generator
        rows : ndarray of shape (n_rows, dim), default=None
            Rows of the data, for samplers that use them.

        Returns
        -------
        Frequencies
        """
        n = integer(n_frequencies, "the number of frequencies", least=0)
        if n == 0 or measure.mass == 0.0:
            return Frequencies(np.zeros((n, measure.dim)), np.zeros(n))
        if self.needs_density and any(
            isinstance(part, Atoms) and part.mass > 0.0 for part in (measure.positive, measure.negative)
        ):
            raise ValueError(
                f"{type(self).__name__} needs a measure with a density, and this one has atoms; build it with "
                "method='closed_form' or method='fourier' (with truncate=), or use another sampler"
            )
        return self._sample(measure, n, rng, rows)

    @abstractmethod
    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None
    ) -> Frequencies: ...


@final
@dataclass(frozen=True, eq=False)
class Structure:
    """Signs and radii of structured orthogonal frequencies, from which they are applied without their matrix.

    Parameters
    ----------
    signs : ndarray of shape (n_blocks, 3, p), int8
        Entries ±1, p a power of two.
    radii : ndarray of shape (n_frequencies,)
        Scale of each row, as `krein.features.waves` takes it; at most n_blocks · p of them.
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


def paired(measure: SignedMeasure, counts: tuple[int, int]) -> list[tuple[RadialPart, int]]:
    """The positive and the negative part, each with its number of frequencies."""
    return [(measure.positive, counts[0]), (measure.negative, counts[1])]


def signed_weights(measure: SignedMeasure, counts: tuple[int, int], inside: float = math.inf) -> np.ndarray:
    """±mass/count for each part, only the mass at radii up to `inside` counted."""
    up, down = (mass_up_to(part, inside) / max(count, 1) for part, count in paired(measure, counts))
    return np.repeat([up, -down], counts)


def mass_up_to(part: RadialPart, radius: float) -> float:
    """Mass of a part at radii up to one."""
    if part.mass == 0.0 or math.isinf(radius):
        return part.mass
    return part.mass * float(part.cdf(np.array(radius)))


def strata(part: RadialPart, count: int, rng: np.random.Generator) -> np.ndarray:
    """One radius from each of `count` slices of equal mass, ascending.

    Frequencies of one block then have nearly the same length, which takes up to half the variance off a random order: on a
    common sphere orthogonal directions are at their most complementary.
    """
    if not count:
        return np.empty(0)
    return part.ppf((np.arange(count) + rng.random(count)) / count)
