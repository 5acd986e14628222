"""Which rows become landmarks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import linalg

from helpers import frozen
from krein.kernels import NTK, DeltaGaussian
from krein.similarities import (
    CallableSimilarity,
    KernelSimilarity,
    PrecomputedSimilarity,
    krein_leverage_scores,
    select_landmarks,
)

KERNEL = DeltaGaussian(1.0, 10.0)
X = frozen(np.random.default_rng(0).normal(size=(80, 3)))


def test_leverage_scores_are_those_of_the_absolute_matrix(rng):
    """With every row a pivot they are exact."""
    scores = krein_leverage_scores(KernelSimilarity(KERNEL), X, np.arange(80), 10, rng)
    values, vectors = linalg.eigh(KERNEL(X))
    ridge = 10.0 * np.sort(np.abs(values))[::-1][10]
    exact = (vectors**2) @ (np.abs(values) / (np.abs(values) + ridge))
    np.testing.assert_allclose(scores, exact, rtol=0.02, atol=1e-4)


def test_scores_of_a_matrix_of_zeros(rng):
    zeros = np.zeros((20, 20))
    assert not krein_leverage_scores(PrecomputedSimilarity(), zeros, np.arange(20), 5, rng).any()
    assert np.unique(select_landmarks(PrecomputedSimilarity(), zeros, 5, "leverage", rng)).size == 5


def test_auto_averages_rows_only_where_that_means_something(rng):
    similarity = KernelSimilarity(KERNEL)
    known = {tuple(row) for row in X}
    assert not {tuple(row) for row in select_landmarks(similarity, X, 10, "auto", rng)} <= known
    by_callable = CallableSimilarity(lambda A, B: A @ B.T)
    assert {tuple(row) for row in select_landmarks(by_callable, X, 10, "auto", rng)} <= known
    sparse = select_landmarks(similarity, sp.csr_array(X), 10, "auto", rng)
    assert sp.issparse(sparse)
    assert select_landmarks(PrecomputedSimilarity(), KERNEL(X), 10, "auto", rng).shape == (10,)


@pytest.mark.parametrize("rule", ["auto", "leverage", "uniform", "kmeans"])
def test_all_rows_are_taken_where_no_more_are_there(rng, rule):
    np.testing.assert_array_equal(select_landmarks(KernelSimilarity(KERNEL), X, 100, rule, rng), X)


def test_centers_on_a_sphere_have_unit_length(rng):
    similarity = KernelSimilarity(NTK())
    placed = similarity.place(np.vstack([X, -X]))
    centers = select_landmarks(similarity, placed, 1, "kmeans", rng)  # the mean of all rows is zero
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1.0)


def test_given_rows_and_numbers(rng):
    similarity = KernelSimilarity(KERNEL)
    single = X.astype(np.float32)
    for given in (X[:5], X[:5].tolist(), sp.csr_array(X[:5])):
        landmarks = select_landmarks(similarity, single, 10, given, rng)
        assert landmarks.dtype == np.float32
        assert landmarks.shape == (5, 3)
    with pytest.raises(ValueError, match="landmarks contains NaN"):
        select_landmarks(CallableSimilarity(lambda A, B: A @ B.T), X, 10, np.full((2, 3), np.nan), rng)
    with pytest.raises(ValueError, match=r"shape \(n_landmarks, 3\), got shape \(\)"):
        select_landmarks(similarity, X, 10, None, rng)
