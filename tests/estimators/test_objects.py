"""Any sequence of objects through every estimator that takes a similarity: strings, ragged series, arrays, tables, graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import krein
from krein import (
    ExactKreinRidge,
    ExactKreinSVC,
    KreinLogistic,
    KreinNystroem,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Similarity,
)
from krein.files.registry import register

N = 60
Y = np.arange(N) % 2


def _words():
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcd" if label else "cdef"), size=rng.integers(3, 9))) for label in Y]


def overlap(a, b):
    """A similarity of two words that is not positive definite."""
    return len(set(a) & set(b)) - 0.3 * abs(len(a) - len(b))


def _series():
    rng = np.random.default_rng(1)
    return [rng.normal(size=rng.integers(5, 12)) + 2.0 * label for label in Y]


def warped(a, b):
    """Distance of two series of any lengths, by their quartiles, and its exponential."""
    quarters = np.linspace(0.0, 1.0, 5)
    return float(np.exp(-np.abs(np.quantile(a, quarters) - np.quantile(b, quarters)).max()))


def _graphs():
    rng = np.random.default_rng(2)
    return [{"nodes": int(rng.integers(4, 9)), "degree": float(rng.normal() + 2 * label)} for label in Y]


def alike(g, h):
    return float(np.exp(-abs(g["degree"] - h["degree"])) - 0.05 * abs(g["nodes"] - h["nodes"]))


def _table():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"color": np.where(Y, "red", "blue"), "size": rng.normal(size=N)})


def gower(a, b):
    return float(a["color"] == b["color"]) + float(np.exp(-abs(a["size"] - b["size"])))


def gower_blocks(A, B):
    same = A["color"].to_numpy()[:, None] == B["color"].to_numpy()
    return same + np.exp(-np.abs(A["size"].to_numpy()[:, None] - B["size"].to_numpy()))


def _images():
    rng = np.random.default_rng(4)
    return rng.normal(size=(N, 4, 5)) + Y[:, None, None]


def picture(a, b):
    return float(np.exp(-np.square(a - b).mean()))


def _objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


CASES = {
    "strings": (_words(), overlap),
    "array of strings": (np.array(_words()), overlap),
    "object array": (_objects(_words()), overlap),
    "tuple": (tuple(_words()), overlap),
    "ragged series": (_series(), warped),
    "ragged object array": (_objects(_series()), warped),
    "3-D array": (_images(), picture),
    "graphs": (_graphs(), alike),
    "table": (_table(), gower),
    "table by blocks": (_table(), gower_blocks),
    "numbers": (np.linspace(0.0, 1.0, N) + Y, lambda a, b: min(a, b)),
}

LEARNERS = {
    "ridge": lambda kernel: KreinRidge(KreinNystroem(kernel, 8, random_state=0)),
    "ridge classifier": lambda kernel: KreinRidgeClassifier(KreinNystroem(kernel, 8, random_state=0)),
    "svc": lambda kernel: KreinSVC(KreinNystroem(kernel, 8, random_state=0), C=1.0),
    "logistic": lambda kernel: KreinLogistic(KreinNystroem(kernel, 8, random_state=0), lam=0.01),
    "exact ridge": lambda kernel: ExactKreinRidge(kernel, lam=0.1),
    "exact svc": lambda kernel: ExactKreinSVC(kernel),
}


def taken(X, rows):
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("case", CASES)
def test_every_learner_learns_from_any_objects(case, learner):
    X, kernel = CASES[case]
    model = LEARNERS[learner](kernel)
    predicted = cross_val_predict(model, X, Y, cv=3)
    assert np.mean((predicted > 0.5) == Y) > 0.75
    fitted = clone(model).fit(X, Y)
    np.testing.assert_allclose(fitted.predict(taken(X, slice(3, 7))), fitted.predict(X)[3:7], atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_maps_of_any_objects(case):
    X, kernel = CASES[case]
    features = KreinNystroem(kernel, N, eigenvalue_tol=1e-12, random_state=0)
    Z = features.fit_transform(X)
    np.testing.assert_allclose(features.transform(X), Z, atol=1e-9)
    gram = krein.similarities.as_similarity(kernel).training(krein.similarities.as_objects(X)).matrix
    np.testing.assert_allclose((Z * features.signature_) @ Z.T, gram, atol=1e-7)
    scores = KreinPCA(KreinNystroem(kernel, N, random_state=0), n_components=2).fit_transform(X)
    assert scores.shape == (N, 2)


def test_searches_pipelines_and_calibration():
    X, kernel = CASES["ragged series"]
    search = GridSearchCV(
        KreinRidgeClassifier(KreinNystroem(kernel, random_state=0)), {"kernel__n_components": [2, 8]}, cv=3
    )
    assert search.fit(X, Y).best_score_ > 0.75
    piped = make_pipeline(KreinNystroem(kernel, 8, random_state=0), LinearSVC())
    assert cross_val_score(piped, X, Y, cv=3).mean() > 0.75
    calibrated = CalibratedClassifierCV(KreinSVC(KreinNystroem(kernel, 8, random_state=0), C=1.0), cv=3).fit(X, Y)
    assert calibrated.predict_proba(X[:5]).shape == (5, 2)


def counted_calls(function):
    """The function, and the pairs it is called with; a function is itself in clones of an estimator."""
    seen = []

    def counted(a, b):
        seen.append((id(a), id(b)))
        return function(a, b)

    return counted, seen


@pytest.mark.parametrize("n_components", [1, 2, 3, 5, 12, 40])
@pytest.mark.parametrize("case", ["strings", "graphs", "ragged series"])
def test_a_fit_and_its_features_take_no_more_than_one_column_beyond_the_landmarks(case, n_components):
    """With a constant and with a varying diagonal; the features that a learner trains on come with the fit."""
    X, kernel = CASES[case]
    counted, seen = counted_calls(kernel)
    model = KreinRidge(KreinNystroem(Similarity(counted, call="pairs"), n_components, random_state=0)).fit(X, Y)
    assert len(seen) == model.features_.transformer.n_evaluations_ <= (n_components + 1) * N
    assert len(set(seen)) == len(seen)  # no ordered pair twice
    seen.clear()
    model.predict(X[:7])
    assert len(seen) == 7 * n_components


@pytest.mark.parametrize("learner", ["ridge classifier", "svc", "logistic"])
def test_no_learner_evaluates_again_what_its_map_was_fitted_with(learner):
    X, kernel = CASES["strings"]
    counted, seen = counted_calls(kernel)
    model = LEARNERS[learner](Similarity(counted, call="pairs")).fit(X, Y)
    assert len(seen) == model.features_.transformer.n_evaluations_ <= 9 * N


def test_an_exact_model_evaluates_each_unordered_pair_once_but_for_the_test_of_symmetry():
    X, kernel = CASES["strings"]
    counted, seen = counted_calls(kernel)
    model = ExactKreinRidge(Similarity(counted, call="pairs"), lam=0.1).fit(X, Y)
    assert len(seen) == model.n_evaluations_ == N * (N + 1) // 2 + 18 * 17 // 2 < 1.1 * N * (N + 1) // 2
    assert len(set(seen)) == len(seen)


def test_given_landmarks_are_objects_or_their_numbers():
    X, kernel = CASES["strings"]
    numbers = np.array([5, 2, 30, 44])
    by_number = KreinNystroem(kernel, 4, landmarks=numbers, eigenvalue_tol=1e-12).fit(X)
    by_object = KreinNystroem(kernel, 4, landmarks=[X[i] for i in numbers], eigenvalue_tol=1e-12).fit(X)
    assert by_number.landmarks_ == by_object.landmarks_ == [X[i] for i in numbers]
    np.testing.assert_allclose(by_number.transform(X), by_object.transform(X), atol=1e-10)
    for wrong, message in (([0, 99], "indices from 0 to 59"), ([1, 1], "twice"), ([], "at least one object")):
        with pytest.raises(ValueError, match=message):
            KreinNystroem(kernel, 4, landmarks=wrong).fit(X)
    with pytest.raises(ValueError, match="kmeans"):
        KreinNystroem(kernel, 4, landmarks="kmeans").fit(X)


def test_a_precomputed_block_of_similarities_to_landmarks():
    X, kernel = CASES["strings"]
    rows = np.array([1, 7, 20, 33, 50])
    block = np.array([[kernel(x, X[i]) for i in rows] for x in X])
    by_call = KreinNystroem(kernel, 5, landmarks=rows, eigenvalue_tol=1e-12).fit(X)
    by_rows = KreinNystroem("precomputed", 5, landmarks=rows, eigenvalue_tol=1e-12).fit(block)
    by_matrix = KreinNystroem("precomputed", 5, landmarks=block[rows], eigenvalue_tol=1e-12).fit(block)
    for other in (by_rows, by_matrix):
        np.testing.assert_allclose(other.transform(block[:9]), by_call.transform(X[:9]), atol=1e-10)
        assert other.n_evaluations_ == 0
    assert (
        cross_val_score(KreinRidgeClassifier(KreinNystroem("precomputed", 5, landmarks=block[rows])), block, Y).mean()
        > 0.7
    )
    with pytest.raises(ValueError, match="5 numbers of rows"):
        KreinNystroem("precomputed", 5, landmarks=np.ones((2, 3))).fit(block)


@pytest.mark.parametrize(
    "make", [lambda k: KreinNystroem(k, 3), lambda k: KreinRidge(KreinNystroem(k, 3)), ExactKreinRidge]
)
def test_sequences_that_are_none_and_those_of_length_0_and_1(make):
    with pytest.raises(ValueError, match=r"0 (objects|sample)"):
        make(overlap).fit([], [])
    for wrong in ("word", 3, {"a": 1}, {"a", "b"}, iter(["a"])):
        with pytest.raises(TypeError, match="sequence of objects"):
            make(overlap).fit(wrong, [0.0])
    assert make(overlap).fit(["word"], [1.0]) is not None


def test_rows_of_weight_zero_are_not_there():
    X, kernel = CASES["strings"]
    weight = np.ones(N)
    weight[10:20] = 0.0
    present = np.flatnonzero(weight)
    features = KreinNystroem(kernel, 8, random_state=0)
    weighted = KreinRidge(features, lam=0.1).fit(X, Y, sample_weight=weight)
    without = KreinRidge(features, lam=0.1).fit([X[i] for i in present], Y[present])
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-10)


def test_more_objects_can_be_learned_from_later():
    X, kernel = CASES["strings"]
    features = KreinNystroem(kernel, landmarks=np.arange(8), n_components=8, eigenvalue_tol=1e-10)
    parts = KreinRidge(features, lam=0.1).partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    whole = KreinRidge(features, lam=0.1).fit(X, Y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-8)
    with pytest.raises(TypeError, match="fit_chunks takes rows of numbers"):
        KreinRidge(features).fit_chunks([(X, Y)])


def test_tags_say_that_objects_are_taken():
    for model in (KreinNystroem(overlap), KreinSVC(KreinNystroem(overlap)), ExactKreinSVC(overlap)):
        tags = model.__sklearn_tags__().input_tags
        assert tags.string
        assert tags.three_d_array
        assert not tags.pairwise
    assert not KreinNystroem().__sklearn_tags__().input_tags.string


def test_a_function_cannot_be_saved_and_says_so(tmp_path):
    model = KreinRidge(KreinNystroem(overlap, 3)).fit(_words(), Y)
    with pytest.raises(krein._core.errors.ModelFileError, match="kernel"):
        model.save(tmp_path / "model.krein")


@register("test.letters")
@dataclass(frozen=True)
class Letters:
    """A similarity that can be stored: an object of a registered class."""

    scale: float = 1.0

    def __call__(self, a, b):
        return self.scale * overlap(a, b)


@pytest.mark.parametrize("case", ["strings", "array of strings", "ragged series", "3-D array", "graphs"])
def test_a_registered_similarity_can_be_saved_with_its_landmarks(tmp_path, case):
    X, kernel = CASES[case]
    named = {overlap: Letters(2.0), warped: Quantiles(), picture: Pictures(), alike: Degrees()}[kernel]
    for model in (KreinRidge(KreinNystroem(named, 5, random_state=0), lam=0.1), ExactKreinRidge(named, lam=0.1)):
        model.fit(X, Y).save(tmp_path / "model.krein")
        loaded = krein.load_model(tmp_path / "model.krein")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def _registered(tag, function):
    @register(tag)
    @dataclass(frozen=True)
    class Named:
        def __call__(self, a, b):
            return function(a, b)

    return Named


Quantiles, Pictures, Degrees = (
    _registered(f"test.{function.__name__}", function) for function in (warped, picture, alike)
)
