"""The interface of a sampler: from a signed measure to frequencies with signed weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from krein._core.checks import FrozenParams, integer, one_of
from krein.measures import SignedMeasure
from krein.sampling.allocation import ALLOCATIONS, allocate
from krein.sampling.frequencies import Frequencies
from krein.sampling.parts import has_density

__all__ = ["Sampler"]

_PAPERS_CUT = 10.0  # radius at which the paper cuts a Fourier transform whose mass is infinite


@dataclass(frozen=True)
class Sampler(FrozenParams, ABC):
    """Draws frequencies from a measure, unbiased for its radial parts. `sample` checks, `_sample` draws.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the positive and the negative part; see `allocate`.
    """

    allocation: str = field(default="mass", kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.allocation, "allocation", ALLOCATIONS)

    @property
    def needs_density(self) -> bool:
        """Whether the measure must have a density."""
        return False

    @property
    def orthogonal(self) -> bool:
        """Whether directions are orthogonal in blocks, which lowers the variance."""
        return False

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
        if self.needs_density and not (has_density(measure.positive) and has_density(measure.negative)):
            raise ValueError(
                f"{type(self).__name__} needs a measure with a density, and this one has atoms; build it with "
                "method='closed_form' or method='fourier' (with truncate=), or use another sampler"
            )
        return self._sample(measure, n, rng, rows)

    def _counts(self, measure: SignedMeasure, n: int) -> tuple[int, int]:
        """Frequencies of the positive and of the negative part."""
        return allocate(measure, n, self.allocation)

    @abstractmethod
    def _sample(
        self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None
    ) -> Frequencies: ...
