"""One interface for kernels, callables and matrices: the same numbers, the same refusals."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import frozen
from krein.kernels import NTK, DeltaGaussian, Gaussian
from krein.similarities import CallableSimilarity, KernelSimilarity, PrecomputedSimilarity, Similarity, as_similarity
from krein.similarities.similarity import DirectSimilarity

KERNEL = DeltaGaussian(1.0, 3.0)
X = frozen(np.random.default_rng(0).normal(size=(50, 3)))


def _by_rows(A, B):
    return KERNEL(A, B)


def _by_pair(a, b):
    return float(KERNEL(a[None], b[None])[0, 0])


KINDS: dict[str, tuple[Similarity, np.ndarray]] = {
    "kernel": (KernelSimilarity(KERNEL), X),
    "callable": (CallableSimilarity(_by_rows), X),
    "pairs": (CallableSimilarity(_by_pair), X),
    "precomputed": (PrecomputedSimilarity(), frozen(KERNEL(X))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_those_of_the_kernel(kind):
    similarity, rows = KINDS[kind]
    placed = similarity.place(rows)
    trained = similarity.training(placed)
    np.testing.assert_allclose(trained.matrix, KERNEL(X), atol=1e-12)
    np.testing.assert_array_equal(trained.matrix, trained.matrix.T)
    np.testing.assert_allclose(trained.similarity.block(placed[:9], trained.rows), KERNEL(X[:9], X), atol=1e-12)


@pytest.mark.parametrize("kind", ["kernel", "precomputed"])
def test_landmarks_are_rows_or_their_numbers(kind):
    similarity, rows = KINDS[kind]
    placed = similarity.place(rows)
    assert isinstance(similarity, DirectSimilarity)
    some = np.array([4, 17, 30])
    landmarks = similarity.landmarks(placed, some)
    np.testing.assert_allclose(similarity.block(placed[:9], landmarks), KERNEL(X[:9], X[some]), atol=1e-12)
    np.testing.assert_allclose(similarity.square(placed, landmarks), KERNEL(X[some]), atol=1e-12)
    np.testing.assert_allclose(similarity.self_similarities(placed, some), KERNEL.radial(np.zeros(3)), atol=1e-12)


def test_rows_on_a_sphere_are_scaled_once():
    similarity = KernelSimilarity(NTK())
    placed = similarity.place(X)
    np.testing.assert_allclose(np.linalg.norm(placed, axis=1), 1.0)
    np.testing.assert_array_equal(similarity.block(placed, placed[:5]), NTK().gram(placed, placed[:5]))


def test_a_symmetric_matrix_that_is_given_is_not_copied():
    matrix = KERNEL(X)
    similarity = PrecomputedSimilarity()
    assert np.shares_memory(similarity.square(matrix, similarity.landmarks(matrix)), matrix)


def test_as_similarity():
    assert as_similarity(None) == KernelSimilarity(DeltaGaussian())
    assert as_similarity(Gaussian(2.0)) == KernelSimilarity(Gaussian(2.0))
    assert as_similarity("precomputed") == PrecomputedSimilarity()
    assert as_similarity(_by_rows) == CallableSimilarity(_by_rows)
    with pytest.raises(ValueError, match="'precomputed', got 'rbf'"):
        as_similarity("rbf")
    for wrong in (3, DeltaGaussian):
        with pytest.raises(TypeError, match="kernel must be a kernel"):
            as_similarity(wrong)
    with pytest.raises(ValueError, match="kernel must be a kernel"):
        KernelSimilarity("rbf")
    with pytest.raises(ValueError, match="function must be callable"):
        CallableSimilarity("rbf")
