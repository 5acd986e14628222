"""Frequencies drawn one by one, at random or from a low-discrepancy sequence."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import special

from krein._core.directions import independent_directions
from krein.measures import SignedMeasure
from krein.sampling.base import Frequencies, Sampler
from krein.sampling.parts import paired, signed_weights

__all__ = ["MonteCarlo", "QuasiMonteCarlo"]

_EDGE = 1e-12  # how near a Sobol point may come to 0 or 1, where quantiles are infinite


@final
@dataclass(frozen=True)
class MonteCarlo(Sampler):
    """Independent frequencies: radii by the inverse distribution function, uniform directions.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        counts = self._counts(measure, n)
        radii = [part.ppf(rng.random(count)) if count else np.empty(0) for part, count in paired(measure, counts)]
        vectors = independent_directions(n, measure.dim, rng) * np.concatenate(radii)[:, None]
        return Frequencies(vectors, signed_weights(measure, counts))


@final
@dataclass(frozen=True)
class QuasiMonteCarlo(Sampler):
    """A scrambled Sobol sequence in d + 1 dimensions: d for the direction, one for the radius.

    Parameters
    ----------
    allocation : {"mass", "neyman", "equal"}, default="mass"
        How frequencies are divided between the parts.
    """

    def _sample(self, measure: SignedMeasure, n: int, rng: np.random.Generator, rows: np.ndarray | None) -> Frequencies:
        from scipy.stats import qmc  # a heavy import that only this sampler needs

        dim = measure.dim
        if dim + 1 > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"the Sobol sequence ends at dimension {qmc.Sobol.MAXDIM - 1}, got {dim}; use 'orthogonal'"
            )
        counts = self._counts(measure, n)
        vectors = []
        for (part, count), stream in zip(paired(measure, counts), rng.spawn(2), strict=True):
            if not count:
                continue
            engine = qmc.Sobol(dim + 1, **{_seed_name(qmc.Sobol): stream})
            points = np.clip(engine.random(1 << (count - 1).bit_length())[:count], _EDGE, 1 - _EDGE)
            normal = special.ndtri(points[:, :dim])
            radii = part.ppf(points[:, dim])
            vectors.append(normal / np.linalg.norm(normal, axis=1, keepdims=True) * radii[:, None])
        return Frequencies(np.concatenate(vectors), signed_weights(measure, counts))


def _seed_name(engine: Any) -> str:
    """SciPy renamed the parameter that takes a generator in 1.15."""
    return "rng" if "rng" in inspect.signature(engine).parameters else "seed"
