"""From placed rows to a map with unbiased weights: a measure for the width, then frequencies drawn from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from krein.features.feature_map import FeatureMap
from krein.features.feature_recipe import FeatureRecipe
from krein.features.head import head_basis
from krein.features.region import PlacedRows, Region
from krein.measures import Outlook, SignedMeasure, frequencies_for_width, signed_measure
from krein.measures.search.least_mass import measure_to_refit

__all__ = ["Drawn", "draw_map", "predicted_relative_error"]

_RADII_PER_OCTAVE = 16  # to which radii are rounded, so that samples of the same data ask for the same measure
_SAME_RADIUS = 1e-6  # of such a step: a radius that is on the grid but for rounding is on the grid


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """A measure and a map drawn from it.

    Parameters
    ----------
    measure : SignedMeasure
    feature_map : FeatureMap
    exact : bool
        The head is all of the kernel, so that no weight needs refitting.
    """

    measure: SignedMeasure
    feature_map: FeatureMap
    exact: bool = False


def draw_map(recipe: FeatureRecipe, sample: PlacedRows, region: Region, width: int, rng: np.random.Generator) -> Drawn:
    """A measure for this width, and a map of that many columns with unbiased weights.

    Columns that a kernel which is its own head leaves over are zero.
    """
    measure, exact = _measure(recipe, sample, region, width, rng)
    count = frequencies_for_width(measure, width) if measure.mass > 0.0 else 0
    frequencies = recipe.sampler.sample(measure, count, rng, rows=sample.rows)
    basis = head_basis(measure.head, sample.dim, sphere=region.sphere, center=region.center, scale=region.scale)
    padding = width - basis.n_columns - 2 * count
    return Drawn(measure, FeatureMap(basis, frequencies, basis.weights, frequencies.weights, padding), exact)


def predicted_relative_error(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, drawn: Drawn, rng: np.random.Generator
) -> float:
    """Relative error of the kernel matrix that theory predicts for unbiased weights."""
    distances = sample.distances(region.radius, rng)
    outlook = Outlook.of(
        recipe.kernel.radial,
        region.radius,
        distances,
        orthogonal=recipe.sampler.orthogonal,
        allocation=recipe.sampler.allocation,
    )
    size = float(np.mean(outlook.exact**2)) or 1.0
    return math.sqrt(outlook.error(drawn.measure, len(drawn.feature_map.frequencies)) / size)


def _measure(
    recipe: FeatureRecipe, sample: PlacedRows, region: Region, width: int, rng: np.random.Generator
) -> tuple[SignedMeasure, bool]:
    """The measure, and whether its head is all of the kernel."""
    kernel, sampler, asked = recipe.kernel, recipe.sampler, recipe.measure
    closed = all(part.radius_law(sample.dim) is not None for _, part in kernel.terms())
    method, truncate = asked.method, asked.truncate
    if sampler.needs_density and method == "auto":
        method = "closed_form" if closed else "fourier"
    if sampler.needs_density and method == "fourier" and truncate is None:
        truncate = sampler.cut
    if method in ("closed_form", "fourier"):
        radius = None if closed or kernel.domain == "sphere" else region.radius
        given = signed_measure(
            *(kernel, sample.dim, radius, method, asked.head_degree, asked.tol),
            truncate=truncate,
            sphere=region.sphere,
        )
        return given, False
    if recipe.weights != "unbiased" and sample.holds_out and asked.tol == "auto":
        fixed = region.sphere or recipe.given_radius is not None
        radius = region.radius if fixed else _rounded_up(region.radius)
        found = measure_to_refit(kernel, sample.dim, radius, width, asked.head_degree, sphere=region.sphere)
        if found is not None:
            return found.measure, found.exact
    measure = signed_measure(
        *(kernel, sample.dim, region.radius, "least_mass", asked.head_degree, asked.tol),
        n_components=width,
        sphere=region.sphere,
        distances=sample.distances(region.radius, rng),
        orthogonal=sampler.orthogonal,
        allocation=sampler.allocation,
    )
    return measure, False


def _rounded_up(radius: float) -> float:
    """The next of sixteen radii per octave."""
    step = math.ceil(_RADII_PER_OCTAVE * math.log2(radius) - _SAME_RADIUS)
    return float(2.0 ** (step / _RADII_PER_OCTAVE))
