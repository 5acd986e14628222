"""The smallest map whose error on held-out rows meets a target, by fits whose size doubles.

One decomposition of a dictionary has the errors of all widths at once, see `krein.features.dictionary`. A dictionary that is twice
as wide as the map it gives is wide enough; until then its size is doubled, so that all fits together cost little more than the
last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.checks import integer, one_of, positive_integer, positive_real
from krein.features.calibration import calibrate
from krein.features.dictionary import PILOT_WIDTH, Decomposed, choose_kind, decompose, draw_dictionary, drawn_columns
from krein.features.draw import Drawn, draw_map
from krein.features.feature_recipe import (
    CHECK_ROWS,
    FIT_ROWS,
    LANDMARK_ROWS,
    SEARCH_CHECK_ROWS,
    projection_rows,
)
from krein.features.held_out import estimated_gram, held_out_gram, upper_error
from krein.features.region import FitTask
from krein.measures.signed import head_columns
from krein.show.cards import card, card_table

__all__ = ["WidthTrial", "WidthSearch", "search_width"]
_FIRST_WIDTH = 32
_LAST_WIDTH = {"projected": 1024, "calibrated": 4096}  # a fit of this size takes some seconds
_LEAST_WAVE_COLUMNS = 6  # columns beside a head, from which on waves are worth a try
# Held-out rows that all of them are paired with: an error that few rows make up is known better with more
_CHECK_COLUMNS = 512
_STEPS = 2  # widths tried per octave, for maps that have to be fitted one by one


@final
@dataclass(frozen=True)
class WidthTrial:
    """One fit of a search.

    Parameters
    ----------
    weights : {"calibrated", "projected"}
    n_columns : int
        Columns that were drawn: those of the map, or of the dictionary before its projection.
    n_evaluations : int
        Values of the kernel that the fit computed.
    n_components : int
        The smallest width that meets the target, or the most accurate one if none does.
    error : float
        Relative error at that width on the rows used for the choice, plus twice its standard error.
    """

    weights: str
    n_columns: int
    n_evaluations: int
    n_components: int
    error: float

    def __post_init__(self) -> None:
        one_of(self.weights, "weights", ("calibrated", "projected"))
        for name in ("n_columns", "n_components"):
            positive_integer(getattr(self, name), name)
        integer(self.n_evaluations, "n_evaluations", least=0)
        if not (isinstance(self.error, float) and 0.0 <= self.error < math.inf):
            raise ValueError(f"error must be a finite number, at least 0, got {self.error!r}")


@final
@dataclass(frozen=True)
class WidthSearch:
    """A search for the smallest map that meets a target.

    Parameters
    ----------
    target : float
        Target for the relative error of the kernel matrix.
    trials : tuple of WidthTrial
        At least one, in the order in which they were made.
    chosen : int
        Index of the trial whose map was chosen.
    """

    target: float
    trials: tuple[WidthTrial, ...]
    chosen: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", positive_real(self.target, "target"))
        integer(self.chosen, "chosen", least=0, most=len(self.trials) - 1)

    @property
    def met(self) -> bool:
        """Whether the chosen map meets the target on the rows used for the choice."""
        return self.trials[self.chosen].error <= self.target

    @property
    def n_evaluations(self) -> int:
        """Values of the kernel that the whole search computed."""
        return sum(one.n_evaluations for one in self.trials)

    def _repr_html_(self) -> str:
        header = ("weights", "drawn", "evaluations", "n_components", "error")
        rows = [
            (one.weights, f"{one.n_columns}", f"{one.n_evaluations}", f"{one.n_components}", f"{one.error:.2e}")
            for one in self.trials
        ]
        best = {(self.chosen, j) for j in range(len(header))}
        said = f"Search for an error of {self.target:g}: {'met' if self.met else 'not met'}"
        return card(said, table=card_table(header, rows, best=best))

    def __str__(self) -> str:
        lines = ["weights     drawn  evaluations  n_components     error"]
        for place, one in enumerate(self.trials):
            mark = "  <-" if place == self.chosen else ""
            lines.append(
                f"{one.weights:10} {one.n_columns:6} {one.n_evaluations:12} {one.n_components:13} {one.error:9.2e}{mark}"
            )
        return "\n".join(lines)


Found = tuple[Drawn, WidthTrial]


def search_width(task: FitTask, rng: np.random.Generator) -> tuple[Drawn, WidthSearch]:
    """The smallest map that meets the recipe's error; the most accurate one where none does."""
    recipe, target, found = task.recipe, task.recipe.error, list[Found]()
    plain_rng, wide_rng = rng.spawn(2)
    if recipe.weights != "calibrated":
        found += _projected_maps(task, wide_rng)
    if recipe.weights != "projected":
        least = max(head_columns(1, task.sample.dim, sphere=task.region.sphere) + _LEAST_WAVE_COLUMNS, _FIRST_WIDTH)
        met = 0
        if found:
            best = found[_choice(found, target)][1]
            met = best.n_components if best.error <= target else 0
            least = max(least, best.n_components)
        if not met or met >= least:  # a projection that meets the target costs more than waves with as many columns
            found += _calibrated_maps(task, least, met or _LAST_WIDTH["calibrated"], plain_rng)
    chosen = _choice(found, target)
    return found[chosen][0], WidthSearch(target, tuple(trial for _, trial in found), chosen)


def _choice(found: list[Found], target: float) -> int:
    """The narrowest of those that meet the target, the last of several; the most accurate one where none does."""
    meeting = [place for place, (_, trial) in enumerate(found) if trial.error <= target]
    if meeting:
        return min(reversed(meeting), key=lambda place: found[place][1].n_components)
    return min(range(len(found)), key=lambda place: found[place][1].error)


def _projected_maps(task: FitTask, rng: np.random.Generator) -> Iterator[Found]:
    """Maps from dictionaries of twice the size each, until one is wide enough."""
    recipe = task.recipe
    pilot_rng, rng = rng.spawn(2)
    pool, check_rows, _ = task.sample.split(LANDMARK_ROWS, SEARCH_CHECK_ROWS)
    width = _FIRST_WIDTH
    while True:
        if width <= PILOT_WIDTH:
            kind = choose_kind(task, width, pool, check_rows, pilot_rng)
        rows = pool[-projection_rows(width, drawn_columns(recipe, kind)) :]
        wide = draw_dictionary(task, kind, width, pool, rng)
        (decomposed,) = decompose([wide.feature_map], rows, check_rows, task.gram, _CHECK_COLUMNS)
        best, error = _least_width(decomposed, recipe.error)
        sections = 0 if wide.feature_map.sections is None else wide.feature_map.sections.n_columns
        fitted = len(rows) + sections  # landmarks are fitted to as well
        values = fitted * (fitted + 1) // 2 + (fitted + len(check_rows)) * sections + decomposed.exact.size
        trial = WidthTrial("projected", wide.feature_map.n_columns, values, best, error)
        yield replace(wide, feature_map=decomposed.feature_map(best)), trial
        enough = error <= recipe.error and best <= width
        if enough or 2 * width > min(_LAST_WIDTH["projected"], len(pool)):
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


def _calibrated_maps(task: FitTask, least: int, most: int, rng: np.random.Generator) -> Iterator[Found]:
    """Calibrated maps of rising width, until one meets the target."""
    for step in range(int(_STEPS * math.log2(max(most / least, 1.0))) + 1):
        found = _calibrated(task, round(least * 2 ** (step / _STEPS)), rng)
        yield found
        if found[1].error <= task.recipe.error:
            return


def _calibrated(task: FitTask, width: int, rng: np.random.Generator) -> Found:
    """A calibrated map of some width, compared on the same rows as projected ones."""
    recipe = replace(task.recipe, n_components=width, weights="calibrated")
    narrow = draw_map(recipe, task.sample, task.region, width, rng)
    fit_rows, check_rows, _ = task.sample.split(FIT_ROWS, CHECK_ROWS)
    n_evaluations = len(fit_rows) * width
    if not narrow.exact:
        narrow = replace(narrow, feature_map=calibrate(narrow.feature_map, fit_rows, check_rows, task.gram).feature_map)
    _, check_rows, _ = task.sample.split(FIT_ROWS, SEARCH_CHECK_ROWS)
    exact = held_out_gram(check_rows, task.gram, _CHECK_COLUMNS)
    error = upper_error(exact - estimated_gram(narrow.feature_map, check_rows, exact.shape[1]), exact)
    return narrow, WidthTrial("calibrated", narrow.feature_map.n_columns, n_evaluations, width, error)
