"""Frequencies in directions orthogonal in blocks, radii stratified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein._core.checks import one_of, truth_value
from krein._core.directions import orthogonal_directions
from krein.measures import SignedMeasure
from krein.sampling.base import Sampler
from krein.sampling.frequencies import Frequencies
from krein.sampling.parts import paired, signed_weights, strata
from krein.sampling.sharing import sharing_helps

__all__ = ["Orthogonal"]


@final
@dataclass(frozen=True)
class Orthogonal(Sampler):
    """Directions orthogonal in blocks, radii stratified: one from each of s slices of equal mass.

    Parameters
    ----------
    share : bool or "auto", default="auto"
        Whether the j-th frequencies of both parts have the same direction. If the parts overlap, their errors then cancel in
        the difference. ``"auto"``: if that lowers the predicted variance.
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    share: bool | str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.share, str):
            one_of(self.share, "share", ("auto",), otherwise=", True or False")
        else:
            truth_value(self.share, "share")

    @property
    def orthogonal(self) -> bool:
        return True

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = self._counts(measure, n)
        weights = signed_weights(measure, counts)
        if min(counts) and (sharing_helps(measure) if isinstance(self.share, str) else self.share):
            return Frequencies(_shared(measure, counts, rng), weights)
        radii = np.concatenate([strata(part, count, rng) for part, count in paired(measure, counts)])
        return Frequencies(orthogonal_directions(n, measure.dim, rng) * radii[:, None], weights)


def _shared(measure: SignedMeasure, counts: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Radii ascend, so that a direction has about the same quantile of both parts; the shorter one skips some directions."""
    common = orthogonal_directions(max(counts), measure.dim, rng)
    vectors = []
    for part, count in paired(measure, counts):
        at = ((np.arange(count) + 0.5) * (max(counts) / count)).astype(np.intp)
        vectors.append(common[at] * strata(part, count, rng)[:, None])
    return np.concatenate(vectors)
