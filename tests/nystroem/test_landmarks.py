"""Which rows become landmarks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import frozen
from krein.kernels import NTK, DeltaGaussian
from krein.nystroem import select_landmarks
from krein.similarities import KernelSimilarity, PrecomputedSimilarity

KERNEL = DeltaGaussian(1.0, 10.0)
X = frozen(np.random.default_rng(0).normal(size=(80, 3)))


def test_auto_averages_rows_only_where_that_means_something(rng):
    similarity = KernelSimilarity(KERNEL)
    known = {tuple(row) for row in X}
    assert not {tuple(row) for row in select_landmarks(similarity, X, 10, "auto", rng)[0]} <= known
    sparse, _ = select_landmarks(similarity, sp.csr_array(X), 10, "auto", rng)
    assert sp.issparse(sparse)
    assert select_landmarks(PrecomputedSimilarity(), KERNEL(X), 10, "auto", rng)[0].shape == (10,)


@pytest.mark.parametrize("rule", ["auto", "pivoted", "uniform", "kmeans"])
def test_all_rows_are_taken_where_no_more_are_there(rng, rule):
    np.testing.assert_array_equal(select_landmarks(KernelSimilarity(KERNEL), X, 100, rule, rng)[0], X)


def test_centers_on_a_sphere_have_unit_length(rng):
    similarity = KernelSimilarity(NTK())
    placed = similarity.place(np.vstack([X, -X]))
    centers, _ = select_landmarks(similarity, placed, 1, "kmeans", rng)  # the mean of all rows is zero
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1.0)


def test_given_rows_and_numbers(rng):
    similarity = KernelSimilarity(KERNEL)
    single = X.astype(np.float32)
    for given in (X[:5], X[:5].tolist(), sp.csr_array(X[:5])):
        landmarks, _ = select_landmarks(similarity, single, 10, given, rng)
        assert landmarks.dtype == np.float32
        assert landmarks.shape == (5, 3)
    with pytest.raises(ValueError, match="landmarks contains NaN"):
        select_landmarks(similarity, X, 10, np.full((2, 3), np.nan), rng)
    with pytest.raises(ValueError, match=r"shape \(n_landmarks, 3\), got shape \(\)"):
        select_landmarks(similarity, X, 10, None, rng)
