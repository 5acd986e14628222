"""Signed measures: a polynomial head and a signed measure on radii, and ways to get one from a kernel."""

from krein.measures.build import MeasureRecipe, signed_measure
from krein.measures.error_prediction import (
    Outlook,
    components_for_error,
    frequencies_for_width,
    orthogonal_variance,
    predicted_error,
    uniform_error_bound,
)
from krein.measures.harmonics import omega
from krein.measures.kernel_diagnosis import Diagnosis, PositivePart, diagnose
from krein.measures.radial_parts import Atoms, Density, LawPart, RadialPart
from krein.measures.signed import Head, SignedMeasure, head_columns

__all__ = [
    "signed_measure",
    "SignedMeasure",
    "MeasureRecipe",
    "Head",
    "RadialPart",
    "Atoms",
    "Density",
    "LawPart",
    "diagnose",
    "Diagnosis",
    "PositivePart",
    "predicted_error",
    "orthogonal_variance",
    "Outlook",
    "frequencies_for_width",
    "head_columns",
    "uniform_error_bound",
    "components_for_error",
    "omega",
]
