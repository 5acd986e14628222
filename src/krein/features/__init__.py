"""Features: frequencies and weights become columns with a signature; calibration and dictionaries; the compiled loops."""

from krein.features.calibration import Calibration, calibrate
from krein.features.feature_map import FeatureMap
from krein.features.feature_recipe import FeatureRecipe
from krein.features.fit import draw_waves, fit_map
from krein.features.fitted_map import FittedMap, RowMap
from krein.features.head import HeadBasis, head_basis
from krein.features.held_out import held_out_gram, relative_error
from krein.features.waves import hadamard_frequencies, hadamard_trig_map, trig_map

__all__ = [
    "FeatureRecipe",
    "fit_map",
    "draw_waves",
    "FittedMap",
    "RowMap",
    "FeatureMap",
    "HeadBasis",
    "head_basis",
    "calibrate",
    "Calibration",
    "held_out_gram",
    "relative_error",
    "trig_map",
    "hadamard_trig_map",
    "hadamard_frequencies",
]
