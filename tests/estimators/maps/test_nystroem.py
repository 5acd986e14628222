"""Nyström with signs: what it recovers, what it refuses, and what plain Nyström does instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import linalg
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import DeltaGaussian, Gaussian, Sigmoid

K = DeltaGaussian(1.0, 10.0)


def rows(n: int = 200, dim: int = 3, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, dim))
    X.setflags(write=False)
    return X


def relative(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.linalg.norm(A - B) / np.linalg.norm(B))


def test_landmark_block_is_recovered():
    """With all rows as landmarks the approximation is the matrix itself, up to what the truncation drops."""
    X = rows(60)
    f = KreinNystroem(kernel=K, n_components=60, landmarks="uniform", eigenvalue_tol=1e-12, random_state=0).fit(X)
    assert relative(f.approximate(X), K(X)) < 1e-9
    assert {1.0, -1.0} == set(f.signature_)


@pytest.mark.parametrize("kernel", [K, Sigmoid(2.0, -1.0)])
def test_keeps_the_signs_where_scikit_learn_loses_them(kernel):
    """Side by side on an indefinite kernel: ours approximates K, sklearn's Nystroem approximates |K|."""
    X = rows(80, dim=2)
    exact = kernel(X)
    values, vectors = linalg.eigh(exact)
    absolute = (vectors * np.abs(values)) @ vectors.T
    ours = KreinNystroem(kernel=kernel, n_components=40, random_state=0).fit(X).approximate(X)
    pair_by_pair = Nystroem(kernel=lambda x, y: kernel(x[None], y[None])[0, 0], n_components=40, random_state=0)
    Z = pair_by_pair.fit_transform(X)
    errors = {"ours to K": relative(ours, exact), "sklearn to K": relative(Z @ Z.T, exact)}
    assert errors["ours to K"] < 0.01
    assert errors["sklearn to K"] > 0.5
    assert relative(Z @ Z.T, absolute) < 0.2


def test_agrees_with_scikit_learn_on_a_positive_kernel():
    X, k = rows(100), Gaussian(1.5)
    theirs = Nystroem(kernel="rbf", gamma=1 / (2 * 1.5**2), n_components=20, random_state=0).fit(X)
    Z = theirs.transform(X)
    ours = KreinNystroem(kernel=k, n_components=20, landmarks=X[theirs.component_indices_], eigenvalue_tol=0.0).fit(X)
    np.testing.assert_allclose(ours.approximate(X), Z @ Z.T, atol=1e-6)
    np.testing.assert_array_equal(ours.signature_, 1.0)


@pytest.mark.parametrize("landmarks", ["pivoted", "uniform"])
def test_kernel_callable_and_precomputed_are_the_same(landmarks):
    X, Y = rows(120), rows(30, seed=1)
    settings = {"n_components": 40, "landmarks": landmarks, "eigenvalue_tol": 1e-8, "random_state": 0}
    by_kernel = KreinNystroem(kernel=K, **settings).fit(X)
    by_callable = KreinNystroem(kernel=lambda A, B: K(A, B), **settings).fit(X)
    by_matrix = KreinNystroem(kernel="precomputed", **settings).fit(K(X))
    if landmarks == "uniform":  # pivots of a callable are sought with as few evaluations as may be, so they are others
        np.testing.assert_allclose(by_callable.approximate(Y), by_kernel.approximate(Y), atol=1e-6)
    np.testing.assert_allclose(by_matrix.approximate(K(Y, X)), by_kernel.approximate(Y), atol=1e-6)
    assert by_matrix.transform(K(Y, X)).shape == (30, 40)
    np.testing.assert_array_equal(X[by_matrix.landmarks_], by_kernel.landmarks_)


@pytest.mark.parametrize("landmarks", ["auto", "pivoted", "kmeans", "uniform"])
@pytest.mark.parametrize("oversampling", [1, 4])
def test_every_rule_approximates_unseen_rows(landmarks, oversampling):
    X, Y = rows(600), rows(100, seed=1)
    f = KreinNystroem(kernel=K, n_components=40, landmarks=landmarks, oversampling=oversampling, random_state=0).fit(X)
    assert f.landmarks_.shape == (40 * oversampling, 3)
    assert relative(f.approximate(Y), K(Y)) < 0.2


def test_more_landmarks_than_columns_come_near_the_best_of_that_rank():
    X = rows(800)
    exact = K(X)
    values, vectors = linalg.eigh(exact)
    top = np.argsort(-np.abs(values))[:40]
    optimum = relative((vectors[:, top] * values[top]) @ vectors[:, top].T, exact)
    few, many = (
        relative(KreinNystroem(kernel=K, n_components=40, oversampling=s, random_state=0).fit(X).approximate(X), exact)
        for s in (1, 8)
    )
    assert optimum <= many < few
    assert many < 2.0 * optimum


def test_truncation_is_what_keeps_an_indefinite_approximation_bounded():
    """A landmark block with a tiny eigenvalue that the matrix itself does not have."""
    gram = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-13, 1.0], [0.0, 1.0, -1.0]])
    settings = {"kernel": "precomputed", "n_components": 2, "landmarks": np.array([0, 1])}
    wild = KreinNystroem(**settings, eigenvalue_tol=0.0).fit(gram).approximate(gram)
    tame = KreinNystroem(**settings, eigenvalue_tol=1e-8).fit(gram).approximate(gram)
    assert np.abs(wild).max() > 1e6
    assert np.abs(tame).max() < 2.0


def test_fewer_rows_than_the_default_width_is_nothing_to_warn_of():
    X = rows(7)
    f = KreinNystroem(kernel=K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = f.fit_transform(X)
    assert Z.shape == (7, 512)
    assert f.rank_ == 7
    assert not Z[:, f.rank_ :].any()
    assert relative(f.approximate(X), K(X)) < 1e-5


def test_kernel_and_width_by_position():
    f = KreinNystroem(K, 30)
    assert (f.kernel, f.n_components) == (K, 30)
    assert KreinNystroem().fit(rows(20)).kernel_ == DeltaGaussian()


@pytest.mark.parametrize("landmarks", ["kmeans", "pivoted"])
def test_the_number_of_threads_does_not_change_a_bit(landmarks):
    """Clusters found with sums in another order would be other clusters, and other features altogether."""
    X = rows(3000, dim=6)
    Z = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            Z.append(KreinNystroem(K, 150, landmarks=landmarks, random_state=0).fit_transform(X))
    np.testing.assert_array_equal(*Z)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bilinear_form_in_single_precision_is_symmetric_enough(dtype):
    """Its two halves differ by rounding, more than a millionth of the largest value where there are many columns."""
    M = rows(300, dim=300, seed=1).astype(np.float32)
    X = rows(60, dim=300)

    def bilinear(A, B):
        return (A.astype(np.float32) @ (M + M.T) @ B.astype(np.float32).T).astype(dtype)

    f = KreinNystroem(bilinear, 60, landmarks="uniform").fit(X)
    assert relative(f.approximate(X), bilinear(X, X)) < 1e-3


@pytest.mark.parametrize("kernel", [K, "precomputed"])
def test_what_was_loaded_must_fit_together(kernel):
    X = K(rows(30)) if kernel == "precomputed" else rows(30)
    f = KreinNystroem(kernel, 10, random_state=0)
    f._check_loaded()
    f.fit(X)._check_loaded()
    for name, value, message in (
        ("signature_", np.zeros(10), "signature_"),
        ("n_features_in_", 2, "landmarks do not fit"),
        ("kernel_", Gaussian(3.0), "another kernel"),
    ):
        broken = KreinNystroem(kernel, 10, random_state=0).fit(X)
        setattr(broken, name, value)
        with pytest.raises(ValueError, match=message):
            broken._check_loaded()


def test_single_precision_is_accurate():
    X = rows(300).astype(np.float32)
    f = KreinNystroem(kernel=K, n_components=100, random_state=0).fit(X)
    Z = f.transform(X)
    assert Z.dtype == np.float32
    assert relative(f.approximate(X), K(X)) < 0.02


def test_precomputed_in_a_pipeline():
    X = rows(150)
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    model = make_pipeline(KreinNystroem(kernel="precomputed", n_components=30, random_state=0), LinearSVC())
    model.fit(K(X), y)
    assert model.score(K(X), y) > 0.9
    assert KreinNystroem(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not KreinNystroem().__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"landmarks": "random"}, "landmarks must be one of 'auto', 'pivoted', 'kmeans', 'uniform'"),
        ({"landmarks": np.ones((3, 2))}, r"shape \(n_landmarks, 3\), got shape \(3, 2\)"),
        ({"kernel": "rbf"}, "or 'precomputed', got 'rbf'"),
        ({"kernel": lambda A, B: np.ones(3)}, "objects 0 and 0 .* must return one real number, got an array"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "returned nan"),
        ({"kernel": lambda A, B: A[:, :1] - B[:, :1].T}, "must be symmetric.*symmetrize='average'"),
        ({"oversampling": 0}, "oversampling must be at least 1"),
        ({"eigenvalue_tol": -1.0}, "eigenvalue_tol must be 'auto' or a number"),
        ({"eigenvalue_tol": "small"}, "eigenvalue_tol must be 'auto' or a number"),
    ],
)
def test_absurd_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KreinNystroem(**{"kernel": K, **parameters}).fit(rows())


def test_precomputed_matrices_that_cannot_be_used():
    f = KreinNystroem(kernel="precomputed", n_components=4)
    gram = K(rows(20))
    with pytest.raises(ValueError, match="square matrix"):
        f.fit(gram[:, :10])
    lopsided = gram.copy()
    lopsided[2, 5] += 0.1
    with pytest.raises(ValueError, match=r"entries \((2, 5|5, 2)\).*symmetric part"):
        f.fit(lopsided)
    holed = gram.copy()
    holed[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        f.fit(holed)
    with pytest.raises(ValueError, match="precomputed kernel does not have"):
        KreinNystroem(kernel="precomputed", n_components=4, landmarks="kmeans").fit(gram)
    with pytest.raises(ValueError, match="indices from 0 to 19"):
        KreinNystroem(kernel="precomputed", n_components=4, landmarks=np.array([3, 25])).fit(gram)
    with pytest.raises(ValueError, match="one-dimensional array of integers"):
        KreinNystroem(kernel="precomputed", n_components=4, landmarks=np.array([0.5])).fit(gram)
    with pytest.raises(ValueError, match="features"):
        f.fit(gram).transform(gram[:3, :10])


def test_a_matrix_of_zeros_gives_zero_features():
    f = KreinNystroem(kernel="precomputed", n_components=3, random_state=0).fit(np.zeros((10, 10)))
    assert not f.transform(np.zeros((2, 10))).any()
