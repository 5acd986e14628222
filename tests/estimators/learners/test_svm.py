"""KreinSVC: the three optimizers agree, C by cross-validation, bad input."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from certificates import hinge_minimum
from krein.estimators.learners.svm import KreinSVC
from standin_map import CosineMap


@parametrize_with_checks([KreinSVC(), KreinSVC(CosineMap(), C=1.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = np.array(["a", "b", "c"])[np.digitize(np.hypot(*X.T) + 0.05 * rng.normal(size=300), [0.5, 0.9])]
    return X, y


@pytest.mark.parametrize("two_classes", [False, True])
def test_the_gradient_vanishes(rows, two_classes):
    X, y = rows
    y = y == "b" if two_classes else y
    C, tol = 3.0, 1e-7
    model = KreinSVC(CosineMap(), C=C, tol=tol, max_iter=100_000).fit(X, y)
    Z = model.features_(X)
    member = y[:, None] == model.classes_[1 if two_classes else 0 :]
    hinge_minimum(Z, member, C, model.coef_, model.intercept_).assert_stationary(tol)
    with pytest.raises(AssertionError):  # a thousandth is seen
        hinge_minimum(Z, member, C, 1.001 * model.coef_, model.intercept_).assert_stationary(tol)
    outputs = np.squeeze(Z @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(model.decision_function(X), outputs, atol=1e-10 * np.abs(outputs).max())


def test_cost_by_cross_validation(rows):
    X, y = rows
    model = KreinSVC(CosineMap(), C=[0.01, 0.1, 1.0, 10.0, 100.0]).fit(X, y)
    # the smallest C whose accuracy is the best but for a thousandth
    near = np.flatnonzero(model.cv_scores_ >= model.cv_scores_.max() - 1e-3)
    assert model.Cs_[near[0]] == model.C_
    assert model.cv_scores_.shape == model.Cs_.shape == (5,)
    assert np.isfinite(model.cv_scores_).all()
    assert model.score(X, y) > 0.85


def test_the_cost_that_is_chosen_is_that_of_ridge_regression(rows):
    """C = 1 / (2 n λ), with the λ of least leave-one-out error, by the hat matrix; the strongest within a thousandth."""
    X, y = rows
    model = KreinSVC(CosineMap(), C="auto").fit(X, y)
    assert model.cv_scores_ is None
    np.testing.assert_array_equal(model.Cs_, [model.C_])
    Z = model.features_(X)
    A, Y = Z - Z.mean(axis=0), np.where(y[:, None] == model.classes_, 1.0, -1.0)
    lams = np.square(A).sum() / 300 * np.geomspace(1e-13, 1e1, 29)[12:]
    errors = []
    for lam in lams:
        hat = A @ np.linalg.solve(A.T @ A + 300 * lam * np.eye(40), A.T) + 1 / 300
        errors.append(np.square((Y - hat @ Y) / (1.0 - np.diagonal(hat)[:, None])).sum(axis=1).mean())
    good = lams[np.array(errors) <= 1.001 * min(errors)].max()
    assert pytest.approx(0.5 / (300 * good), rel=1e-6) == model.C_


def test_short_features_get_a_larger_cost(rows):
    """Features of a hundredth of the length want ten thousand times the C."""
    X, y = rows
    long, short = (KreinSVC(CosineMap(length=length)).fit(X, y) for length in (10.0, 0.1))
    assert pytest.approx(1e4 * long.C_, rel=1e-6) == short.C_
    assert short.score(X, y) == pytest.approx(long.score(X, y), abs=0.01)


def test_given_costs_are_all_tried(rows):
    X, y = rows
    model = KreinSVC(CosineMap(), C=[100.0, 1e-3, 1.0]).fit(X, y)
    np.testing.assert_array_equal(model.Cs_, [1e-3, 1.0, 100.0])
    assert model.C_ in model.Cs_
    assert np.isfinite(model.cv_scores_).all()
    again = KreinSVC(CosineMap(), C=[model.C_]).fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.cv_scores_ is None


def test_float32_is_enough(rows):
    X, y = rows
    double = KreinSVC(CosineMap(), C=1.0).fit(X, y)
    single = KreinSVC(CosineMap(), C=1.0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), atol=1e-2)


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("C", 0),
            ("C", -1.0),
            ("C", "cv"),
            ("C", None),
            ("C", []),
            ("C", [1.0, -1.0]),
            ("tol", "x"),
            ("tol", 0.0),
            ("max_iter", 0),
            ("max_iter", 1e3),
            ("features", 3),
        ],
    )
    def test_errors_name_the_parameter(self, rows, name, value):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
            KreinSVC(**{"features": CosineMap(), name: value}).fit(*rows)

    def test_classes(self, rows):
        X, _ = rows
        with pytest.raises(ValueError, match="at least 2 classes"):
            KreinSVC(CosineMap()).fit(X, ["a"] * 300)

    def test_too_few_steps_are_reported(self, rows):
        with pytest.warns(ConvergenceWarning, match="max_iter=1"):
            KreinSVC(CosineMap(), C=1000.0, tol=1e-10, max_iter=1).fit(*rows)


def test_the_number_of_threads_changes_no_digit(rows, monkeypatch):
    X, y = np.tile(rows[0], (10, 1)), np.tile(rows[1], 10)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("krein.learning.newton.rows.n_threads", lambda count=threads: count)
        found.append(KreinSVC(CosineMap(), C=100.0).fit(X, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_a_loaded_model_whose_parts_do_not_fit_is_refused(rows):
    model = KreinSVC(CosineMap()).fit(*rows)
    model._check_loaded()
    KreinSVC()._check_loaded()
    model.classes_ = model.classes_[:2]
    with pytest.raises(ValueError, match="classes need others"):
        model._check_loaded()
