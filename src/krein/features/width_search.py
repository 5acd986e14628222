"""The smallest map whose error on held-out rows meets a target, by fits whose size doubles.

One decomposition of a dictionary has the errors of all widths at once, see `krein.features.projection`. A dictionary that is twice
as wide as the map it gives is wide enough; until then its size is doubled, so that all fits together cost little more than the
last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from krein.features.calibration import calibrate
from krein.features.dictionary import draw_dictionary
from krein.features.dictionary_choice import choose_composition
from krein.features.draw import Drawn, draw_map
from krein.features.feature_recipe import (
    CHECK_ROWS,
    FIT_ROWS,
    LANDMARK_ROWS,
    SEARCH_CHECK_ROWS,
    FeatureRecipe,
    projection_rows,
)
from krein.features.held_out import Gram, estimated_gram, held_out_gram, upper_error
from krein.features.placed_rows import PlacedRows
from krein.features.projection import Decomposed, decompose
from krein.features.region import Region
from krein.features.width_trials import WidthSearch, WidthTrial
from krein.measures.head import head_columns

__all__ = ["search_width"]

_FIRST_WIDTH = 32
_LAST_WIDTH = {"projected": 1024, "calibrated": 4096}  # a fit of this size takes some seconds
_LEAST_WAVE_COLUMNS = 6  # columns beside a head, from which on waves are worth a try
# Held-out rows that all of them are paired with: an error that few rows make up is known better with more
_CHECK_COLUMNS = 512
_STEPS = 2  # widths tried per octave, for maps that have to be fitted one by one

Found = tuple[Drawn, WidthTrial]


def search_width(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, gram: Gram, rng: np.random.Generator
) -> tuple[Drawn, WidthSearch]:
    """The smallest map that meets the recipe's error; the most accurate one where none does."""
    target, found = recipe.error, list[Found]()
    plain_rng, wide_rng = rng.spawn(2)
    if recipe.weights == "calibrated":
        found += _calibrated_maps(recipe, sample, region, gram, plain_rng)
    else:
        found += _projected_maps(recipe, sample, region, gram, wide_rng)
    if recipe.weights == "auto":
        width = found[_choice(found, target)][1].n_components
        if width >= head_columns(1, sample.dim, sphere=region.sphere) + _LEAST_WAVE_COLUMNS:
            plain = _calibrated(recipe, width, sample, region, gram, plain_rng)
            if plain[1].error <= target:
                found.append(plain)
    chosen = _choice(found, target)
    return found[chosen][0], WidthSearch(target, tuple(trial for _, trial in found), chosen)


def _choice(found: list[Found], target: float) -> int:
    """The narrowest of those that meet the target, the last of several; the most accurate one where none does."""
    meeting = [place for place, (_, trial) in enumerate(found) if trial.error <= target]
    if meeting:
        return min(reversed(meeting), key=lambda place: found[place][1].n_components)
    return min(range(len(found)), key=lambda place: found[place][1].error)


def _projected_maps(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, gram: Gram, rng: np.random.Generator
) -> Iterator[Found]:
    """Maps from dictionaries of twice the size each, until one is wide enough."""
    pilot_rng, rng = rng.spawn(2)
    pool, check_rows, _ = sample.split(LANDMARK_ROWS, SEARCH_CHECK_ROWS)
    composition = choose_composition(recipe, _FIRST_WIDTH, sample, region, pool, check_rows, gram, pilot_rng)
    width = _FIRST_WIDTH
    while True:
        rows = pool[-projection_rows(width, composition.per_column(recipe)) :]
        wide = draw_dictionary(recipe, composition, width, sample, region, pool, rng)
        (decomposed,) = decompose([wide.feature_map], rows, check_rows, gram, _CHECK_COLUMNS)
        best, error = _least_width(decomposed, recipe.error)
        sections = 0 if wide.feature_map.sections is None else wide.feature_map.sections.n_columns
        fitted = len(rows) + sections  # landmarks are fitted to as well
        values = fitted * (fitted + 1) // 2 + (fitted + len(check_rows)) * sections + decomposed.exact.size
        trial = WidthTrial("projected", wide.feature_map.n_columns, values, best, error)
        yield replace(wide, feature_map=decomposed.feature_map(best)), trial
        enough = error <= recipe.error and best <= width
        if enough or 2 * width > _LAST_WIDTH["projected"] or projection_rows(2 * width) > len(pool):
            return
        width *= 2


def _least_width(decomposed: Decomposed, target: float) -> tuple[int, float]:
    """The smallest width that meets the target, by bisection, or all there are; and its error.

    Errors fall with the width but for the last digits, and bisection ends at a width that meets the target in any case.
    """
    high = max(decomposed.rank, 1)
    error = decomposed.upper_error(high)
    low = 0 if error <= target else high - 1
    while high - low > 1:
        middle = (low + high) // 2
        found = decomposed.upper_error(middle)
        if found <= target:
            high, error = middle, found
        else:
            low = middle
    return high, error


def _calibrated_maps(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, gram: Gram, rng: np.random.Generator
) -> Iterator[Found]:
    """Calibrated maps of rising width, until one meets the target."""
    least = max(head_columns(1, sample.dim, sphere=region.sphere) + _LEAST_WAVE_COLUMNS, _FIRST_WIDTH)
    for step in range(math.ceil(_STEPS * math.log2(_LAST_WIDTH["calibrated"] / least)) + 1):
        found = _calibrated(recipe, round(least * 2 ** (step / _STEPS)), sample, region, gram, rng)
        yield found
        if found[1].error <= recipe.error:
            return


def _calibrated(
    recipe: FeatureRecipe, width: int, sample: PlacedRows, region: Region, gram: Gram, rng: np.random.Generator
) -> Found:
    """A calibrated map of some width, compared on the same rows as projected ones."""
    narrow = draw_map(replace(recipe, n_components=width, weights="calibrated"), sample, region, width, rng)
    fit_rows, check_rows, _ = sample.split(FIT_ROWS, CHECK_ROWS)
    n_evaluations = len(fit_rows) * width
    if not narrow.exact:
        narrow = replace(narrow, feature_map=calibrate(narrow.feature_map, fit_rows, check_rows, gram).feature_map)
    _, check_rows, _ = sample.split(FIT_ROWS, SEARCH_CHECK_ROWS)
    exact = held_out_gram(check_rows, gram, _CHECK_COLUMNS)
    error = upper_error(exact - estimated_gram(narrow.feature_map, check_rows, exact.shape[1]), exact)
    return narrow, WidthTrial("calibrated", narrow.feature_map.n_columns, n_evaluations, width, error)
