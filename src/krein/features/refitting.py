"""Weights refitted to placed rows: calibrated, and with ``weights="projected"`` also projected; held-out rows choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from krein.features.calibration import GOOD_ENOUGH, calibrate, held_out_gram, relative_error
from krein.features.choice import first_nearly_best
from krein.features.draw import Drawn, draw_map
from krein.features.feature_recipe import FIT_ROWS, PROJECTION_ROWS, FeatureRecipe
from krein.features.placed_rows import PlacedRows
from krein.features.projection import project
from krein.features.region import Region

__all__ = ["refit"]


def refit(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, narrow: Drawn, rng: np.random.Generator
) -> tuple[Drawn, float]:
    """The map with the least error on rows held out, among unbiased, calibrated and projected; and its error on other rows.

    A map that is exact stays as it is. Near-equal errors keep the plainer map, see `krein.features.choice`.

    Parameters
    ----------
    recipe : FeatureRecipe
    sample : PlacedRows
        With rows to hold out.
    region : Region
    narrow : Drawn
        With as many columns as the map will have.
    rng : numpy.random.Generator
        Draws the columns to project.

    Returns
    -------
    drawn : Drawn
    error : float
        Relative error on rows held out from every choice.
    """
    fit_rows, check_rows, last_rows = sample.split(FIT_ROWS)
    gram, chosen = recipe.kernel.gram, narrow
    if not narrow.exact:
        calibrated = calibrate(narrow.feature_map, fit_rows, check_rows, gram)
        chosen = replace(narrow, feature_map=calibrated.feature_map)
    if recipe.weights == "projected":
        error = relative_error(chosen.feature_map, check_rows, held_out_gram(check_rows, gram))
        if error > GOOD_ENOUGH:
            wide = draw_map(recipe, sample, region, recipe.columns_drawn(sample.rows.shape[0]), rng)
            fit_rows, _, _ = sample.split(PROJECTION_ROWS)
            projected = project(wide.feature_map, recipe.n_components, fit_rows, check_rows, gram)
            if first_nearly_best([error, projected.error]) == 1:
                chosen = Drawn(wide.measure, projected.feature_map)
    return chosen, relative_error(chosen.feature_map, last_rows, held_out_gram(last_rows, gram))
