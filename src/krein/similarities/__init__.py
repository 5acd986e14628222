"""Similarities that are no formula of two vectors: callables and precomputed blocks, their landmarks, spectra and features."""

from krein.similarities.called import CallableSimilarity, as_similarity, is_called, is_precomputed, kernel_of
from krein.similarities.corrections import CORRECTIONS, FittedCorrection, fit_correction
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.evaluation import Effort
from krein.similarities.evaluation_cache import SimilarityCache
from krein.similarities.landmarks import LANDMARK_RULES, select_landmarks
from krein.similarities.nystroem import FittedNystroem
from krein.similarities.nystroem_fit import NystroemFit, NystroemRecipe, fit_nystroem
from krein.similarities.object_kernel import ObjectKernel
from krein.similarities.objects import Objects, as_objects, is_numeric_matrix
from krein.similarities.similarity import KernelSimilarity, PrecomputedSimilarity, Similarity, TrainingMatrix
from krein.similarities.spectrum import SignedSpectrum, signed_spectrum

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
    "LANDMARK_RULES",
    "select_landmarks",
    "SignedSpectrum",
    "signed_spectrum",
    "FittedNystroem",
    "NystroemFit",
    "NystroemRecipe",
    "fit_nystroem",
    "CORRECTIONS",
    "FittedCorrection",
    "fit_correction",
]
