"""One interface for kernels, callables and matrices: the same numbers, the same refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from helpers import frozen
from krein._core.threads import n_threads, quiet_blas
from krein.kernels import NTK, DeltaGaussian, Gaussian
from krein.similarities import (
    CallableSimilarity,
    KernelSimilarity,
    PrecomputedSimilarity,
    Similarity,
    as_similarity,
)

KERNEL = DeltaGaussian(1.0, 3.0)
X = frozen(np.random.default_rng(0).normal(size=(50, 3)))


def _by_rows(A, B):
    return KERNEL(A, B)


KINDS: dict[str, tuple[Similarity, np.ndarray]] = {
    "kernel": (KernelSimilarity(KERNEL), X),
    "callable": (CallableSimilarity(_by_rows), X),
    "precomputed": (PrecomputedSimilarity(), frozen(KERNEL(X))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_those_of_the_kernel(kind):
    similarity, rows = KINDS[kind]
    placed = similarity.place(rows)
    similarity.check_training(placed)
    some = np.array([4, 17, 30])
    landmarks = similarity.landmarks(placed, some)
    np.testing.assert_allclose(similarity.block(placed[:9], landmarks), KERNEL(X[:9], X[some]), atol=1e-12)
    everyone = similarity.landmarks(placed)
    np.testing.assert_allclose(similarity.block(placed[:9], everyone), KERNEL(X[:9], X), atol=1e-12)
    for chosen, expected in ((landmarks, KERNEL(X[some])), (everyone, KERNEL(X))):
        square = similarity.square(placed, chosen)
        np.testing.assert_allclose(square, expected, atol=1e-12)
        np.testing.assert_array_equal(square, square.T)


def test_rows_on_a_sphere_are_scaled_once():
    similarity = KernelSimilarity(NTK())
    placed = similarity.place(X)
    np.testing.assert_allclose(np.linalg.norm(placed, axis=1), 1.0)
    np.testing.assert_array_equal(similarity.block(placed, placed[:5]), NTK().gram(placed, placed[:5]))


def test_a_symmetric_matrix_that_is_given_is_not_copied():
    matrix = KERNEL(X)
    similarity = PrecomputedSimilarity()
    assert np.shares_memory(similarity.square(matrix, similarity.landmarks(matrix)), matrix)


@pytest.mark.parametrize("size", [7, 16, 64])
def test_a_callable_is_asked_for_each_pair_of_blocks_once(monkeypatch, size):
    monkeypatch.setattr("krein.similarities.similarity._CALLED", size)
    asked = []

    def count(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    square = CallableSimilarity(count).square(X, X)
    np.testing.assert_allclose(square, X @ X.T, atol=1e-14)
    np.testing.assert_array_equal(square, square.T)
    assert sum(asked) <= 50 * (50 + size) / 2 + size**2 / 2


def test_what_a_callable_may_return():
    for function in (
        lambda A, B: sp.csr_array(A @ B.T),
        lambda A, B: (A @ B.T).tolist(),
    ):
        block = CallableSimilarity(function).block(X[:5], X[:4])
        assert isinstance(block, np.ndarray)
        np.testing.assert_allclose(block, X[:5] @ X[:4].T)
    for dtype, kept in ((np.float16, np.float32), (np.float32, np.float32), (int, np.float64), (bool, np.float64)):
        assert CallableSimilarity(lambda A, B, d=dtype: (A @ B.T).astype(d)).block(X, X).dtype == kept


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.ones(3), r"one value per pair of rows, shape \(50, 4\), got \(3,\)"),
        (lambda A, B: (A @ B.T) + 1j, "real numbers, got an array of dtype complex128"),
        (lambda A, B: (A @ B.T).astype(str), "real numbers, got an array of dtype <U"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "returned NaN or infinity"),
    ],
)
def test_what_a_callable_may_not_return(function, message):
    with pytest.raises(ValueError, match=message):
        CallableSimilarity(function).block(X, X[:4])


def test_an_asymmetric_callable_is_found_out_wherever_its_rows_are():
    late = np.where(np.arange(50) > 45, 1.0, 0.0)[:, None]

    def lopsided(A, B):
        return A[:, :3] @ B[:, :3].T + A[:, 3:] * B[:, 0]

    rows = np.hstack([X, late])
    with pytest.raises(ValueError, match="callable returns must be symmetric"):
        CallableSimilarity(lopsided).check_training(rows)
    with pytest.raises(ValueError, match="callable returns must be symmetric"):
        CallableSimilarity(lopsided).square(rows, rows)


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


def test_the_users_function_has_the_callers_blas_threads():
    """A fit is quiet, and the function of a user is no part of it."""
    seen = []

    def product(A, B):
        seen.append(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
        return A @ B.T

    before = max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
    with quiet_blas():
        expected = min(n_threads(), before)
        as_similarity(product).block(X, X)
    assert seen == [expected]
