"""krein.compare on matrices whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
from krein.experiments.side_by_side.matrix_contenders import Dissimilarity, matrix_contenders


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
        (K, y, {"methods": ["svm"]}, "method must be one of"),
        (K, y, {"task": "ranking"}, "task must be one of"),
        (K, y, {"folds": 1}, "folds must be at least 2"),
    ):
        with pytest.raises(ValueError, match=message):
            krein.compare(matrix, labels, **options)


def test_most_similar_is_nearest():
    K = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    step = Dissimilarity().fit(K)
    np.testing.assert_allclose(step.transform([[0.5, 1.2, -1.0]]), [[0.5, 0.0, 2.0]])
