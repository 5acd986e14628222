"""Landmarks that stand for all objects, spectra with signs, and the map that is fitted on them."""

from krein.nystroem.fitted_nystroem import FittedNystroem
from krein.nystroem.landmarks import LANDMARK_RULES, select_landmarks
from krein.nystroem.nystroem_fit import NystroemFit, NystroemRecipe, fit_nystroem
from krein.nystroem.spectrum import SignedSpectrum, signed_spectrum

__all__ = [
    "LANDMARK_RULES",
    "select_landmarks",
    "SignedSpectrum",
    "signed_spectrum",
    "FittedNystroem",
    "NystroemFit",
    "NystroemRecipe",
    "fit_nystroem",
]
