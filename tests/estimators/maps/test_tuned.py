"""TunedFeatures: what is chosen, and that it travels with the map."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.estimators.learners.ridge import KreinRidge
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.tuned import TunedFeatures
from krein.features import FittedMap
from krein.kernels import DeltaGaussian, Gaussian, Laplacian
from krein.nystroem import FittedNystroem
from standin_map import CosineMap

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(150, 3)) * [1.0, 100.0, 0.01]
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] / 50.0
LABELS = np.where(Y > 0.2, "high", "low")


@parametrize_with_checks([TunedFeatures(), TunedFeatures(None, features=CosineMap())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
def test_without_a_choice_it_is_the_map_of_scaled_rows(scaling):
    rows = X + 5.0
    rows[:, 2] = 7.0
    model = TunedFeatures(None, scaling=scaling, features=CosineMap()).fit(rows)
    low, width = {
        "standard": (rows.mean(axis=0), rows.std(axis=0)),
        "minmax": (rows.min(axis=0), np.ptp(rows, axis=0)),
        "none": (np.zeros(3), np.ones(3)),
    }[scaling]
    if scaling != "none":
        width[2] = np.inf
    scaled = (rows - low) / width
    np.testing.assert_allclose(model.transform(rows), CosineMap().fit(scaled).transform(scaled), atol=1e-9)
    assert len(model.scores_) == 0


@pytest.mark.parametrize("targets", [Y, np.c_[Y, 1e4 * X[:, 1]], LABELS, (Y > 0.2).astype(int)])
def test_a_linear_model_learns_from_its_features(targets):
    if targets.dtype.kind == "f":
        pipeline = make_pipeline(TunedFeatures(random_state=0), RidgeCV(np.geomspace(1e-6, 1.0, 7)))
    else:
        pipeline = make_pipeline(TunedFeatures(random_state=0), LogisticRegression(C=100.0, max_iter=1000))
    assert pipeline.fit(X[:100], targets[:100]).score(X[100:], targets[100:]) > 0.7
    assert pipeline[0].scores_[0].chosen


def test_the_choice_is_that_of_the_learner():
    features = TunedFeatures(n_components=60, random_state=0).fit(X, Y)
    model = KreinRidge(solver="features", random_state=0).fit(X, Y)
    assert model.choice_.kernel == features.kernel_
    assert repr(model.choice_.trials) == repr(features.scores_)


def test_its_kernel_is_that_of_placed_rows():
    features = TunedFeatures(random_state=0).fit(X, Y)
    placed = features.placement_(X)
    exact = features.kernel_(placed)
    error = np.linalg.norm(features.approximate(X) - exact) / np.linalg.norm(exact)
    np.testing.assert_allclose(features.error_estimate_, error, rtol=1e-6, atol=1e-12)
    assert error < 1e-6  # as many columns as rows
    narrow = TunedFeatures(features.kernel_, n_components=10, random_state=0).fit(X, Y)
    assert narrow.transform(X).shape == (150, 10)
    assert narrow.error_estimate_ > error


def test_without_targets_the_default_kernel_at_the_median_distance():
    features = TunedFeatures(random_state=0).fit(X)
    placed = features.placement_(X)
    distances = np.sqrt(np.square(placed[:, None] - placed[None]).sum(axis=2))[np.triu_indices(150, 1)]
    assert isinstance(features.kernel_, DeltaGaussian)
    np.testing.assert_allclose(features.kernel_.a, np.median(distances), rtol=1e-9)
    assert TunedFeatures(Laplacian(), random_state=0).fit(X).kernel_.scale == pytest.approx(np.median(distances))


def test_kernels_of_ones_own_and_a_map_of_ones_own():
    inner = SignedFourierFeatures(weights="unbiased", n_components=40, random_state=0)
    features = TunedFeatures([Gaussian(), Laplacian()], features=inner).fit(X, Y)
    assert type(features.kernel_) in (Gaussian, Laplacian)
    assert isinstance(features.map_.map, FittedMap)
    assert features.n_components_ == 40
    assert TunedFeatures(Gaussian(), 24, features=inner).fit(X, Y).n_components_ == 24


def test_sparse_rows_and_single_precision():
    rows = np.where(np.abs(X) > 0.5, X, 0.0)
    features = TunedFeatures(random_state=0).fit(sp.csr_array(rows), Y)
    assert features.placement_.shift is None
    np.testing.assert_allclose(features.transform(rows), features.transform(sp.csr_array(rows)), atol=1e-9)
    assert (
        TunedFeatures(n_components=20).fit(X.astype(np.float32), Y).transform(X.astype(np.float32)).dtype == np.float32
    )


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"scaling": "log"}, ValueError, "'standard', 'minmax'"),
        ({"features": 3}, TypeError, "features must be"),
        ({"kernels": "all"}, ValueError, "'portfolio'"),
        ({"kernels": [Gaussian]}, TypeError, "kernels must be"),
        ({"kernels": []}, ValueError, "kernels is empty"),
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_components": "many"}, ValueError, "n_components"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters, kind, message):
    with pytest.raises(kind, match=message):
        TunedFeatures(**parameters).fit(X, Y)


def test_a_loaded_map_whose_parts_do_not_fit_is_refused():
    TunedFeatures()._check_loaded()
    for name, part in (("signature_", np.ones(3)), ("n_features_in_", 4)):
        model = TunedFeatures(None, features=CosineMap()).fit(X)
        model._check_loaded()
        setattr(model, name, part)
        with pytest.raises(ValueError, match=r"columns|signature_"):
            model._check_loaded()


def test_a_learned_metric_weighs_columns() -> None:
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(600, 10)), rng.normal(size=(300, 10))
    plain, learned = (
        KreinRidge(TunedFeatures(metric=metric, n_components=200, random_state=0), solver="features").fit(
            X, np.sin(3.0 * X[:, 2])
        )
        for metric in ("none", "learned")
    )
    assert learned.choice_.metric.importances.argmax() == 2
    assert learned.score(T, np.sin(3.0 * T[:, 2])) > plain.score(T, np.sin(3.0 * T[:, 2])) + 0.05
    with pytest.raises(AttributeError, match="metric='learned'"):
        TunedFeatures().fit(X).feature_importances_  # noqa: B018  # for the error alone


def test_what_a_learned_metric_needs() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    with pytest.raises(ValueError, match="minmax"):
        TunedFeatures(metric="learned", scaling="minmax").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="dense"):
        TunedFeatures(metric="learned").fit(sp.csr_array(X), X[:, 0])
    with pytest.raises(ValueError, match="metric must be"):
        TunedFeatures(metric="euclidean").fit(X, X[:, 0])


def test_rows_far_away_are_mapped_without_a_warning():
    """The map of a chosen kernel has no radius that a user could have set."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    for rows in (X, sp.csr_matrix(X)):
        tuned = TunedFeatures(n_components=64, random_state=0).fit(rows, X[:, 0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(tuned.transform(100.0 * rows)).all()


def test_maps_of_dense_rows_have_landmarks():
    rows = RNG.normal(size=(900, 3))
    for width in (48, 513):
        assert isinstance(TunedFeatures(Gaussian(1.0), width, random_state=0).fit(rows).map_.map, FittedNystroem)
    sparse = TunedFeatures(Gaussian(1.0), 48, random_state=0).fit(sp.csr_matrix(rows)).map_.map
    assert isinstance(sparse, FittedMap)


def test_a_kernel_is_chosen_for_the_features_there_will_be():
    """A fast wave on a slow one: exact problems, and many features, follow both; few features only the slow one."""
    rows = np.random.default_rng(1).uniform(-1.0, 1.0, size=(1500, 2))
    y = np.sin(3.0 * rows[:, 0]) + 0.7 * np.sin(12.0 * rows[:, 1]) * np.sin(12.0 * rows[:, 0])
    factors = [TunedFeatures([Gaussian(1.0)], n, random_state=0).fit(rows, y).scores_[0].factor for n in (16, 400)]
    assert factors[0] >= 0.5
    assert factors[1] <= 0.25


def test_default_features_of_a_learner_learn_from_chunks_as_from_all_rows():
    rows = RNG.normal(size=(900, 3))
    y = np.sin(2.0 * rows[:, 0]) + rows[:, 1]
    features = TunedFeatures(Gaussian(1.0), 48, random_state=0)
    whole = KreinRidge(features, solver="features").fit(rows, y)
    chunks = KreinRidge(features, solver="features").fit_chunks([(rows[:500], y[:500]), (rows[500:], y[500:])])
    assert isinstance(whole.features_.map, FittedNystroem)
    np.testing.assert_allclose(chunks.predict(rows), whole.predict(rows), atol=1e-6)
    single = KreinRidge(features, solver="features").fit(rows.astype(np.float32), y)
    # in float32 eigenvalues below 1e-6 of the largest are rounding, and one or two of the 48 features are dropped
    assert min(model.score(rows, y) for model in (single, whole)) > 0.9


def test_names_of_columns_are_remembered():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    frame, targets = pd.DataFrame(rows, columns=list("abc")), rows[:, 0] > 0
    for given in (targets, None):
        features = TunedFeatures(n_components=16, random_state=0).fit(frame, given)
        assert list(features.feature_names_in_) == list("abc")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert features.transform(frame).shape == (60, 16)
        with pytest.raises(ValueError, match="feature names"):
            features.transform(frame[list("cab")])
    assert not hasattr(features.fit(rows), "feature_names_in_")
