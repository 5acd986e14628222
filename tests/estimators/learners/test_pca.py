"""KreinPCA: eigenpairs of the centered indefinite matrix, signs kept."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.estimators.learners.pca import KreinPCA
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import DeltaGaussian, Gaussian
from standin_map import CosineMap


@parametrize_with_checks([KreinPCA(), KreinPCA(CosineMap(), 3, center=False)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(70, 3))


@pytest.mark.parametrize("center", [False, True])
def test_eigenpairs_of_the_exact_matrix(X, center):
    kernel = DeltaGaussian(0.7, 3.0)
    K = kernel(X)
    if center:
        H = np.eye(70) - 1 / 70
        K = H @ K @ H
    values = np.linalg.eigvalsh(K)
    values = values[np.argsort(-np.abs(values))][:10]
    assert values.min() < 0 < values.max()
    features = KreinNystroem(kernel=kernel, n_components=70, landmarks=X, eigenvalue_tol=1e-13)
    model = KreinPCA(features, 10, center=center).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7)
    np.testing.assert_array_equal(model.signature_, np.sign(values))
    T = model.transform(X)
    np.testing.assert_allclose(T.T @ T, np.diag(np.abs(values)), atol=1e-7)
    full = KreinPCA(features=features, center=center).fit(X)
    np.testing.assert_allclose((full.transform(X) * full.signature_) @ full.transform(X).T, K, atol=1e-6)


def test_new_rows_are_projected_by_the_kernel(X):
    kernel = DeltaGaussian(0.7, 3.0)
    features = KreinNystroem(kernel=kernel, n_components=50, landmarks=X[:50], eigenvalue_tol=1e-13)
    model = KreinPCA(features, 4).fit(X[:50])
    T = model.transform(X[:50])
    K, K_new = kernel(X[:50]), kernel(X[50:], X[:50])
    centered = K_new - K_new.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    expected = centered @ (T / model.eigenvalues_)
    np.testing.assert_allclose(model.transform(X[50:]), expected, atol=1e-7)


def test_on_a_positive_kernel_it_is_kernel_pca(X):
    kernel = Gaussian(1.0)
    features = KreinNystroem(kernel=kernel, n_components=70, landmarks=X, eigenvalue_tol=1e-13)
    ours = KreinPCA(features, 5).fit(X)
    theirs = KernelPCA(5, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(kernel(X))), atol=1e-7)


def test_no_components_to_be_had():
    with pytest.raises(ValueError, match="same features"):
        KreinPCA(features=CosineMap()).fit(np.ones((5, 2)))


@pytest.mark.parametrize(
    ("name", "value"), [("features", 3), ("n_components", 0), ("n_components", 1.5), ("center", "yes")]
)
def test_errors_name_the_parameter(X, name, value):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be"):
        KreinPCA(**{"features": CosineMap(), name: value}).fit(X)


def test_a_loaded_model_whose_parts_do_not_fit_is_refused(X):
    model = KreinPCA(CosineMap(), 3).fit(X)
    model._check_loaded()
    KreinPCA()._check_loaded()
    for name, part in (
        ("components_", model.components_[:, 1:]),
        ("mean_", model.mean_[1:]),
        ("signature_", np.ones(2)),
    ):
        broken = KreinPCA(CosineMap(), 3).fit(X)
        setattr(broken, name, part)
        with pytest.raises(ValueError, match=name):
            broken._check_loaded()
