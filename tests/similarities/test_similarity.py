"""One interface for kernels, callables and matrices: the same numbers, the same refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from helpers import frozen
from krein import DistanceKernel, ExactKreinRidge, KreinNystroem
from krein.kernels import NTK, DeltaGaussian, Gaussian
from krein.similarities import (
    BlockSource,
    DirectSource,
    KernelSimilarity,
    PrecomputedSimilarity,
    Similarity,
    as_similarity,
)

KERNEL = DeltaGaussian(1.0, 3.0)
X = frozen(np.random.default_rng(0).normal(size=(50, 3)))


def _by_rows(A, B):
    return KERNEL(A, B)


def _by_pair(a, b):
    return float(KERNEL(a[None], b[None])[0, 0])


KINDS: dict[str, tuple[BlockSource, np.ndarray]] = {
    "kernel": (KernelSimilarity(KERNEL), X),
    "callable": (Similarity(_by_rows), X),
    "pairs": (Similarity(_by_pair), X),
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
    assert isinstance(similarity, DirectSource)
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
    assert as_similarity(_by_rows) == Similarity(_by_rows)
    with pytest.raises(ValueError, match=r"'precomputed', got 'rbf'.*parse_kernel"):
        as_similarity("rbf")
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        as_similarity(3)
    with pytest.raises(ValueError, match="kernel must be a kernel"):
        KernelSimilarity("rbf")
    with pytest.raises(ValueError, match="function must be callable"):
        Similarity(3)


def test_the_constructor_checks():
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        Similarity(_by_pair, n_jobs=0)
    with pytest.raises(TypeError, match="verbose must be True or False"):
        Similarity(_by_pair, verbose="loud")
    with pytest.raises(ValueError, match="call must be one of 'auto', 'pairs', 'blocks'"):
        Similarity(_by_pair, call="rows")
    with pytest.raises(ValueError, match="symmetrize must be one of"):
        Similarity(_by_pair, symmetrize="yes")
    with pytest.raises(TypeError, match="cache must be a path"):
        Similarity(_by_pair, cache=3)
    with pytest.raises(ValueError, match="pass DistanceKernel"):
        Similarity(DistanceKernel("precomputed"))
    with pytest.raises(ValueError, match="pass the kernel itself"):
        Similarity(KERNEL)


@pytest.mark.parametrize("function", [len, lambda a: 1.0, lambda a, b, c: 1.0])
def test_a_function_of_another_number_of_objects_says_so(function):
    """It was called, and the error was that of the first pair."""
    with pytest.raises(ValueError, match=r"called with two objects.*pass a function of two"):
        KreinNystroem(function, 3).fit(["a", "b", "c"])


def test_a_similarity_is_a_function_of_sequences():
    whole = Similarity(_by_pair, call="pairs")(X)
    np.testing.assert_allclose(whole, KERNEL(X), atol=1e-12)
    np.testing.assert_allclose(Similarity(_by_rows)(X[:4], X), KERNEL(X[:4], X), atol=1e-12)


def test_parameters_inside_are_searched():
    model = ExactKreinRidge(Similarity(DistanceKernel(_by_pair), call="pairs"))
    model.set_params(kernel__function__power=2.0, kernel__call="auto")
    assert model.kernel == Similarity(DistanceKernel(_by_pair, power=2.0))
    copied = clone(model)
    assert copied.kernel == model.kernel


def test_names_of_distances_are_distances():
    assert Similarity("cityblock").function == DistanceKernel("cityblock")
    by_name = KreinNystroem("cityblock", 10, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(
        by_name, KreinNystroem(DistanceKernel("cityblock"), 10, random_state=0).fit_transform(X)
    )


def test_a_matrix_is_no_kernel_and_a_class_is_no_instance():
    with pytest.raises(TypeError, match=r"shape \(50, 50\): pass kernel='precomputed'"):
        KreinNystroem(KERNEL(X)).fit(X)
    with pytest.raises(TypeError, match=r"the class Gaussian; write Gaussian\("):
        KreinNystroem(Gaussian).fit(X)
