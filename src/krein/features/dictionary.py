"""Dictionaries: the columns that ``weights="projected"`` combines, made of a head, waves and sections of the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.clusters import cluster_centers
from krein._core.pivots import Columns, pivoted_rows
from krein._core.rows import row_norms
from krein.features.columns import SectionColumns
from krein.features.draw import Drawn, draw_map
from krein.features.feature_map import FeatureMap
from krein.features.feature_recipe import FeatureRecipe, projection_rows
from krein.features.head import head_basis
from krein.features.placed_rows import PlacedRows
from krein.features.region import Region
from krein.features.sections import compiled_gram
from krein.kernels import Kernel
from krein.measures import Head, SignedMeasure
from krein.sampling import Frequencies

__all__ = ["COMPOSITIONS", "Composition", "draw_dictionary", "landmark_rows"]

_PASSES = 3  # of Lloyd's algorithm: from there on the error changes by a percent or so
_ROWS_PER_LANDMARK = 20  # that it stands for, or among which it is sought; with fewer, pivots miss rare kinds of rows
_LEAST_ROWS_PER_COLUMN = 4  # fewer rows than this, and fewer columns are drawn; but as many as are kept, where possible
_MANY = 400  # landmarks of a smooth kernel: what as many leave unexplained are rare rows, for which no center of a cluster stands
_NEAR = 1e-3  # of the rows' reach: a distance at which it shows whether a kernel is smooth
# A kernel falls over two distances by so many times what it falls by over one: four if smooth, two with a kink
_SMOOTH = 3.0
_SHORTEST = 1e-6  # of a mean of unit vectors, below which it has no direction to speak of


@final
@dataclass(frozen=True)
class Composition:
    """What a dictionary is made of.

    Parameters
    ----------
    share : float
        Of its columns that are sections; the others are waves, a head among them. Sections alone have no head beside them: a
        linear column that is zero but on a rare kind of row has hardly a row to fit its weights.
    columns : int
        For each column that is kept.
    """

    share: float
    columns: int

    def per_column(self, recipe: FeatureRecipe) -> int:
        """Columns drawn for each that is kept, as the recipe has it or by default."""
        return self.columns if recipe.oversampling == "auto" else int(recipe.oversampling)


# The plainest first: a wave costs less than a section. Fewer sections will do, as their spectrum falls with the kernel's.
# A mixture of both gained nothing but on rows like the rest: its linear columns and waves go astray on rare kinds of rows.
COMPOSITIONS = {"waves": Composition(0.0, 4), "landmarks": Composition(1.0, 2)}


def draw_dictionary(
    recipe: FeatureRecipe,
    composition: Composition,
    width: int,
    sample: PlacedRows,
    region: Region,
    pool: np.ndarray,
    rng: np.random.Generator,
) -> Drawn:
    """The columns of a dictionary that is to be compressed to some width."""
    wave_rng, landmark_rng = rng.spawn(2)
    per_column = composition.per_column(recipe)
    n_fit = min(projection_rows(width, per_column), len(pool))
    total = max(min(per_column * width, n_fit // _LEAST_ROWS_PER_COLUMN), width)
    n_sections = min(round(composition.share * total), n_fit)
    sections = None
    if n_sections:
        stood_for = pool[-max(_ROWS_PER_LANDMARK * n_sections, n_fit) :]
        if n_sections >= _MANY and _is_smooth(recipe.kernel, pool):
            pivots = pivoted_rows(_SectionPivots(recipe.kernel, stood_for), n_sections, landmark_rng)
            landmarks = stood_for[np.sort(pivots)]
        else:
            landmarks = landmark_rows(stood_for, n_sections, landmark_rng, sphere=region.sphere)
        sections = SectionColumns(recipe.kernel, landmarks)
    if composition.share == 1.0:
        basis = head_basis(Head(()), sample.dim, sphere=region.sphere, center=region.center, scale=region.scale)
        nothing = Frequencies(np.empty((0, sample.dim)), np.empty(0))
        drawn = Drawn(SignedMeasure(sample.dim), FeatureMap(basis, nothing, basis.weights, np.empty(0)))
    else:
        drawn = draw_map(recipe, sample, region, total - n_sections, wave_rng)
    return replace(drawn, feature_map=replace(drawn.feature_map, padding=0, sections=sections), exact=False)


def landmark_rows(rows: np.ndarray, count: int, rng: np.random.Generator, *, sphere: bool) -> np.ndarray:
    """Points that stand for some rows: centers of clusters, of unit length on the sphere."""
    centers = cluster_centers(rows, count, rng, passes=_PASSES)
    if not sphere:
        return centers
    lengths = row_norms(centers)
    astray = lengths < _SHORTEST  # the mean of opposite rows: any of the rows will do
    centers[astray], lengths[astray] = rows[0], row_norms(rows[:1])
    return np.asarray(centers / lengths[:, None])


def _is_smooth(kernel: Kernel, rows: np.ndarray) -> bool:
    """Whether a kernel falls with the square of small distances."""
    near = _NEAR * float(row_norms(rows - rows.mean(axis=0)).max(initial=0.0))
    at_zero, once, twice = kernel.radial(np.array([0.0, near, 2.0 * near]))
    return bool(abs(twice - at_zero) > _SMOOTH * abs(once - at_zero))


@final
class _SectionPivots(Columns):
    """The kernel matrix of placed rows, of which some columns are computed."""

    def __init__(self, kernel: Kernel, rows: np.ndarray) -> None:
        self.n_rows, self.rows = len(rows), rows
        self._at_zero, self._gram = float(kernel.radial(np.zeros(1))[0]), compiled_gram(kernel, rows)

    def diagonal(self) -> np.ndarray:
        return np.full(self.n_rows, self._at_zero)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self._gram(self.rows[chosen], self.rows[chosen])

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self._gram(self.rows, self.rows[chosen])

    def spare(self, wanted: int) -> float:
        return math.inf
