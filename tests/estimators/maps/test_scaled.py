"""ScaledFeatures: the scaling of the columns, and that it travels with the map."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.estimators.maps.scaled import ScaledFeatures
from krein.learning.columns import ColumnSummary
from standin_map import CosineMap


@parametrize_with_checks(
    [ScaledFeatures(), ScaledFeatures(CosineMap()), ScaledFeatures(CosineMap(), scaling="standard")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_it_is_the_map_of_scaled_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 1e3, 1e-3] + 5.0
    X[:, 2] = 7.0
    model = ScaledFeatures(CosineMap()).fit(X)
    scaled = (X - X.min(axis=0)) / np.array([np.ptp(X[:, 0]), np.ptp(X[:, 1]), np.inf])
    np.testing.assert_allclose(model.transform(X), CosineMap().fit(scaled).transform(scaled), atol=1e-12)
    far = model.transform(X + np.array([1e3, 0.0, 0.0]))
    np.testing.assert_allclose(far, model.transform(np.c_[np.full(50, X[:, 0].max()), X[:, 1:]]), atol=1e-9)
    standard = ScaledFeatures(CosineMap(), scaling="standard").fit(X)
    scaled = (X - X.mean(axis=0)) / np.array([X[:, 0].std(), X[:, 1].std(), np.inf])
    np.testing.assert_allclose(standard.transform(X), CosineMap().fit(scaled).transform(scaled), atol=1e-9)


def test_unknown_scaling():
    with pytest.raises(ValueError, match="'minmax', 'standard'"):
        ScaledFeatures(CosineMap(), scaling="log").fit(np.eye(3))
    with pytest.raises(TypeError, match="features must be"):
        ScaledFeatures(3).fit(np.eye(3))


def test_known_columns_replace_those_of_the_sample():
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = ScaledFeatures(CosineMap()).fit_sample(X[:10], ColumnSummary.of(X))
    np.testing.assert_array_equal(model.low_, X.min(axis=0))
    np.testing.assert_allclose(model.width_, np.ptp(X, axis=0), rtol=1e-15)


def test_a_loaded_map_whose_parts_do_not_fit_is_refused():
    X = np.random.default_rng(0).normal(size=(80, 2))
    ScaledFeatures()._check_loaded()
    for name, part in (("signature_", np.ones(3)), ("low_", np.zeros(3)), ("width_", np.array([1.0, 0.0]))):
        model = ScaledFeatures(CosineMap()).fit(X)
        model._check_loaded()
        setattr(model, name, part)
        with pytest.raises(ValueError, match=name):
            model._check_loaded()
