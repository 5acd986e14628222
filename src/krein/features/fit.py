"""The whole fit as one function: recipe → placed rows → draw → refit → fitted map."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from krein._core.rows import check_magnitude
from krein._core.threads import quiet_blas
from krein.features.calibration import GOOD_ENOUGH, calibrate
from krein.features.dictionary import choose_kind, decompose, draw_dictionary, drawn_columns
from krein.features.draw import Drawn, draw_map, predicted_relative_error
from krein.features.feature_map import FeatureMap
from krein.features.feature_recipe import (
    CHECK_ROWS,
    FIT_ROWS,
    LANDMARK_ROWS,
    PROJECTION_CHECK_ROWS,
    PROJECTION_ROWS,
    SEARCH_CHECK_ROWS,
    FeatureRecipe,
    projection_rows,
)
from krein.features.fitted_map import FittedMap
from krein.features.head import head_basis
from krein.features.held_out import first_nearly_best, held_out_gram, relative_error
from krein.features.region import FitTask, Region, diameter, placed_sample, region_of
from krein.features.sections import compiled_gram
from krein.features.width_search import WidthSearch, search_width
from krein.kernels import Kernel
from krein.measures import frequencies_for_width, signed_measure
from krein.measures.build import check_kernel
from krein.sampling import Orthogonal

__all__ = ["draw_waves", "fit_map", "project_dictionary", "refit"]
_ROUNDING = 1e-9  # relative, by which rows may be farther apart than the radius given


def refit(task: FitTask, narrow: Drawn | None, rng: np.random.Generator) -> tuple[Drawn, float]:
    """The map with the least error on held-out rows, among unbiased, calibrated and projected; and its error on other rows.

    A map that is exact stays as it is. Near-equal errors keep the plainer map, see `krein.features.held_out`.
    """
    sample, gram, projects = task.sample, task.gram, task.recipe.weights == "projected"
    if narrow is not None and not narrow.exact:
        fit_rows, check_rows, _ = sample.split(FIT_ROWS, CHECK_ROWS)
        narrow = replace(narrow, feature_map=calibrate(narrow.feature_map, fit_rows, check_rows, gram).feature_map)
    candidates = [] if narrow is None else [narrow]
    _, check_rows, last_rows = sample.split(PROJECTION_ROWS, PROJECTION_CHECK_ROWS if projects else CHECK_ROWS)
    if projects:
        errors = [relative_error(one.feature_map, check_rows, held_out_gram(check_rows, gram)) for one in candidates]
        if not errors or errors[0] > GOOD_ENOUGH:
            projected, error = project_dictionary(task, rng)
            candidates, errors = [*candidates, projected], [*errors, error]
        candidates = [candidates[first_nearly_best(errors)]]
    (chosen,) = candidates
    return chosen, relative_error(chosen.feature_map, last_rows, held_out_gram(last_rows, gram))


def project_dictionary(task: FitTask, rng: np.random.Generator) -> tuple[Drawn, float]:
    """The best map that a dictionary of the recipe's kind has, and its error on the rows that chose it.

    Where the recipe leaves the kind open, small fits of all kinds choose it.
    """
    pilot_rng, wide_rng = rng.spawn(2)
    pool, check_rows, _ = task.sample.split(LANDMARK_ROWS, PROJECTION_CHECK_ROWS)
    width = task.recipe.width
    kind = choose_kind(task, width, pool, check_rows, pilot_rng)
    wide = draw_dictionary(task, kind, width, pool, wide_rng)
    fit_rows = pool[-projection_rows(width, drawn_columns(task.recipe, kind)) :]  # the farthest are last
    (found,) = decompose([wide.feature_map], fit_rows, check_rows, task.gram)
    return replace(wide, feature_map=found.feature_map(width)), found.error(width)


def fit_map(recipe: FeatureRecipe, X: Any, rng: np.random.Generator) -> FittedMap:
    """A feature map for these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features import FeatureRecipe, fit_map
    >>> from krein.kernels import DeltaGaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> fitted = fit_map(FeatureRecipe(DeltaGaussian(1.0, 3.0), 128), X, rng)
    >>> Z = fitted(X)
    >>> K = DeltaGaussian(1.0, 3.0)(X)
    >>> bool(np.linalg.norm((Z * fitted.signature) @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """
    domain, radius = recipe.domain, recipe.given_radius
    sample = placed_sample(X, recipe.n_rows, domain, rng, reach=recipe.weights == "projected" and not recipe.searches)
    region = region_of(sample.rows, sphere=domain.sphere, normalize=domain.scales, radius=radius)
    farthest = 0.0 if radius is None else diameter(sample.rows)
    if radius is not None and farthest > radius * (1 + _ROUNDING):
        warnings.warn(
            f"training rows are up to {farthest:.4g} apart, farther than radius={radius:.4g}: the features are less accurate "
            "there; use a larger radius, or radius='auto'",
            UserWarning,
            stacklevel=6,  # the caller of an estimator's fit, which `quiet_blas` wraps
        )
    draw_rng, wide_rng = rng.spawn(2)
    drawn, error, search = _drawn(
        FitTask(recipe, sample, region, compiled_gram(recipe.kernel, sample.rows)), draw_rng, wide_rng
    )
    if search is not None and not search.met:
        trial = search.trials[search.chosen]
        warnings.warn(
            f"error={search.target:.3g} is out of reach for {recipe.kernel!r} on these rows: the best map found has "
            f"{trial.n_components} columns and an error of {trial.error:.2g}; use a larger error, or set n_components",
            UserWarning,
            stacklevel=6,
        )
    if not math.isfinite(error):
        raise ValueError(
            f"{recipe.kernel!r} or its features are not finite on the rows of X, which are up to {region.radius:.3g} apart; scale "
            "the columns first"
        )
    if drawn.feature_map.basis.degree > 0 and not domain.sphere:
        check_magnitude(X)  # products of entries are made in the type of the rows
    measure = drawn.measure
    if recipe.sampler.needs_density or recipe.measure.method in ("closed_form", "fourier"):
        measure = measure.tabulated()  # densities hold functions, which no file should
    return FittedMap(drawn.feature_map, region, measure, error, search)


def _drawn(
    task: FitTask, draw_rng: np.random.Generator, wide_rng: np.random.Generator
) -> tuple[Drawn, float, WidthSearch | None]:
    """The map, its error, and what a search for its width tried."""
    recipe, sample, region = task.recipe, task.sample, task.region
    if recipe.searches:
        if not sample.holds_out:
            raise ValueError(
                f"n_components='auto' needs at least 24 rows, some of them to hold out, got {len(sample.rows)}; set a number of "
                "columns"
            )
        drawn, search = search_width(task, wide_rng)
        _, _, last_rows = sample.split(LANDMARK_ROWS, SEARCH_CHECK_ROWS)
        return drawn, relative_error(drawn.feature_map, last_rows, held_out_gram(last_rows, task.gram)), search
    if recipe.weights == "unbiased" or not sample.holds_out:
        drawn = draw_map(recipe, sample, region, recipe.width, draw_rng)
        return drawn, predicted_relative_error(recipe, sample, region, drawn, draw_rng), None
    sections_only = recipe.weights == "projected" and recipe.dictionary == "landmarks"  # which need no measure
    narrow = None if sections_only else draw_map(recipe, sample, region, recipe.width, draw_rng)
    return *refit(task, narrow, wide_rng), None


@quiet_blas()
def draw_waves(kernel: Kernel, n_features: int, n_components: int, rng: np.random.Generator) -> FittedMap:
    r"""Cosines and sines of a kernel whose spectrum has a closed form, unbiased at all distances; no row is looked at.

    .. math:: k(x, x') = E \sum_c \sigma_c\,\phi_c(x)\,\phi_c(x')

    The cheapest map there is: no linear program, no calibration, no held-out rows. Drawing takes milliseconds, and rows of any
    length take a product with the frequencies, a cosine and a sine.

    Parameters
    ----------
    kernel : Kernel
        Gaussian, Laplacian, Matern, Cauchy, DeltaGaussian, or a signed sum of such kernels.
    n_features : int
        Columns of the rows.
    n_components : int
        Output columns, two for each frequency; of an odd number the last is zero.
    rng : numpy.random.Generator

    Returns
    -------
    FittedMap
        Its ``error_estimate`` is the standard deviation of :math:`\tilde k(x, x')` for independent frequencies and rows far from
        each other, as a part of k(0); the directions are orthogonal in blocks, which has less.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.features import draw_waves
    >>> from krein.kernels import Matern
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5)).astype(np.float32)
    >>> waves = draw_waves(Matern(2.0, nu=1.5), 5, 1024, rng)
    >>> Z = waves(X)
    >>> Z.dtype, bool(np.abs(Z @ Z.T - Matern(2.0, nu=1.5)(X)).max() < 0.2)
    (dtype('float32'), True)
    """
    measure = signed_measure(check_kernel(kernel), n_features, method="closed_form")
    count = frequencies_for_width(measure, n_components)
    frequencies = Orthogonal().sample(measure, count, rng)
    basis = head_basis(measure.head, measure.dim, sphere=False)
    drawn = FeatureMap(basis, frequencies, basis.weights, frequencies.weights, n_components - 2 * count)
    error = measure.mass / math.sqrt(2 * count) / (abs(float(kernel.radial(np.zeros(1))[0])) or 1.0)
    return FittedMap(drawn, Region.everywhere(measure.dim), measure.tabulated(), error)
