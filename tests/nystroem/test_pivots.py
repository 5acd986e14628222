"""Landmarks where the similarity is explained least: few of them explain a matrix of low rank, whatever its signs."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.representatives import pivoted_rows
from krein.kernels import DeltaGaussian
from krein.nystroem.candidate_columns import DirectColumns
from krein.similarities import KernelSimilarity, PrecomputedSimilarity


def sought(K, count, seed=0):
    columns = DirectColumns(PrecomputedSimilarity(), K, np.arange(K.shape[0]))
    return pivoted_rows(columns, count, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (1, -1, 1, -1), (-1, -1, -1, -1)])
def test_as_many_landmarks_as_the_rank_explain_everything(signs, seed):
    """In general position any such number of rows would do; here half of the rows are alike, and two are needed from the rest."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 4))
    A[30:] = A[30] + 1e-3 * rng.normal(size=(30, 4)) * np.array([0.0, 0.0, 1.0, 0.0])
    K = (A * np.array(signs)) @ A.T
    rows = sought(K, 6, seed)
    assert np.unique(rows).size == 6
    explained = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-12) @ K[rows]
    np.testing.assert_allclose(explained, K, atol=1e-6 * np.abs(K).max())


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_stand_alone_are_found(seed):
    """Nine clusters of very different sizes, one row of which is as good as all: nine landmarks find almost all of them."""
    sizes = [200, 60, 20, 8, 4, 2, 1, 1, 1]
    which = np.repeat(np.arange(9), sizes)
    K = (which[:, None] == which).astype(float)
    rows = sought(K, 9, seed)
    assert np.unique(which[rows]).size == 9


@pytest.mark.parametrize("seed", range(3))
def test_a_diagonal_of_zeros_says_nothing_and_does_no_harm(seed):
    X = np.random.default_rng(seed).normal(size=(200, 2))
    K = -np.linalg.norm(X[:, None] - X, axis=2)
    rows = sought(K, 40, seed)
    assert np.unique(rows).size == 40
    explained = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)]) @ K[rows]
    alike = [np.random.default_rng(i).choice(200, 40, replace=False) for i in range(9)]
    others = [K[:, other] @ np.linalg.pinv(K[np.ix_(other, other)]) @ K[other] for other in alike]
    assert np.linalg.norm(explained - K) < np.mean([np.linalg.norm(other - K) for other in others])


def test_nothing_to_explain():
    assert np.unique(sought(np.zeros((20, 20)), 7)).size == 7
    assert np.unique(sought(np.ones((20, 20)), 20)).size == 20


@pytest.mark.parametrize("seed", range(3))
def test_pivots_beat_rows_drawn_alike(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(scale=0.05, size=(900, 3)), rng.normal(scale=2.0, size=(100, 3))])
    kernel = DeltaGaussian(1.0, 10.0)
    K = kernel(X)

    def error(rows):
        root = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-10)
        return np.linalg.norm(root @ K[rows] - K)

    columns = [DirectColumns(KernelSimilarity(kernel), X, np.arange(1000)) for _ in range(9)]
    pivoted = np.median([error(pivoted_rows(one, 60, rng)) for one in columns])  # a single one may be nearly singular
    uniform = np.median([error(rng.choice(1000, 60, replace=False)) for _ in range(9)])
    assert pivoted < uniform
    assert max(one.count for one in columns) < 60 * 1000 + 1000 + 60**2 * 4
