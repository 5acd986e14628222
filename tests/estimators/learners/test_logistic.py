"""KreinLogistic: scikit-learn's checks and coefficients, probabilities, the choice of λ, bad input."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from certificates import logistic_minimum
from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.kernels import Gaussian, Matern
from standin_map import CosineMap


@parametrize_with_checks([KreinLogistic(), KreinLogistic(CosineMap(), regularizer="two")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.array(["a", "b", "c"])[np.digitize(np.hypot(*X.T) + 0.1 * rng.normal(size=400), [0.5, 0.9])]
    return X, y, rng.integers(0, 4, 400).astype(float)


@pytest.mark.parametrize("two_classes", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_vanishes(rows, two_classes, weighted):
    """Of ½‖w‖² + Σ weight · loss / (λ Σ weight), which is what scikit-learn minimizes with C = 1 / (λ Σ weight)."""
    X, y, weight = rows
    y = y == "b" if two_classes else y
    weight = weight if weighted else None
    model = KreinLogistic(CosineMap(), lam=1e-5, tol=1e-11).fit(X, y, weight)
    total = weight.sum() if weighted else 400
    Z = model.features_(X)
    price = (np.ones(400) if weight is None else weight) / (total * 1e-5)
    codes = np.searchsorted(model.classes_, y)
    found = logistic_minimum(Z, codes, price, model.coef_, model.intercept_)
    found.assert_stationary(1e-11)
    wrong = logistic_minimum(Z, codes, price, 1.001 * model.coef_, model.intercept_)
    with pytest.raises(AssertionError):  # a thousandth is seen
        wrong.assert_stationary(1e-11)
    outputs = np.squeeze(Z @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(model.decision_function(X), outputs, rtol=0, atol=1e-10 * np.abs(outputs).max())
    both = np.column_stack([np.zeros(400), outputs]) if two_classes else outputs
    np.testing.assert_allclose(model.predict_proba(X), softmax(both, axis=1), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[both.argmax(axis=1)])


def test_two_strengths_are_two_penalties(rows):
    X, y, _ = rows
    model = KreinLogistic(CosineMap(), regularizer="two", lam=(1e-4, 1e-2), tol=1e-10).fit(X, y)
    sign = model.features_.signature
    scale = np.where(sign > 0, 1.0, 0.1)  # a column a tenth as long has a hundred times the penalty
    Z, codes = model.features_(X) * scale, np.searchsorted(model.classes_, y)
    found = logistic_minimum(Z, codes, np.full(400, 1.0 / (400 * 1e-4)), model.coef_ / scale, model.intercept_)
    found.assert_stationary(1e-10)
    assert model.lam_ == (1e-4, 1e-2)
    several = KreinLogistic(CosineMap(), regularizer="two").fit(X, y)
    assert several.lams_.shape == (30, 2)
    assert several.scores_.min() <= KreinLogistic(CosineMap()).fit(X, y).scores_.min() * 1.05  # of a finer grid


def test_probabilities(rows):
    X, y, _ = rows
    model = KreinLogistic(CosineMap()).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), chances)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))
    binary = KreinLogistic(CosineMap()).fit(X, y == "b")
    np.testing.assert_allclose(binary.predict_proba(X)[:, 1], 1 / (1 + np.exp(-binary.decision_function(X))))
    far = binary.predict_log_proba(np.full((1, 2), 1e3))
    assert np.isfinite(far).all()


def test_lambda_is_chosen_by_log_loss_on_rows_held_out(rows):
    X, y, _ = rows
    model = KreinLogistic(CosineMap()).fit(X[::2], y[::2])
    best = int(np.flatnonzero(model.scores_ <= 1.001 * model.scores_.min())[0])
    assert model.lam_ == model.lams_[best]
    assert (np.diff(model.lams_) < 0).all()
    rest = [log_loss(y[1::2], KreinLogistic(CosineMap(), lam=lam).fit(X[::2], y[::2]).predict_proba(X[1::2]))
            for lam in (model.lam_, 1e3 * model.lam_, 1e6 * model.lam_)]  # fmt: skip
    assert rest[0] < min(rest[1:])
    assert KreinLogistic(CosineMap(), lam=[1e-2, 1e-5]).fit(X, y).lam_ in (1e-2, 1e-5)
    assert KreinLogistic(CosineMap(), lam=1e-2).fit(X, y).scores_ is None


def test_float32_is_enough(rows):
    X, y, _ = rows
    double = KreinLogistic(CosineMap(), lam=1e-4).fit(X, y)
    single = KreinLogistic(CosineMap(), lam=1e-4).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=1e-3)


def test_in_a_pipeline_and_a_search(rows):
    X, y, _ = rows
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(), KreinLogistic(SignedFourierFeatures(Gaussian(1.0), 32, random_state=0), lam=1e-4)
        ),
        {"kreinlogistic__kernel__kernel__scale": [0.5, 2.0], "kreinlogistic__lam": [1e-4, 1e-2]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > -0.8


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("lam", 0),
            ("lam", "cv"),
            ("regularizer", "krein"),
            ("regularizer", "l1"),
            ("tol", 0.0),
            ("max_iter", 0),
            ("features", 3),
            ("class_weight", "even"),
            ("class_weight", 3),
            ("class_weight", {"z": 1.0}),
            ("class_weight", {"a": -1.0}),
        ],
    )
    def test_errors_name_the_parameter(self, rows, name, value):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must "):
            KreinLogistic(**{"features": CosineMap(), name: value}).fit(*rows[:2])

    def test_one_class(self, rows):
        with pytest.raises(ValueError, match="at least 2 classes"):
            KreinLogistic(CosineMap()).fit(rows[0], ["a"] * 400)

    def test_a_loaded_model_whose_parts_do_not_fit_is_refused(self, rows):
        model = KreinLogistic(CosineMap()).fit(*rows[:2])
        model._check_loaded()
        model.classes_ = model.classes_[:2]
        with pytest.raises(ValueError, match="classes need others"):
            model._check_loaded()


def test_a_class_that_one_fold_alone_has():
    X = np.array(
        [[48.0, 25.0], [25.0, 126.0], [-6.0, 76.0], [-89.0, -141.0], [19.0, 54.0], [-64.0, -112.0], [-17.0, -85.0]]
    )
    y = ["three", "one", "three", "two", "two", "one", "two"]
    features = SignedFourierFeatures(Matern(1.0, nu=1.5), 16, weights="projected", random_state=0)
    model = KreinLogistic(features).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("y", [np.arange(12) % 3, [2, 0, 2, 2, 2, 1, 0, 1, 1, 1, 1, 2], np.arange(12) % 2])
def test_rows_that_are_all_the_same(y):
    model = KreinLogistic(lam=100.0, random_state=0).fit(np.zeros((12, 2)), y)
    counts = np.unique(y, return_counts=True)[1]
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 2)))[0], counts / 12, atol=1e-4)


def test_a_regularizer_that_is_no_word():
    with pytest.raises(ValueError, match="regularizer must be one of"):
        KreinLogistic(regularizer=np.array([1.0, 2.0])).fit(np.zeros((4, 1)), [0, 1, 0, 1])
