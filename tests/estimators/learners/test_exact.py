"""Exact references: formulas of the dual, the flipped machine, what happens to bad matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from certificates import machine_gap, pair_machines
from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.ridge import KreinRidge
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import NTK, DeltaGaussian, Gaussian
from krein.learning import SingularSystemError


@parametrize_with_checks(
    [
        ExactKreinRidge(),
        ExactKreinRidge("precomputed"),
        ExactKreinSVC(tol=1e-11),
        ExactKreinSVC("precomputed"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=80), np.digitize(X[:, 0], [-0.4, 0.4])


def test_krein_ridge_is_the_textbook_formula(rows):
    X, y, _ = rows
    kernel = DeltaGaussian(0.5, 2.0)
    model = ExactKreinRidge(kernel, regularizer="krein", lam=0.01, fit_intercept=False).fit(X, y)
    expected = kernel(X, X) @ np.linalg.solve(kernel(X) + 0.8 * np.eye(80), y)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)


def test_hilbert_ridge_is_ridge_on_the_flipped_matrix(rows):
    X, y, _ = rows
    K = DeltaGaussian(0.5, 2.0)(X)
    values, vectors = np.linalg.eigh(K)
    flipped = (vectors * np.abs(values)) @ vectors.T
    model = ExactKreinRidge("precomputed", lam=0.01, fit_intercept=False).fit(K, y)
    np.testing.assert_allclose(model.predict(K), flipped @ np.linalg.solve(flipped + 0.8 * np.eye(80), y), atol=1e-9)


@pytest.mark.parametrize("regularizer", ["hilbert", "two"])
def test_chosen_lambda_comes_near_the_best_on_new_rows(rows, regularizer):
    """Leave-one-out on |K| would choose a λ here with an R² of −0.9."""
    X, y, _ = rows
    kernel = DeltaGaussian(0.5, 4.0)
    model = ExactKreinRidge(kernel, regularizer=regularizer).fit(X[:60], y[:60])
    best = max(
        ExactKreinRidge(kernel, lam=lam).fit(X[:60], y[:60]).score(X[60:], y[60:]) for lam in np.geomspace(1e-6, 1, 13)
    )
    assert model.score(X[60:], y[60:]) > best - 0.5  # of twenty rows


def test_several_targets(rows):
    X, y, _ = rows
    both = ExactKreinRidge(lam=0.01).fit(X, np.c_[y, -y])
    np.testing.assert_allclose(both.predict(X)[:, 1], -ExactKreinRidge(lam=0.01).fit(X, y).predict(X), atol=1e-9)


def test_svc_solves_on_the_flipped_matrix_and_maps_back(rows):
    X, _, y = rows
    X, X_new, y = X[:60], X[60:], y[:60]
    kernel = DeltaGaussian(0.5, 4.0)
    K = kernel(X)
    values, vectors = np.linalg.eigh(K)
    assert values[0] < 0
    flipped = (vectors * np.abs(values)) @ vectors.T
    C, tol = 2.0, 1e-6
    sign = (vectors * np.sign(values)) @ vectors.T
    new = kernel(X_new, X) @ sign
    for codes in (y, (y > 0).astype(int)):
        model = ExactKreinSVC(kernel, C=C, tol=tol).fit(X, codes)
        assert model.n_negative_ == np.count_nonzero(values < 0)
        margins = []
        for kept, signs, alpha, intercept in pair_machines(model, codes):
            gap = machine_gap(flipped[np.ix_(kept, kept)], signs, np.full(len(kept), C), alpha[kept], intercept)
            assert abs(gap) <= 2.0 * tol * C * len(kept)
            assert not alpha[np.setdiff1d(np.arange(60), kept)].any()
            margins.append(new @ alpha + intercept)
        if len(margins) == 1:
            np.testing.assert_allclose(model.decision_function(X_new), margins[0], atol=1e-9)
        else:
            ahead = [margins[0] > 0, margins[1] > 0, margins[2] > 0]  # 0 of 0 and 1, 0 of 0 and 2, 1 of 1 and 2
            votes = np.stack([1 * ahead[0] + ahead[1], 1 * ~ahead[0] + ahead[2], 1 * ~ahead[1] + ~ahead[2]])
            clear = votes.max(axis=0) == 2
            assert clear.mean() > 0.8
            np.testing.assert_array_equal(model.predict(X_new)[clear], votes.argmax(axis=0)[clear])


def test_on_a_positive_kernel_it_is_an_ordinary_svc(rows):
    X, _, y = rows
    model = ExactKreinSVC(Gaussian(1.0), tol=1e-6).fit(X, y)
    K = Gaussian(1.0)(X)
    for kept, signs, alpha, intercept in pair_machines(model, y):
        gap = machine_gap(K[np.ix_(kept, kept)], signs, np.ones(len(kept)), alpha[kept], intercept)
        assert abs(gap) <= 2.0 * 1e-6 * len(kept)
    assert model.n_negative_ == 0


@pytest.mark.parametrize("lam", [1e-4, 1e-2])
def test_with_one_kernel_it_is_the_reference_of_ridge_on_features(rows, lam):
    """On features that give K exactly both solve one problem, so they differ by rounding over nλ only."""
    X, y, _ = rows
    X, X_new, y = X[:60], X[60:], y[:60]
    features = KreinNystroem(n_components=60, landmarks=X, eigenvalue_tol=1e-13)
    streamed = KreinRidge(features, lam=lam).fit(X, y)
    exact = ExactKreinRidge(DeltaGaussian(), lam=lam).fit(X, y)
    np.testing.assert_allclose(exact.predict(X_new), streamed.predict(X_new), rtol=0, atol=1e-8)
    assert exact.similarity_.kernel == DeltaGaussian()


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_with_nothing_set_columns_of_all_units_are_learned_from(load):
    X, y = load(return_X_y=True)
    assert np.ptp(X, axis=0).max() > 100 * np.ptp(X, axis=0).min()
    assert cross_val_score(ExactKreinSVC(), X, y, cv=3).mean() > 0.95
    model = ExactKreinSVC().fit(X[::2], y[::2])
    assert model.choice_.kernel == model.similarity_.kernel
    np.testing.assert_array_equal(model.predict(X * 1.0), model.predict(X))
    np.testing.assert_array_equal(
        ExactKreinSVC().fit(X[::2] * 2.0**-60, y[::2]).predict(X * 2.0**-60), model.predict(X)
    )


def test_a_chosen_kernel_is_the_one_of_ridge():
    X, y = load_diabetes(return_X_y=True)
    exact, ridge = ExactKreinRidge().fit(X, y), KreinRidge(solver="exact").fit(X, y)
    assert exact.choice_.kernel == ridge.choice_.kernel
    again = ExactKreinRidge(exact.choice_.kernel, lam=exact.lam_).fit(exact.choice_.placement(X), y)
    np.testing.assert_allclose(exact.predict(X), again.predict(exact.choice_.placement(X)), rtol=1e-12)


class TestCost:
    def test_it_is_in_proportion_to_the_matrix(self, rows):
        X, _, labels = rows
        K = DeltaGaussian()(X)
        model, larger = (ExactKreinSVC("precomputed").fit(factor * K, labels) for factor in (1.0, 1024.0))
        assert pytest.approx(model.C_ / 1024.0, rel=1e-12) == larger.C_
        np.testing.assert_array_equal(larger.predict(1024.0 * K), model.predict(K))
        unit = np.abs(np.linalg.eigvalsh(K)).mean()
        np.testing.assert_allclose(model.Cs_ * unit, [100.0, 1.0, 10.0, 1000.0])

    def test_the_usual_one_is_left_for_a_clear_gain_only(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 2))
        K = np.exp(-np.square(X[:, None] - X).sum(axis=2))
        clean = X[:, 0] > 0
        noisy = clean ^ (rng.uniform(size=500) < 0.3)
        for labels, leaves in ((clean, False), (noisy, True)):
            model = ExactKreinSVC("precomputed").fit(K, labels)
            usual, chosen = model.cv_scores_[0], model.cv_scores_[list(model.Cs_).index(model.C_)]
            assert chosen > usual or (model.Cs_[0] == model.C_ and not leaves)

    def test_classes_of_one_object_leave_nothing_to_compare(self):
        model = ExactKreinSVC("euclidean").fit([[0.0], [1.0]], [0, 1])
        assert model.Cs_[0] == model.C_

    def test_a_given_cost_is_taken(self, rows):
        X, _, labels = rows
        model = ExactKreinSVC(DeltaGaussian(), C=3.0).fit(X, labels)
        assert (model.C_, model.Cs_, model.cv_scores_) == (3.0, None, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bilinear_form_in_single_precision_is_taken(rows, dtype):
    """As Nyström takes it: its two halves differ by rounding in float32."""
    X, y, labels = rows
    rng = np.random.default_rng(1)
    M = rng.normal(size=(3, 3)).astype(np.float32)

    def bilinear(A, B):
        return (A.astype(np.float32) @ (M + M.T) @ B.astype(np.float32).T).astype(dtype)

    K = bilinear(X, X)
    assert np.abs(K - K.T).max() > 1e-8 * np.abs(K).max()  # what used to be refused
    KreinNystroem(bilinear, 10).fit(X)
    by_callable = ExactKreinRidge(bilinear, lam=0.1).fit(X, y)
    by_matrix = ExactKreinRidge("precomputed", lam=0.1).fit(K, y)
    np.testing.assert_allclose(by_callable.predict(X), by_matrix.predict(K), atol=1e-5)
    ExactKreinSVC(bilinear).fit(X, labels)
    ExactKreinSVC("precomputed").fit(K, labels)


def test_sparse_rows_give_what_dense_rows_give(rows):
    X, y, labels = rows
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    X[:, 2] += 1.0  # no row of zeros, which has no direction
    for kernel in (DeltaGaussian(), NTK()):
        for model, target in ((ExactKreinRidge(kernel, lam=0.1), y), (ExactKreinSVC(kernel), labels)):
            dense = model.fit(X, target).predict(X)
            np.testing.assert_allclose(model.fit(sp.csr_array(X), target).predict(sp.csr_array(X)), dense, atol=1e-9)


def test_a_fitted_model_keeps_its_kernel_and_rows(rows):
    X, y, _ = rows
    model = ExactKreinRidge(NTK(), lam=0.1).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.X_fit_, axis=1), 1.0)  # placed once, and never again
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(kernel=Gaussian()).predict(X), before)


def test_single_precision_rows_are_compared_in_double(rows):
    X, y, _ = rows
    single = X.astype(np.float32)
    models = [ExactKreinRidge(lam=1e-6).fit(A, y) for A in (single, single.astype(np.float64))]
    np.testing.assert_array_equal(models[0].predict(single), models[1].predict(single.astype(np.float64)))


def test_what_was_loaded_must_fit_together(rows):
    X, y, labels = rows
    for model, target in (
        (ExactKreinRidge(lam=0.1), y),
        (ExactKreinRidge("precomputed", lam=0.1), y),
        (ExactKreinSVC(), labels),
    ):
        data = DeltaGaussian()(X) if model.kernel == "precomputed" else X
        model._check_loaded()
        model.fit(data, target)._check_loaded()
        for name, value in (
            ("similarity_", None),
            ("X_fit_", X[:, :2]),
            ("n_features_in_", 7),
            ("intercept_", np.ones(5)),
            ("dual_coef_", np.ones((3, 4))),
        ):
            good = getattr(model, name)
            setattr(model, name, value)
            with pytest.raises(ValueError, match=r"must be one of|do not fit|same|each pair"):
                model._check_loaded()
            setattr(model, name, good)


def test_bad_matrices(rows):
    X, y, labels = rows
    K = DeltaGaussian()(X)
    with pytest.raises(ValueError, match="square"):
        ExactKreinRidge("precomputed").fit(K[:, :70], y)
    K = K.copy()
    K[3, 5] += 1.0
    with pytest.raises(ValueError, match=r"must be symmetric, but entries \(3, 5\)"):
        ExactKreinSVC("precomputed").fit(K, labels)
    with pytest.raises(ValueError, match="kernel must be"):
        ExactKreinRidge("rbf").fit(X, y)
    with pytest.raises(ValueError, match="C must be positive"):
        ExactKreinSVC(C=0.0).fit(X, labels)
    with pytest.raises(TypeError, match="C must be a real number"):
        ExactKreinSVC(C=[1.0]).fit(X, labels)
    with pytest.raises(ValueError, match="C must be 'auto' or a positive number"):
        ExactKreinSVC(C="best").fit(X, labels)
    with pytest.raises(ValueError, match="tol must be positive"):
        ExactKreinSVC(tol=-1.0).fit(X, labels)
    with pytest.raises(TypeError, match="fit_intercept must be True or False"):
        ExactKreinRidge(fit_intercept="yes").fit(X, y)


def test_singular_systems():
    K = np.diag([1.0, -0.4, 2.0, 3.0])
    y = np.arange(4.0)
    model = ExactKreinRidge("precomputed", regularizer="krein", lam=0.1, fit_intercept=False)
    with pytest.raises(SingularSystemError, match=r"singular at lam=0\.1"):
        model.fit(K, y)
    with pytest.warns(LinAlgWarning, match="nearly singular"):
        model.set_params(lam=0.1 * (1 + 1e-6)).fit(K, y)


@pytest.mark.parametrize("model", [ExactKreinRidge(), ExactKreinSVC()])
def test_a_search_reaches_into_the_kernel_that_none_stands_for(model):
    assert clone(model).set_params(kernel__a=2.0).kernel == DeltaGaussian(a=2.0)


def test_costs_that_no_machine_can_meet_end_with_a_warning():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    with pytest.warns(ConvergenceWarning):  # equal rows of different classes
        model = ExactKreinSVC().fit(X, np.arange(5), np.full(5, 1e90))
    assert set(model.predict(X)) <= set(range(5))
