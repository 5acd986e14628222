"""Matrices of similarities and of distances: what they hold, corrections of them, and their embedding."""

from krein.matrices.corrections import CORRECTIONS, FittedCorrection, fit_correction
from krein.matrices.matrix_diagnosis import MatrixDiagnosis
from krein.similarities.matrix_checks import check_kind

__all__ = ["CORRECTIONS", "FittedCorrection", "fit_correction", "MatrixDiagnosis", "check_kind"]
