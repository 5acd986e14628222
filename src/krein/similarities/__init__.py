"""Similarities that are no formula of two vectors: callables and precomputed blocks, their landmarks, spectra and features."""

from krein.similarities.corrections import CORRECTIONS, FittedCorrection, fit_correction
from krein.similarities.landmarks import LANDMARK_RULES, krein_leverage_scores, select_landmarks
from krein.similarities.nystroem import FittedNystroem, fit_nystroem
from krein.similarities.similarity import (
    CallableSimilarity,
    KernelSimilarity,
    PrecomputedSimilarity,
    Similarity,
    as_similarity,
)
from krein.similarities.spectrum import SignedSpectrum, signed_spectrum

__all__ = [
    "Similarity",
    "KernelSimilarity",
    "CallableSimilarity",
    "PrecomputedSimilarity",
    "as_similarity",
    "LANDMARK_RULES",
    "select_landmarks",
    "krein_leverage_scores",
    "SignedSpectrum",
    "signed_spectrum",
    "FittedNystroem",
    "fit_nystroem",
    "CORRECTIONS",
    "FittedCorrection",
    "fit_correction",
]
