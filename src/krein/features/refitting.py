"""Weights refitted to placed rows: calibrated, and with ``weights="projected"`` also projected; held-out rows choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from krein.features.calibration import GOOD_ENOUGH, calibrate
from krein.features.choice import first_nearly_best
from krein.features.dictionary import draw_dictionary
from krein.features.dictionary_choice import choose_composition
from krein.features.draw import Drawn
from krein.features.feature_recipe import (
    CHECK_ROWS,
    FIT_ROWS,
    LANDMARK_ROWS,
    PROJECTION_CHECK_ROWS,
    PROJECTION_ROWS,
    FeatureRecipe,
    projection_rows,
)
from krein.features.held_out import Gram, held_out_gram, relative_error
from krein.features.placed_rows import PlacedRows
from krein.features.projection import decompose
from krein.features.region import Region

__all__ = ["project_dictionary", "refit"]


def refit(
    recipe: FeatureRecipe,
    sample: PlacedRows,
    region: Region,
    narrow: Drawn | None,
    gram: Gram,
    rng: np.random.Generator,
) -> tuple[Drawn, float]:
    """The map with the least error on held-out rows, among unbiased, calibrated and projected; and its error on other rows.

    A map that is exact stays as it is. Near-equal errors keep the plainer map, see `krein.features.choice`.
    """
    candidates = []
    if narrow is not None and not narrow.exact:
        fit_rows, check_rows, _ = sample.split(FIT_ROWS, CHECK_ROWS)
        calibrated = calibrate(narrow.feature_map, fit_rows, check_rows, gram)
        narrow = replace(narrow, feature_map=calibrated.feature_map)
    if narrow is not None:
        candidates.append(narrow)
    n_check = PROJECTION_CHECK_ROWS if recipe.weights == "projected" else CHECK_ROWS
    _, check_rows, last_rows = sample.split(PROJECTION_ROWS, n_check)
    if recipe.weights == "projected":
        errors = [relative_error(one.feature_map, check_rows, held_out_gram(check_rows, gram)) for one in candidates]
        if not errors or errors[0] > GOOD_ENOUGH:
            projected, error = project_dictionary(recipe, sample, region, gram, rng)
            candidates, errors = [*candidates, projected], [*errors, error]
        candidates = [candidates[first_nearly_best(errors)]]
    (chosen,) = candidates
    return chosen, relative_error(chosen.feature_map, last_rows, held_out_gram(last_rows, gram))


def project_dictionary(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, gram: Gram, rng: np.random.Generator
) -> tuple[Drawn, float]:
    """The best map that a dictionary of the recipe's kind has, and its error on the rows that chose it.

    Where the recipe leaves the kind open, small fits of all kinds choose it.
    """
    pilot_rng, wide_rng = rng.spawn(2)
    pool, check_rows, _ = sample.split(LANDMARK_ROWS, PROJECTION_CHECK_ROWS)
    width = recipe.width
    composition = choose_composition(recipe, width, sample, region, pool, check_rows, gram, pilot_rng)
    wide = draw_dictionary(recipe, composition, width, sample, region, pool, wide_rng)
    fit_rows = pool[-projection_rows(width, composition.per_column(recipe)) :]  # the farthest are last
    (found,) = decompose([wide.feature_map], fit_rows, check_rows, gram)
    return replace(wide, feature_map=found.feature_map(width)), found.error(width)
