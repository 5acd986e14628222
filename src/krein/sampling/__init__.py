"""Sampling: a signed measure becomes frequencies with signed weights."""

from krein.sampling.allocation import ALLOCATIONS, allocate
from krein.sampling.base import Sampler
from krein.sampling.frequencies import Frequencies, Structure
from krein.sampling.from_density import Importance, Rejection
from krein.sampling.hadamard import Hadamard
from krein.sampling.independent import MonteCarlo, QuasiMonteCarlo
from krein.sampling.leverage import Leverage
from krein.sampling.names import SAMPLERS, as_sampler
from krein.sampling.orthogonal import Orthogonal

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
