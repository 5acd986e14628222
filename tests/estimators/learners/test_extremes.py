"""Weights, targets and rows at the ends of floats: finite values without a warning, or an error that says what to change."""

import warnings

import numpy as np
import pytest

import krein
from krein.kernels import DeltaGaussian, Multiquadric, ThinPlate

LEARNERS = {
    "ridge": krein.KreinRidge,
    "features": lambda: krein.KreinRidge(solver="features"),
    "local": lambda: krein.KreinRidge(solver="local"),
    "classifier": krein.KreinRidgeClassifier,
    "machine": krein.KreinSVC,
    "logistic": krein.KreinLogistic,
    "exact ridge": lambda: krein.ExactKreinRidge(DeltaGaussian(1.0, 4.0)),
    "exact machine": lambda: krein.ExactKreinSVC(DeltaGaussian(1.0, 4.0)),
}
RIDGES = ("ridge", "features", "local", "exact ridge")
CHOSEN = [name for name in LEARNERS if not name.startswith("exact")]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=120)


def fitted(name, X, y, weight=None):
    return LEARNERS[name]().fit(X, y if name in RIDGES else (y > np.median(y)).astype(int), weight)


def values(model, X):
    return np.asarray(getattr(model, "decision_function", model.predict)(X), dtype=float)


@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e200, 1.7e308])
@pytest.mark.parametrize("name", LEARNERS)
def test_weights_out_of_range_are_refused(rows, name, weight):
    every = np.ones(120)
    every[7] = weight
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or between .* in row 7"):
        fitted(name, *rows, every)


@pytest.mark.parametrize("weight", [1e-99, 1e99])
@pytest.mark.parametrize("name", LEARNERS)
def test_weights_at_the_ends_of_the_range(rows, name, weight):
    every = np.ones(120)
    every[:7] = weight
    model = fitted(name, *rows, every)
    assert np.isfinite(values(model, rows[0])).all()


@pytest.mark.parametrize("name", RIDGES)
def test_targets_without_squares_are_refused(rows, name):
    X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"y reaches 1.*divide y by"):
            fitted(name, X, 1.7e308 * (y / np.abs(y).max()))


@pytest.mark.parametrize("far", [1e20, 9.97e36, 1e300, 1.7e308])
@pytest.mark.parametrize("name", CHOSEN)
def test_a_fill_value_is_far_away(rows, name, far):
    X, y = rows
    model, query = fitted(name, X, y), X[:9].copy()
    query[3, 1] = far
    found = values(model, query)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.delete(found, 3), values(model, np.delete(query, 3, axis=0)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CHOSEN)
def test_columns_whose_squares_are_no_numbers(rows, name):
    X, y = rows
    model = fitted(name, X * [1.0, 1e300, 1e-300], y)
    score = model.score(X * [1.0, 1e300, 1e-300], y if name in RIDGES else (y > np.median(y)).astype(int))
    assert score > 0.7  # without the second column 0.3 at most


def test_products_of_single_precision_that_overflow(rows):
    X = (1e30 * rows[0]).astype(np.float32)
    with pytest.raises(ValueError, match="too large for float32"):
        krein.SignedFourierFeatures(Multiquadric(), 32).fit(X)
    with pytest.raises(ValueError, match="leaves the range of float32"):
        krein.KreinNystroem(ThinPlate(), 8).fit(X)
    near = krein.KreinNystroem(ThinPlate(), 8).fit((1e-30 * X).astype(np.float32))
    with pytest.raises(ValueError, match="features of row 0 of X leave the range of float32"):
        near.transform(X)
