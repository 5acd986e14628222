"""Scaling with signs: points come back, non-metric distances have axes instead of NaN, landmarks and new objects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
from krein import KreinMDS, KreinPCA, Similarity


@parametrize_with_checks([KreinMDS()])  # with a function it takes any objects, of which these checks know nothing
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def pseudo_euclidean(rng, n=80, signs=(1.0, 1.0, -1.0)):
    """Points whose squared distances have some negative axes, and distances from them where all squares are positive."""
    X = rng.normal(size=(n, len(signs))) * np.where(np.array(signs) < 0.0, 0.05, 1.0)
    squares = (np.square(X[:, None] - X) * signs).sum(axis=2)
    return X, np.sqrt(np.maximum(squares, 0.0))


def squared_distances(T, signature, U=None):
    U = T if U is None else U
    return (np.square(T[:, None] - U) * signature).sum(axis=2)


def test_points_come_back_from_their_distances(rng):
    X, new = rng.normal(size=(60, 3)), rng.normal(size=(7, 3))
    model = KreinMDS(n_components=3).fit(cdist(X, X))
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-9)
    np.testing.assert_allclose(cdist(model.transform(cdist(new, X)), model.embedding_), cdist(new, X), atol=1e-9)
    np.testing.assert_array_equal(model.signature_, 1.0)


@pytest.mark.parametrize("n_components", [2, 5, 40])
def test_all_axes_of_any_distances_give_them_back(rng, n_components):
    """Random symmetric numbers, no metric at all: with every axis and its sign they are exact, and never NaN."""
    D = rng.uniform(0.1, 1.0, size=(30, 30))
    D = 0.5 * (D + D.T)
    np.fill_diagonal(D, 0.0)
    model = KreinMDS(n_components)
    T = model.fit_transform(D)
    assert np.isfinite(T).all()
    assert T.shape == (30, n_components)
    np.testing.assert_allclose(model.transform(D), T, atol=1e-10)
    assert np.all(np.diff(np.abs(model.eigenvalues_)) <= 1e-12)
    if n_components == 40:
        np.testing.assert_allclose(squared_distances(T, model.signature_), D**2, atol=1e-9)
        np.testing.assert_array_equal(T[:, 30:], 0.0)
        assert (model.signature_ < 0).any()


def test_it_is_the_eigenproblem_of_classical_scaling(rng):
    _, D = pseudo_euclidean(rng)
    H = np.eye(80) - 1.0 / 80
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    order = np.argsort(-np.abs(values))[:4]
    model = KreinMDS(4).fit(D)
    np.testing.assert_allclose(model.eigenvalues_, values[order], atol=1e-9)
    expected = np.abs(vectors[:, order]) * np.sqrt(np.abs(values[order]))
    np.testing.assert_allclose(np.abs(model.embedding_), expected, atol=1e-7)


def test_it_is_kernel_principal_components_of_the_same_space(rng):
    """On Euclidean distances the axes are those of KreinPCA with a linear kernel."""
    X = rng.normal(size=(50, 3)) * [3.0, 2.0, 1.0]
    linear = krein.KreinNystroem(kernel=lambda A, B: A @ B.T, n_components=3, landmarks=np.eye(3), eigenvalue_tol=0.0)
    components = KreinPCA(linear, 2).fit(X)
    model = KreinMDS(2).fit(cdist(X, X))
    np.testing.assert_allclose(model.eigenvalues_, components.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(components.transform(X)), atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_landmarks_span_the_same_space(seed):
    """Where distances have few axes, a fraction of the objects is enough: coordinates are the same to rounding."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)) * [3.0, 2.0, 1.0]
    D = cdist(X, X)
    everyone, some = KreinMDS(3).fit(D), KreinMDS(3, n_landmarks=20, random_state=seed).fit(D)
    assert some.landmarks_.shape == (20,)
    np.testing.assert_allclose(some.eigenvalues_, everyone.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(some.embedding_), np.abs(everyone.embedding_), atol=1e-6)


def test_rows_and_a_function_are_precomputed_distances(rng):
    X, new = rng.normal(size=(40, 4)), rng.normal(size=(6, 4))

    def city(A, B):
        return cdist(A, B, "cityblock")

    by_rows, by_matrix = KreinMDS(3, metric=Similarity(city, call="blocks")).fit(X), KreinMDS(3).fit(city(X, X))
    np.testing.assert_allclose(by_rows.embedding_, by_matrix.embedding_, atol=1e-9)
    np.testing.assert_allclose(by_rows.transform(new), by_matrix.transform(city(new, X)), atol=1e-9)
    assert not krein.KreinMDS(metric=city).__sklearn_tags__().input_tags.pairwise


def test_in_a_pipeline(rng):
    X = rng.normal(size=(90, 3))
    model = make_pipeline(KreinMDS(3), KNeighborsClassifier(3))
    assert cross_val_score(model, cdist(X, X, "cityblock"), X[:, 0] > 0, cv=3).mean() > 0.8


def test_objects_that_are_all_alike():
    model = KreinMDS(2).fit(np.zeros((5, 5)))
    np.testing.assert_array_equal(model.embedding_, np.zeros((5, 2)))
    np.testing.assert_array_equal(model.signature_, [1.0, 1.0])
    assert KreinMDS().fit_transform(np.zeros((1, 1))).shape == (1, 2)


def test_save_and_load(tmp_path, rng):
    X = rng.normal(size=(30, 2))
    D = cdist(X, X, "cityblock")
    model = KreinMDS(3, n_landmarks=12, random_state=0).fit(D)
    model.save(tmp_path / "mds.krein")
    again = krein.load_model(tmp_path / "mds.krein")
    np.testing.assert_array_equal(again.transform(D), model.transform(D))
    np.testing.assert_array_equal(again.signature_, model.signature_)


def test_refusals(rng):
    D = cdist(*[rng.normal(size=(6, 2))] * 2)
    for options, message in (
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"n_landmarks": "all"}, "n_landmarks must be 'auto' or an integer"),
        ({"metric": "dtv"}, "known are scipy: euclidean"),
        ({"metric": None}, "metric must be 'precomputed', a name"),
    ):
        with pytest.raises(ValueError, match=message):
            KreinMDS(**options).fit(D)
    with pytest.raises(ValueError, match="must be symmetric"):
        KreinMDS().fit(np.triu(D))
    with pytest.raises(ValueError, match="square matrix"):
        KreinMDS().fit(D[:3])


def test_distances_whose_squares_are_no_numbers_are_refused():
    D = np.array([[0.0, 1e183], [1e183, 0.0]])
    with pytest.raises(ValueError, match=r"a distance in X is 1e\+183, whose square no float can hold"):
        KreinMDS(1).fit(D)
    embedding = KreinMDS(1).fit(D / 1e183)
    with pytest.raises(ValueError, match="whose square no float can hold"):
        embedding.transform(D)


def test_words_and_a_metric_by_name_are_saved(tmp_path):
    words = [[1.0], [2.0, 3.0], [4.0], [5.0, 6.0, 7.0]]  # of different lengths, so objects
    model = KreinMDS(1, metric=lengths_apart).fit(words)
    assert not model._has_columns()
    empty = KreinMDS(1, metric="cityblock").fit([[], [], []])
    empty.save(tmp_path / "empty.krein")
    np.testing.assert_array_equal(krein.load_model(tmp_path / "empty.krein").embedding_, empty.embedding_)


def lengths_apart(a, b):
    return abs(len(a) - len(b))
