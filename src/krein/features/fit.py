"""The whole fit as one function: recipe → placed rows → draw → refit → fitted map."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from krein.features.draw import draw_map, predicted_relative_error
from krein.features.feature_recipe import FeatureRecipe
from krein.features.fitted_map import FittedMap
from krein.features.placed_rows import placed_sample
from krein.features.refitting import refit
from krein.features.region import diameter, region_of

__all__ = ["fit_map"]

_ROUNDING = 1e-9  # relative, by which rows may be farther apart than the radius given


def fit_map(recipe: FeatureRecipe, X: Any, rng: np.random.Generator) -> FittedMap:
    """A feature map for these rows.

    Parameters
    ----------
    recipe : FeatureRecipe
    X : array or CSR matrix of shape (n, dim)
        Finite numbers. About ten thousand rows are looked at, drawn at random.
    rng : numpy.random.Generator

    Returns
    -------
    FittedMap

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
    sample = placed_sample(X, recipe.n_rows, domain, rng, reach=recipe.weights == "projected")
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
    refits = recipe.weights != "unbiased" and sample.holds_out
    if refits and recipe.weights == "projected" and recipe.dictionary == "landmarks":  # which need no measure
        drawn, error = refit(recipe, sample, region, None, wide_rng)
    elif refits:
        narrow = draw_map(recipe, sample, region, recipe.width, draw_rng)
        drawn, error = refit(recipe, sample, region, narrow, wide_rng)
    else:
        drawn = draw_map(recipe, sample, region, recipe.width, draw_rng)
        error = predicted_relative_error(recipe, sample, region, drawn, draw_rng)
    if not math.isfinite(error):
        raise ValueError(
            f"{recipe.kernel!r} or its features are not finite on the rows of X, which are up to {region.radius:.3g} apart; scale "
            "the columns first"
        )
    measure = drawn.measure
    if recipe.sampler.needs_density or recipe.measure.method in ("closed_form", "fourier"):
        measure = measure.tabulated()  # densities hold functions, which no file should
    return FittedMap(drawn.feature_map, region, measure, error)
