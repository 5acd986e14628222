"""Sampling: a signed measure becomes frequencies with signed weights."""

from krein.measures.error_prediction import ALLOCATIONS, allocate
from krein.sampling.base import Frequencies, Sampler, Structure
from krein.sampling.from_density import Importance, Rejection
from krein.sampling.independent import MonteCarlo, QuasiMonteCarlo
from krein.sampling.leverage import Leverage
from krein.sampling.names import SAMPLERS, as_sampler
from krein.sampling.orthogonal import Hadamard, Orthogonal

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
