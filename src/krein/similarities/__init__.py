"""A similarity of two objects: a function, a distance, a matrix that is there already, or a kernel of this library."""

from krein.similarities.cache import SimilarityCache
from krein.similarities.direct_source import DirectSource, KernelSimilarity, PrecomputedSimilarity, TrainingMatrix
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.objects import Objects, as_objects, is_numeric_matrix
from krein.similarities.similarity import (
    BlockSource,
    Similarity,
    as_kernel,
    as_similarity,
    distance_of,
    is_called,
    is_precomputed,
    kernel_of,
)

__all__ = [
    "Similarity",
    "DistanceKernel",
    "SimilarityCache",
    "Objects",
    "as_objects",
    "is_numeric_matrix",
    "BlockSource",
    "DirectSource",
    "KernelSimilarity",
    "PrecomputedSimilarity",
    "TrainingMatrix",
    "as_kernel",
    "as_similarity",
    "distance_of",
    "is_called",
    "is_precomputed",
    "kernel_of",
]
