"""What a dictionary is made of, where the recipe leaves it open: small fits of all kinds, compared on held-out rows."""

from __future__ import annotations

import numpy as np

from krein.features.choice import first_nearly_best
from krein.features.dictionary import COMPOSITIONS, Composition, draw_dictionary
from krein.features.feature_recipe import FeatureRecipe, projection_rows
from krein.features.held_out import Gram
from krein.features.placed_rows import PlacedRows
from krein.features.projection import decompose
from krein.features.region import Region

__all__ = ["choose_composition"]

_PILOT_WIDTH = 64  # columns kept by the small fits; what is ahead there is ahead, or hardly behind, at larger widths


def choose_composition(
    recipe: FeatureRecipe,
    width: int,
    sample: PlacedRows,
    region: Region,
    pool: np.ndarray,
    check_rows: np.ndarray,
    gram: Gram,
    rng: np.random.Generator,
) -> Composition:
    """What was asked for, or what does best on held-out rows at a small width."""
    if recipe.dictionary != "auto":
        return COMPOSITIONS[recipe.dictionary]
    width, kinds = min(width, _PILOT_WIDTH), list(COMPOSITIONS.values())
    wides = [draw_dictionary(recipe, kind, width, sample, region, pool, rng).feature_map for kind in kinds]
    found = decompose(wides, pool[-projection_rows(width) :], check_rows, gram)
    return kinds[first_nearly_best([one.error(width) for one in found])]
