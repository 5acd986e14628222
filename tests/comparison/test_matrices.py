"""krein.compare on matrices whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
from krein.comparison.matrix_contenders import Dissimilarity, matrix_contenders


@parametrize_with_checks([Dissimilarity()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def signed(n=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (X * [1.0, 1.0, -2.0]) @ X.T


def test_the_negative_axis_is_seen_by_those_that_keep_it():
    X, K = signed()
    found = krein.compare(K, X[:, 2] > 0, folds=3)
    scores = {one.contender.name: one.mean for one in found.summaries()}
    assert found.complete
    assert set(scores) == {one.name for one in matrix_contenders("classification", 40)}
    assert min(scores["krein-ridge"], scores["krein-svc"], scores["svc-flip"]) > 0.85
    assert scores["svc-clip"] < 0.75
    # the machine of Loosli et al. is the one on the flipped matrix
    assert scores["krein-svc"] == pytest.approx(scores["svc-flip"], abs=0.04)
    page = found.page("a matrix", ["three axes"])
    assert "SVC, clip" in page
    assert "ExactKreinSVC" in repr(found)


def test_numbers_are_predicted_as_numbers():
    X, K = signed()
    found = krein.compare(K, X[:, 2], folds=3, methods=["krein-ridge", "svc-clip"])
    assert found.measure == "R²"
    scores = {one.contender.name: one.mean for one in found.summaries()}
    assert scores["krein-ridge"] > 0.9 > scores["svc-clip"]


def test_refusals():
    X, K = signed(20)
    y = X[:, 0] > 0
    bad = K.copy()
    bad[1, 2] = np.nan
    for matrix, labels, options, message in (
        (bad, y, {}, r"missing or infinite entry at \(1, 2\)"),
        (np.triu(K), y, {}, "must be symmetric"),
        (K[:3], y, {}, "square matrix"),
        (K, y[:5], {}, "one entry for each of 20 objects, got 5"),
        (K, y, {"methods": ["svm"]}, "methods must be one of"),
        (K, y, {"task": "ranking"}, "task must be one of"),
        (K, y, {"folds": 1}, "folds must be at least 2"),
    ):
        with pytest.raises(ValueError, match=message):
            krein.compare(matrix, labels, **options)


def test_nearest_is_by_distance_and_not_by_similarity():
    X = np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 1.0, 3.0, 0.5]
    for signs in (np.ones(4), np.array([1.0, 1.0, -1.0, 1.0])):
        squared = ((X[:, None] - X[None]) ** 2 @ signs)[20:, :20]
        K = (X * signs) @ X.T
        found = Dissimilarity().fit(K[:20, :20]).transform(K[20:, :20])
        np.testing.assert_allclose(found, squared - squared.min(axis=1, keepdims=True), atol=1e-12)


def test_neighbors_do_not_depend_on_the_origin():
    """Three groups on a ray: those farthest out are the most similar to all, and each is nearest to its own."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 20)
    X = np.column_stack([1.0 + groups + rng.uniform(-0.2, 0.2, size=60), rng.uniform(-0.2, 0.2, size=60)])
    for points in (X, X - X.mean(axis=0)):
        (found,) = krein.compare(points @ points.T, groups, folds=3, methods=["neighbors"]).summaries()
        assert found.mean == 1.0
