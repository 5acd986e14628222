"""The pipeline from a recipe to a fitted map: what is looked at, how often, and what comes back."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import frozen, unit_vectors
from krein.features import FeatureRecipe, FittedMap, fit_map
from krein.features.draw import _rounded_up
from krein.features.feature_recipe import (
    CHECK_ROWS,
    FIT_ROWS,
    LANDMARK_ROWS,
    LAST_ROWS,
    PROJECTION_CHECK_ROWS,
    SEARCH_CHECK_ROWS,
    WEIGHTS,
    Domain,
)
from krein.features.region import PlacedRows, placed_sample, region_of
from krein.kernels import NTK, DeltaGaussian, Gaussian, Kernel, Sigmoid
from krein.measures import MeasureRecipe, SignedMeasure
from krein.sampling import Orthogonal

DIM = 5
ROWS = frozen(np.random.default_rng(0).standard_normal((600, DIM)))
SPACE, SPHERE, GIVEN = Domain(False, False), Domain(True, True), Domain(True, False)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestRecipe:
    def test_defaults(self):
        recipe = FeatureRecipe(NTK())
        assert recipe == FeatureRecipe(
            NTK(), 512, "calibrated", Orthogonal(), MeasureRecipe(), "auto", "auto", "auto", "auto"
        )
        assert recipe.given_radius is None
        assert FeatureRecipe(NTK(), radius=np.float32(2.0)).given_radius == 2.0

    @pytest.mark.parametrize(
        ("kernel", "normalize", "domain"),
        [
            (NTK(), "auto", SPHERE),
            (NTK(normalize=False), "auto", GIVEN),
            (NTK(), False, GIVEN),
            (Gaussian(1.0), "auto", SPACE),
            (Gaussian(1.0), False, SPACE),
            (Gaussian(1.0), np.True_, SPHERE),
            (DeltaGaussian(1.0, 3.0) + NTK(), "auto", SPHERE),
        ],
    )
    def test_domain(self, kernel, normalize, domain):
        assert FeatureRecipe(kernel, normalize=normalize).domain == domain

    def test_rows_looked_at(self):
        assert FeatureRecipe(NTK()).n_rows == FIT_ROWS + CHECK_ROWS + LAST_ROWS
        held_out = PROJECTION_CHECK_ROWS + LAST_ROWS
        for width, rows in ((8, 1024), (100, 4000), (5000, LANDMARK_ROWS)):
            assert FeatureRecipe(NTK(), width, weights="projected").n_rows == rows + held_out
        assert FeatureRecipe(NTK(), "auto").n_rows == LANDMARK_ROWS + SEARCH_CHECK_ROWS + LAST_ROWS

    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"kernel": "ntk"}, TypeError),
            ({"n_components": 0}, ValueError),
            ({"n_components": 1.5}, TypeError),
            ({"weights": "best"}, ValueError),
            ({"sampler": "sobol"}, ValueError),
            ({"measure": "best"}, ValueError),
            ({"radius": -1.0}, ValueError),
            ({"radius": "large"}, ValueError),
            ({"normalize": 1}, TypeError),
            ({"normalize": "yes"}, ValueError),
            ({"oversampling": 0}, ValueError),
            ({"oversampling": "much"}, ValueError),
            ({"oversampling": 1.5}, TypeError),
            ({"dictionary": "thesaurus"}, ValueError),
            ({"n_components": "many"}, ValueError),
            ({"error": -1.0}, ValueError),
            ({"error": "small"}, TypeError),
        ],
    )
    def test_is_checked_when_it_is_made(self, wrong, error):
        """Before any row is looked at."""
        with pytest.raises(error, match=f"{next(iter(wrong))} must be"):
            FeatureRecipe(**{"kernel": NTK()} | wrong)


class TestPlacedRows:
    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array])
    def test_a_sample_in_random_order(self, kind):
        sample = placed_sample(kind(ROWS), 200, SPACE, generator())
        assert sample.rows.shape == (200, DIM)
        assert sample.rows.dtype == np.float64
        places = [int(np.flatnonzero((row == ROWS).all(axis=1))[0]) for row in sample.rows]
        assert len(set(places)) == 200
        assert places != sorted(places)
        np.testing.assert_array_equal(sample.rows, placed_sample(ROWS, 200, SPACE, generator()).rows)

    def test_all_rows_if_there_are_no_more(self):
        sample = placed_sample(ROWS, 5000, SPACE, generator())
        np.testing.assert_array_equal(np.sort(sample.rows, axis=0), np.sort(ROWS, axis=0))

    def test_float32_rows_are_placed_in_float64(self):
        """Lengths are 1 to the last digit, so that the kernel need not be asked to place them again."""
        sample = placed_sample(ROWS.astype(np.float32), 600, SPHERE, generator())
        np.testing.assert_allclose(np.linalg.norm(sample.rows, axis=1), 1.0, rtol=1e-15)

    def test_the_row_of_x_is_named(self):
        X = np.tile(ROWS, (20, 1))
        X[9000:] = 0.0
        with pytest.raises(ValueError, match=r"row (9|1[01])\d\d\d of X is zero") as caught:
            placed_sample(X, 500, SPHERE, generator())
        assert int(str(caught.value).split()[1]) >= 9000
        X[9000:] = 3.0
        X[:9000] /= np.linalg.norm(X[:9000], axis=1, keepdims=True)
        with pytest.raises(
            ValueError, match=r"row .* of the sparse matrix X has length 6.7.*normalize=False"
        ) as caught:
            placed_sample(sp.csr_matrix(X), 500, GIVEN, generator())
        assert int(str(caught.value).split()[1]) >= 9000

    @pytest.mark.parametrize(("m", "held_out"), [(23, 0), (24, 4), (600, 100), (6000, 256)])
    def test_split(self, m, held_out):
        sample = PlacedRows(generator().standard_normal((m, 2)))
        fit, check, last = sample.split(1000, 256)
        assert sample.holds_out == (held_out > 0)
        assert len(check) == held_out
        assert len(last) == min(m // 6 if held_out else 0, 512)
        assert len(fit) == min(m - len(check) - len(last), 1000)
        together = np.concatenate([fit, check, last])
        assert len(np.unique(together, axis=0)) == len(together)

    def test_far_rows_go_where_projections_are_fitted(self):
        X = np.concatenate([ROWS, [[100.0] * DIM, [90.0] * DIM]])
        fit, check, last = placed_sample(X, 5000, SPACE, generator(), reach=True).split(5000, 256)
        assert fit.max() == 100.0
        everything = np.sort(np.concatenate([fit, check, last]), axis=0)
        np.testing.assert_array_equal(everything, np.sort(X, axis=0))

    @pytest.mark.parametrize("seed", range(3))
    def test_rows_equally_far_out_keep_their_order(self, seed):
        """Corners of a cube: their distances from the center differ in the last digits only."""
        cube = np.array(np.meshgrid(*[[-1.0, 1.0]] * 6)).reshape(6, -1).T
        noise = 1 + 1e-14 * generator(seed).standard_normal((64, 1))
        first = placed_sample(cube, 64, SPACE, generator(), reach=True).rows
        second = placed_sample(cube * noise, 64, SPACE, generator(), reach=True).rows
        np.testing.assert_allclose(first, second, atol=1e-12)

    def test_distances(self):
        sample = placed_sample(ROWS, 600, SPACE, generator())
        z = sample.distances(10.0, generator())
        assert z[0] == 0.0
        exact = np.linalg.norm(ROWS[:, None] - ROWS, axis=2)
        # 4,000 pairs: the median of the distances is known to a few percent of their spread
        assert np.median(z) == pytest.approx(np.median(exact[np.triu_indices(600, 1)]), rel=0.05)
        assert PlacedRows(ROWS[:1]).distances(3.0, generator()).max() == 3.0


class OncePlaced(Kernel):
    """A kernel that may not place or check rows: below the door nothing does."""

    domain = "sphere"
    scales_rows = True

    def radial(self, z):
        return Sigmoid(1.0, -0.5).radial(z)

    def place(self, X, name="X"):
        raise AssertionError("rows are placed once, by the pipeline")

    def __call__(self, X, Y=None):
        raise AssertionError("the pipeline works on placed rows")

    def __repr__(self):
        return "OncePlaced()"


class TestFit:
    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_rows_are_placed_once(self, weights):
        fitted = fit_map(FeatureRecipe(OncePlaced(), 40, weights), ROWS, generator())
        Z = fitted(ROWS)
        exact = Sigmoid(1.0, -0.5)(ROWS)
        assert np.linalg.norm((Z * fitted.signature) @ Z.T - exact) < 0.3 * np.linalg.norm(exact)

    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK()], ids=str)
    def test_what_comes_back(self, kernel, weights):
        fitted = fit_map(FeatureRecipe(kernel, 64, weights), ROWS, generator())
        assert isinstance(fitted, FittedMap)
        assert fitted.signature.shape == (64,)
        assert len(fitted.names()) == len(set(fitted.names())) == 64
        assert 0.0 < fitted.error_estimate < 1.0
        assert fitted.measure.dim == fitted.region.dim == fitted.feature_map.dim == DIM
        X = unit_vectors(generator(1), 30, DIM)
        assert fitted(X).shape == (30, 64)
        assert fitted(X.astype(np.float32)).dtype == np.float32

    def test_the_same_draws_give_the_same_map(self):
        first, second, third = (fit_map(FeatureRecipe(NTK(), 40), ROWS, generator(seed)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first(ROWS), second(ROWS))
        assert not np.array_equal(first(ROWS), third(ROWS))

    @pytest.mark.parametrize("weights", WEIGHTS)
    def test_densities_are_not_kept(self, weights):
        recipe = FeatureRecipe(DeltaGaussian(1.0, 3.0), 40, weights, measure=MeasureRecipe("closed_form"))
        assert "Atoms" in type(fit_map(recipe, ROWS, generator()).measure.positive).__name__

    def test_rows_that_are_too_large_are_refused_in_words(self):
        with pytest.raises(ValueError, match="too far apart"):
            fit_map(FeatureRecipe(Gaussian(1.0), 40), 1e200 * ROWS, generator())


class TestFittedMap:
    FITTED = fit_map(FeatureRecipe(DeltaGaussian(1.0, 3.0), 40), ROWS, generator())

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"measure": SignedMeasure(DIM + 1)}, r"same dimension, got \(5, 5, 6\)"),
            (
                {"region": region_of(np.eye(3), sphere=False, normalize=False, radius=None)},
                r"same dimension, got \(5, 3, 5\)",
            ),
            ({"region": region_of(np.eye(DIM), sphere=True, normalize=True, radius=None)}, "unit vectors"),
            ({"error_estimate": -1.0}, "error_estimate must be"),
            ({"error_estimate": math.nan}, "error_estimate must be"),
            ({"error_estimate": "small"}, "error_estimate must be"),
        ],
    )
    def test_parts_must_fit_each_other(self, change, message):
        with pytest.raises((TypeError, ValueError), match=message):
            replace(self.FITTED, **change)

    def test_rank(self):
        assert self.FITTED.rank == np.count_nonzero(np.abs(self.FITTED(ROWS)).max(axis=0))


@pytest.mark.parametrize("step", [-17, 0, 5, 16])
def test_radii_on_the_grid_stay_there(step):
    """The last digit of a radius does not decide which measure is asked for."""
    exact = 2.0 ** (step / 16)
    for radius in (exact * (1 - 1e-14), exact, exact * (1 + 1e-14)):
        assert _rounded_up(radius) == exact
    assert _rounded_up(exact * 1.001) == 2.0 ** ((step + 1) / 16)


def test_a_radius_whose_square_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match=r"radius must be at most 1e\+150"):
        FeatureRecipe(NTK(), radius=1e308)
