"""Dictionaries of head, waves and sections: what is in them, what they reach, and that rows of any kind go through them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import frozen, unit_vectors
from krein.features import FeatureMap, FeatureRecipe, fit_map
from krein.features.dictionary import DRAWN_COLUMNS, decompose, draw_dictionary, landmark_rows
from krein.features.feature_map import SectionColumns
from krein.features.head import head_basis
from krein.features.region import FitTask, PlacedRows, placed_sample, region_of
from krein.kernels import NTK, DeltaGaussian, Laplacian, Multiquadric, SphericalPolynomial
from krein.measures import Head
from krein.sampling import Frequencies

DIM = 5
ROWS = frozen(np.random.default_rng(0).standard_normal((900, DIM)))
NEW = frozen(np.random.default_rng(1).standard_normal((200, DIM)))
KERNELS = [DeltaGaussian(1.0, 4.0), NTK(), Multiquadric(1.0)]


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def fitted(kernel, width=40, **options):
    return fit_map(FeatureRecipe(kernel, width, "projected", **options), ROWS, generator())


def error(map_, kernel, X=NEW) -> float:
    Z, K = map_(np.asarray(X)), kernel(X)
    return float(np.linalg.norm((Z * map_.signature) @ Z.T - K) / np.linalg.norm(K))


class TestSections:
    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_columns_are_the_kernel(self, kernel):
        X, landmarks = kernel.place(ROWS[:50]), kernel.place(NEW[:7])
        sections = SectionColumns(kernel, landmarks)
        out = np.empty((50, 7))
        sections.write(X, out)
        np.testing.assert_allclose(out, kernel(X, landmarks), rtol=1e-12, atol=1e-12)
        assert sections.names() == [f"section{j}" for j in range(7)]
        np.testing.assert_array_equal(sections.column_weights, 1.0)

    @pytest.mark.parametrize(
        ("kernel", "landmarks", "error", "message"),
        [
            (DeltaGaussian(), ROWS[0], ValueError, "landmarks must have shape"),
            (DeltaGaussian(), np.empty((0, 3)), ValueError, "landmarks must be rows, at least one"),
            (DeltaGaussian(), [[np.nan]], ValueError, "landmarks must be finite"),
            (NTK(), ROWS[:3], ValueError, "row 0 of landmarks has length"),
        ],
    )
    def test_refused(self, kernel, landmarks, error, message):
        with pytest.raises(error, match=message):
            SectionColumns(kernel, landmarks)

    def test_a_map_refuses_sections_of_other_rows(self):
        map_ = fitted(DeltaGaussian(1.0, 4.0), dictionary="landmarks").feature_map
        parts = (map_.basis, map_.frequencies, map_.head_weights, map_.wave_weights)
        with pytest.raises(ValueError, match="landmarks must have as many entries"):
            FeatureMap(*parts, sections=SectionColumns(DeltaGaussian(), ROWS[:4, :3]))


class TestDraw:
    @pytest.mark.parametrize("kind", DRAWN_COLUMNS)
    @pytest.mark.parametrize("over", ["auto", 1, 3])
    def test_kinds(self, kind, over):
        recipe = FeatureRecipe(NTK(), 40, "projected", oversampling=over)
        sample = placed_sample(ROWS, 900, recipe.domain, generator())
        region = region_of(sample.rows, sphere=True, normalize=True, radius=None)
        drawn = draw_dictionary(FitTask(recipe, sample, region, NTK().gram), kind, 40, sample.rows, generator())
        total = 40 * (DRAWN_COLUMNS[kind] if over == "auto" else over)
        map_, sections = drawn.feature_map, total * (kind == "landmarks")
        assert (map_.sections is None) == (sections == 0)
        assert sections == 0 or map_.sections.n_columns == sections
        if kind == "landmarks":
            assert map_.basis.n_columns == 0
            assert drawn.measure.mass == 0.0
        else:
            assert map_.n_columns - sections in (total - sections, total - sections - 1)

    def test_landmarks_stand_for_more_rows_than_are_fitted_to(self, monkeypatch):
        """The rows of one kind are none of those that fit the weights."""
        monkeypatch.setattr("krein.features.dictionary.projection_rows", lambda width, per_column: 100)
        recipe, rows = FeatureRecipe(DeltaGaussian(1.0, 4.0), 8, "projected"), ROWS[:600].copy()
        rows[:300, 0] += 20.0
        sample = PlacedRows(rows)
        region = region_of(rows, sphere=False, normalize=False, radius=None)
        task = FitTask(recipe, sample, region, recipe.kernel.gram)
        drawn = draw_dictionary(task, "landmarks", 8, rows, generator())
        assert np.count_nonzero(drawn.feature_map.sections.landmarks[:, 0] > 10.0) > 0

    def test_a_rare_kind_of_row(self):
        """It has a landmark and no other row among those that fit: neither dropped nor amplified."""
        kernel, rare = DeltaGaussian(4.0, 16.0), np.array([1.0, 1.0, -1.0, 0.0, 0.0])
        fit = ROWS[:800] * [1.0, 0.0, 1.0, 1.0, 1.0]  # one column is set in rows of the rare kind only
        landmarks = np.concatenate([fit[:60], [rare]])
        basis = head_basis(Head(()), DIM, sphere=False)
        waves = Frequencies(np.empty((0, DIM)), np.empty(0))
        wide = FeatureMap(basis, waves, basis.weights, np.empty(0), sections=SectionColumns(kernel, landmarks))
        chosen = decompose([wide], fit[:-200], fit[-200:], kernel.gram)[0].feature_map(50)
        X = np.concatenate([fit[-200:], [rare + 0.05]])
        Z, K = np.empty((201, 50)), kernel(X)
        chosen.write(X, Z)
        errors = np.linalg.norm((Z * chosen.signature) @ Z.T - K, axis=1) / np.linalg.norm(K, axis=1)
        assert errors[-1] < 5 * errors.max(where=np.arange(201) < 200, initial=0.0)

    def test_few_rows_have_few_landmarks(self):
        map_ = fit_map(FeatureRecipe(NTK(), 100, "projected", dictionary="landmarks"), ROWS[:60], generator())
        assert map_.feature_map.sections.n_columns <= 60
        assert map_(NEW).shape == (200, 100)
        assert error(map_, NTK()) < 0.2

    def test_landmarks_lie_among_the_rows(self):
        X = unit_vectors(generator(), 300, 3)
        np.testing.assert_allclose(np.linalg.norm(landmark_rows(X, 20, generator(), sphere=True), axis=1), 1.0)
        free = landmark_rows(ROWS, 20, generator(), sphere=False)
        assert (free >= ROWS.min(axis=0)).all()
        assert (free <= ROWS.max(axis=0)).all()

    def test_opposite_rows_have_no_mean_direction(self):
        X = np.array([[1.0, 0.0], [-1.0, 0.0]] * 4)
        np.testing.assert_allclose(np.linalg.norm(landmark_rows(X, 1, generator(), sphere=True), axis=1), 1.0)


class TestFit:
    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_auto_is_as_good_as_either(self, kernel):
        """Errors on new rows scatter by some ten percent between draws; a wrong choice costs a factor of two or more."""
        errors = {name: error(fitted(kernel, dictionary=name), kernel) for name in ("auto", "waves", "landmarks")}
        assert errors["auto"] <= 1.5 * min(errors["waves"], errors["landmarks"])

    def test_sections_are_ahead_of_waves_for_a_smooth_kernel(self):
        kernel = DeltaGaussian(2.0, 8.0)
        waves, sections = (fitted(kernel, 60, dictionary=name) for name in ("waves", "landmarks"))
        assert error(sections, kernel) < 0.5 * error(waves, kernel)

    def test_what_is_exact_stays_exact(self):
        kernel = SphericalPolynomial(2.0, 2)  # 1 + 5 + 15 columns are all of it, less one on the sphere
        for name in ("auto", "landmarks"):
            assert error(fitted(kernel, 30, dictionary=name), kernel) < 1e-6

    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_the_estimate_is_honest(self, kernel):
        map_ = fitted(kernel, dictionary="landmarks")
        assert error(map_, kernel) == pytest.approx(map_.error_estimate, rel=0.6)

    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_rows_of_any_kind(self, kernel):
        map_ = fitted(kernel, dictionary="landmarks")
        Z = map_(np.asarray(NEW))
        np.testing.assert_allclose(map_(sp.csr_array(NEW)), Z, atol=1e-9 * np.abs(Z).max())
        single = map_(NEW.astype(np.float32))
        assert single.dtype == np.float32
        estimate = (single.astype(float) * map_.signature) @ single.T.astype(float)
        np.testing.assert_allclose(estimate, (Z * map_.signature) @ Z.T, atol=2e-5 * np.abs(Z).max() ** 2)

    def test_the_rows_around_a_row_do_not_matter(self):
        map_ = fitted(NTK(), dictionary="landmarks")
        np.testing.assert_allclose(map_(NEW[50:60]), map_(np.asarray(NEW))[50:60], rtol=0, atol=1e-9)

    def test_the_same_draws_give_the_same_map(self):
        first, second = (fitted(NTK(), dictionary="landmarks") for _ in range(2))
        np.testing.assert_array_equal(first(np.asarray(NEW)), second(np.asarray(NEW)))


@pytest.mark.parametrize(("kernel", "pivoted"), [(DeltaGaussian(1.0, 10.0), True), (Laplacian(1.0), False)], ids=str)
def test_many_landmarks_of_a_smooth_kernel_are_rows_among_them_rare_ones(monkeypatch, kernel, pivoted):
    """Centers of clusters are no rows; a kernel with a kink is explained no better by rows."""
    monkeypatch.setattr("krein.features.dictionary._MANY", 20)
    X = np.random.default_rng(0).normal(size=(400, 5)) / 5.0
    X[:3] += 2.0
    recipe = FeatureRecipe(kernel, 24, weights="projected", dictionary="landmarks", oversampling=1)
    landmarks = fit_map(recipe, X, np.random.default_rng(0)).feature_map.sections.landmarks
    gaps = np.linalg.norm(landmarks[:, None] - X, axis=2).min(axis=1)
    assert (gaps == 0.0).all() == pivoted
    assert np.linalg.norm(landmarks, axis=1).max() > 2.0
