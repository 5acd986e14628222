"""A similarity of two objects: a function, a distance, a matrix that is there already, or a kernel of this library."""

from krein.similarities.called import CallableSimilarity, as_similarity, is_called, is_precomputed, kernel_of
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.evaluation import Effort
from krein.similarities.evaluation_cache import SimilarityCache
from krein.similarities.object_kernel import ObjectKernel
from krein.similarities.objects import Objects, as_objects, is_numeric_matrix
from krein.similarities.similarity import KernelSimilarity, PrecomputedSimilarity, Similarity, TrainingMatrix

__all__ = [
    "ObjectKernel",
    "DistanceKernel",
    "Objects",
    "as_objects",
    "is_numeric_matrix",
    "Effort",
    "SimilarityCache",
    "Similarity",
    "KernelSimilarity",
    "CallableSimilarity",
    "PrecomputedSimilarity",
    "TrainingMatrix",
    "as_similarity",
    "is_called",
    "is_precomputed",
    "kernel_of",
]
