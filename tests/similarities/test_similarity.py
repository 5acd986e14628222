"""One interface for kernels, callables and matrices: the same numbers, the same refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import krein
from helpers import frozen
from krein import (
    DistanceKernel,
    ExactKreinRidge,
    ExactKreinSVC,
    KreinMDS,
    KreinNystroem,
    KreinRidge,
    KreinRidgeClassifier,
)
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
    assert np.shares_memory(similarity.square(matrix, None), matrix)


def test_as_similarity():
    assert as_similarity(None) == KernelSimilarity(DeltaGaussian())
    assert as_similarity(Gaussian(2.0)) == KernelSimilarity(Gaussian(2.0))
    assert as_similarity("precomputed") == PrecomputedSimilarity()
    assert as_similarity(_by_rows) == Similarity(_by_rows)
    assert as_similarity("gaussian(2)") == KernelSimilarity(Gaussian(2.0))
    assert as_similarity("NTK") == KernelSimilarity(NTK())
    assert as_similarity("msm") == Similarity(DistanceKernel("msm"))
    with pytest.raises(ValueError, match=r"got 'rbf'; did you mean 'gaussian'"):
        as_similarity("rbf")
    with pytest.raises(ValueError, match=r"got 'levenstein'; did you mean 'levenshtein'"):
        as_similarity("levenstein")
    with pytest.raises(ValueError, match=r"got 'zzz': unknown kernel.*known kernels: gaussian"):
        as_similarity("zzz")
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


def test_names_of_kernels_are_kernels():
    by_name = KreinNystroem("delta-gaussian(1, 3)", 10, random_state=0).fit(X)
    assert by_name.kernel_ == KERNEL
    np.testing.assert_array_equal(by_name.transform(X), KreinNystroem(KERNEL, 10, random_state=0).fit_transform(X))
    assert ExactKreinRidge("ntk").fit(X, X[:, 0]).similarity_ == KernelSimilarity(NTK())


WORDS = ["ant", "bee", "cat", "dog", "eel", "fly"]
SETS = [set(word) for word in WORDS]
CHANNELS = np.random.default_rng(0).normal(size=(6, 2, 9))
DISTANCES = np.abs(X[:, None] - X).sum(axis=2)

# what is tried, and the sentence that says what to do
MISTAKES = {
    "a matrix for a kernel": (lambda: KreinNystroem(KERNEL(X)).fit(X), r"shape \(50, 50\): pass 'precomputed'"),
    "a list of lists for a kernel": (lambda: KreinNystroem(DISTANCES.tolist()).fit(X), r"shape \(50, 50\): pass 'prec"),
    "a matrix for a distance": (lambda: DistanceKernel(DISTANCES), r"shape \(50, 50\): pass 'precomputed'"),
    "a class": (lambda: KreinNystroem(Gaussian).fit(X), r"the class Gaussian; write Gaussian\("),
    "a function of one": (lambda: KreinNystroem(len).fit(WORDS), r"called with two objects.*pass a function of two"),
    "rows to be scaled": (lambda: KreinMDS().fit(X), r"square matrix of distances.*\(50, 3\).*such as 'euclidean'"),
    "sets to a distance of rows": (
        lambda: KreinNystroem("hamming", 3).fit(SETS),
        r"'hamming' is of rows.*'jaccard' for sets",
    ),
    "strings to a distance of rows": (
        lambda: KreinNystroem("cosine", 3).fit(WORDS),
        r"type str; 'levenshtein' is for str",
    ),
    "rows to a distance of strings": (
        lambda: KreinNystroem("jaro", 3).fit(X),
        r"'jaro' is of strings.*\(50, 3\); pass a list",
    ),
    "strings to a distance of series": (
        lambda: KreinNystroem("dtw", 3).fit(WORDS),
        r"'dtw' is of series.*'levenshtein'",
    ),
    "channels without a distance": (
        lambda: KreinNystroem().fit(CHANNELS),
        r"shape \(6, 2, 9\).*name a distance as kernel, such as 'msm'",
    ),
    "channels to a learner": (
        lambda: KreinRidge().fit(CHANNELS, range(6)),
        r"name a distance as kernel, such as 'msm'",
    ),
    "strings without a distance": (lambda: KreinNystroem().fit(WORDS), r"name a distance as kernel.*'levenshtein'"),
    "strings to a learner": (lambda: KreinRidge().fit(WORDS, range(6)), r"got strings; name a distance.*'levenshtein'"),
    "strings to an exact learner": (lambda: ExactKreinRidge().fit(WORDS, range(6)), r"'levenshtein' for strings"),
    "a kernel without a dimension": (lambda: krein.diagnose("ntk"), r"number of columns.*diagnose\('ntk', dim=16\)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_with_what_to_do(mistake):
    attempt, sentence = MISTAKES[mistake]
    with pytest.raises((TypeError, ValueError), match=sentence) as told:
        attempt()
    assert len(str(told.value)) < 450


def test_a_diagnosis_by_name():
    assert krein.diagnose("gaussian", dim=3).positive_definite


def test_sets_have_a_distance():
    features = KreinNystroem("jaccard", 6, random_state=0).fit(SETS)
    expected = [[len(a ^ b) / len(a | b) for b in SETS] for a in SETS]
    np.testing.assert_allclose(DistanceKernel("jaccard").function(SETS, SETS), expected, atol=1e-15)
    K = features.kernel_.similarity(np.array(expected))
    np.testing.assert_allclose(features.approximate(SETS), K, atol=1e-9)  # all are landmarks


class Seen:
    """A similarity that remembers what it was called with."""

    def __init__(self):
        self.kinds = set()

    def __call__(self, a, b):
        self.kinds |= {(type(one).__name__, str(getattr(one, "dtype", ""))) for one in (a, b)}
        return float(np.sum(np.asarray(a) == np.asarray(b)))


LEARNERS = {
    "exact": ExactKreinSVC,
    "landmarks": lambda kernel: KreinRidgeClassifier(KreinNystroem(kernel, 4, random_state=0)),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", ["bool", "int8", "uint64", "float32", "table"])
def test_rows_reach_the_function_as_they_were_given(kind, learner):
    rows = np.random.default_rng(0).integers(2, size=(20, 5)).astype("int32" if kind == "table" else kind)
    if kind == "table":
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=list("abcde"))
    seen = Seen()
    model = LEARNERS[learner](Similarity(seen, call="pairs")).fit(rows, np.arange(20) % 2)
    model.predict(rows[:3])
    assert seen.kinds == {("Series", "int32") if kind == "table" else ("ndarray", kind)}
    assert model.n_features_in_ == 5
    with pytest.raises(ValueError, match=r"4 features|feature names"):
        model.predict(rows.iloc[:, :4] if kind == "table" else rows[:, :4])


def test_centers_and_given_landmarks_of_whole_numbers_keep_their_fractions():
    rows = np.random.default_rng(0).integers(5, size=(30, 2))

    def near(A, B):
        return np.exp(-np.abs(np.asarray(A)[:, None] - np.asarray(B)).sum(axis=2))

    found = KreinNystroem(near, 3, landmarks="kmeans", random_state=0).fit(rows)
    as_floats = KreinNystroem(near, 3, landmarks="kmeans", random_state=0).fit(rows.astype(float))
    np.testing.assert_array_equal(found.landmarks_, as_floats.landmarks_)
    given = KreinNystroem(near, 2, landmarks=np.array([[0.5, 0.5], [3.5, 2.5]])).fit(rows)
    np.testing.assert_array_equal(given.landmarks_, [[0.5, 0.5], [3.5, 2.5]])
