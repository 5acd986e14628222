"""Samplers by name."""

from __future__ import annotations

from typing import Any

from krein.sampling.base import Sampler
from krein.sampling.from_density import Importance, Rejection
from krein.sampling.independent import MonteCarlo, QuasiMonteCarlo
from krein.sampling.leverage import Leverage
from krein.sampling.orthogonal import Hadamard, Orthogonal

__all__ = ["SAMPLERS", "as_sampler"]

SAMPLERS: dict[str, type[Sampler]] = {
    "monte_carlo": MonteCarlo,
    "rejection": Rejection,
    "importance": Importance,
    "orthogonal": Orthogonal,
    "hadamard": Hadamard,
    "quasi_monte_carlo": QuasiMonteCarlo,
    "leverage": Leverage,
}


def as_sampler(sampler: Any) -> Sampler:
    """The sampler itself, or the one of that name with its default parameters.

    Parameters
    ----------
    sampler : Sampler or str

    Returns
    -------
    Sampler
    """
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, str) and sampler in SAMPLERS:
        return SAMPLERS[sampler]()
    raise ValueError(f"sampler must be one of {', '.join(SAMPLERS)}, or a sampler of krein.sampling, got {sampler!r}")
