"""Sampling: a signed measure becomes frequencies with signed weights."""

from krein.sampling.allocation import ALLOCATIONS, allocate
from krein.sampling.frequencies import Frequencies, Structure
from krein.sampling.leverage import Leverage
from krein.sampling.names import SAMPLERS, as_sampler
from krein.sampling.samplers import (
    Hadamard,
    Importance,
    MonteCarlo,
    Orthogonal,
    QuasiMonteCarlo,
    Rejection,
    Sampler,
)

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
