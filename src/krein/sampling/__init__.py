"""Sampling: a signed measure becomes frequencies with signed weights."""

from typing import Any

from krein.measures.error_prediction import ALLOCATIONS, allocate
from krein.sampling.independent import Importance, MonteCarlo, QuasiMonteCarlo, Rejection
from krein.sampling.orthogonal import Hadamard, Leverage, Orthogonal
from krein.sampling.sampler import Frequencies, Sampler, Structure

__all__ = [
    "Frequencies",
    "Structure",
    "Sampler",
    "MonteCarlo",
    "Rejection",
    "Importance",
    "Orthogonal",
    "Hadamard",
    "QuasiMonteCarlo",
    "Leverage",
    "SAMPLERS",
    "as_sampler",
    "ALLOCATIONS",
    "allocate",
]

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
