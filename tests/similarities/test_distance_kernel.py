"""Functions of distances: formulas, what is learned, names, and learners on objects."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import krein
from krein import (
    DistanceKernel,
    ExactKreinRidge,
    ExactKreinSVC,
    KreinMDS,
    KreinNystroem,
    KreinPCA,
    KreinRidgeClassifier,
    Similarity,
)
from krein.learning.distance_choice import best_form, best_form_by_landmarks
from krein.learning.strengths import RIDGES
from krein.nystroem.spectrum import cut_by_halves, signed_root, signed_spectrum
from krein.similarities.metrics import METRICS, metric_source, named_metric


def lengths(a: str, b: str) -> float:
    """A distance of words: letters that only one of them has, and the difference of lengths."""
    return len(set(a) ^ set(b)) + abs(len(a) - len(b))


def words(n=60, seed=0):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    letters = [list("abcdefg"), list("defghij")]
    return ["".join(rng.choice(letters[one], size=rng.integers(3, 8))) for one in label], label


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("exponential", lambda z: np.exp(-z)),
        ("negative", lambda z: -z),
        ("rational", lambda z: 1 / (1 + z)),
        ("log", lambda z: -np.log(1 + z)),
        ("distance", lambda z: z),
    ],
)
@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_forms(form, expected, power, rng):
    d = rng.uniform(0.0, 5.0, size=(4, 3))
    found = DistanceKernel("precomputed", power, 2.0, form=form).similarity(d)
    np.testing.assert_allclose(found, expected((d / 2.0) ** power), rtol=1e-12)


def test_the_median_is_learned_from_training_objects(rng):
    X = rng.normal(size=(50, 2))
    D = cdist(X, X, "cityblock")
    middle = np.median(D[np.triu_indices(50, 1)])
    model = ExactKreinSVC(DistanceKernel("precomputed")).fit(D, X[:, 0] > 0)
    assert model.similarity_.kernel.scale == pytest.approx(middle)
    by_rows = ExactKreinSVC(DistanceKernel("cityblock")).fit(X, X[:, 0] > 0)
    assert by_rows.similarity_.function.scale == pytest.approx(middle)
    new = rng.normal(size=(9, 2))
    np.testing.assert_array_equal(by_rows.predict(new), model.predict(cdist(new, X, "cityblock")))
    kernel = DistanceKernel("precomputed")
    assert kernel.fitted(np.array([0.0, 0.0, 0.0, 3.0])).scale == 3.0
    assert kernel.fitted(np.zeros(4)).scale == 1.0


def test_parameters_are_searched_with_distances_computed_once(rng):
    X = rng.normal(size=(60, 2))
    D, y = cdist(X, X, "cityblock"), X[:, 0] * X[:, 1] > 0
    grid = {"kernel__power": [0.5, 1.0, 2.0], "kernel__scale": ["median", 1.0]}
    search = GridSearchCV(ExactKreinSVC(DistanceKernel("precomputed"), C=10.0), grid, cv=3).fit(D, y)
    assert search.best_score_ > 0.8
    again = clone(search.best_estimator_)
    assert again.kernel == search.best_estimator_.kernel


@pytest.mark.parametrize("seed", range(3))
def test_power_and_scale_from_labels(seed):
    """The choice is the best of all candidates by an independent count of the same folds, and every pair is evaluated once."""
    X, y = words(seed=seed)
    calls = []

    def counted(a, b):
        calls.append((a, b))
        return lengths(a, b)

    model = ExactKreinSVC(Similarity(DistanceKernel(counted, power="auto", scale="auto"), call="pairs"), C=100.0).fit(
        X, y
    )
    assert model.n_evaluations_ < len(X) ** 2  # each pair once, and some to see whether it is symmetric
    assert len(calls) == model.n_evaluations_
    chosen = model.similarity_.function
    assert not chosen.needs_fit
    assert model.score(X, y) > 0.9
    D = np.array([[lengths(a, b) for b in X] for a in X], dtype=float)
    forms = DistanceKernel("precomputed", "auto", "auto").candidates(D[np.triu_indices(len(X), 1)])
    targets = np.where(y[:, None] == [0, 1], 1.0, -1.0)
    folds = np.random.Generator(np.random.PCG64(0))  # the estimator's own, whatever seed the tests have
    best, errors = best_form(D, targets, forms, lambda form, d: form.similarity(d), folds)
    assert errors.argmin() == best
    assert (chosen.power, chosen.scale) == (forms[best].power, forms[best].scale)


def test_power_from_numbers(rng):
    X = rng.normal(size=(80, 2))
    D, y = cdist(X, X), np.sin(2 * X[:, 0])
    model = ExactKreinRidge(DistanceKernel("precomputed", power="auto", scale="auto")).fit(D, y)
    assert model.similarity_.kernel.power >= 1.5  # a smooth target wants a smooth similarity
    new = rng.normal(size=(40, 2)) * 0.7
    truth = np.sin(2 * new[:, 0])
    assert np.square(model.predict(cdist(new, X)) - truth).mean() < 0.1 * truth.var()


def test_labels_are_needed_for_auto():
    X, _ = words()
    for features in (
        KreinNystroem(Similarity(DistanceKernel(lengths, power="auto"), call="pairs"), 10),
        KreinPCA(KreinNystroem(Similarity(DistanceKernel(lengths, scale="auto"), call="pairs"), 10), 2),
    ):
        with pytest.raises(ValueError, match="need labels"):
            features.fit(X)


@pytest.mark.parametrize("landmarks", [20, 80, "given"])
def test_power_and_scale_by_landmarks(landmarks):
    """Distances once: as many evaluations as without a choice, and landmarks among all objects, most of them, or none."""
    X, y = words(100)
    calls = []

    def counted(a, b):
        calls.append((a, b))
        return lengths(a, b)

    options = {"random_state": 0}
    if landmarks == "given":
        options["landmarks"], landmarks = X[:20], 20
        X, y = X[20:], y[20:]
    features = KreinNystroem(Similarity(DistanceKernel(counted, "auto", "auto"), call="pairs"), landmarks, **options)
    model = KreinRidgeClassifier(features).fit(X, y)
    assert (
        len(calls)
        == model.features_.transformer.n_evaluations_
        <= (landmarks + 1) * len(X) + landmarks * (landmarks + 1)
    )
    chosen = model.features_.transformer.kernel_
    assert not chosen.needs_fit
    assert model.score(X, y) > 0.9
    assert cross_val_score(clone(model), X, y, cv=3).mean() > 0.8
    alone = clone(features).fit(X, y)
    assert (alone.kernel_.power, alone.kernel_.scale) == (chosen.power, chosen.scale)


def test_power_by_landmarks_from_numbers(rng):
    X = rng.normal(size=(300, 2))
    y = np.sin(2 * X[:, 0])
    by_name = KreinNystroem(DistanceKernel("euclidean", power="auto", scale="auto"), 40, random_state=0).fit(X, y)
    assert by_name.kernel_.power >= 1.5  # a smooth target wants a smooth similarity
    by_matrix = KreinNystroem(DistanceKernel("precomputed", power="auto", scale="auto"), 40).fit(cdist(X, X), y)
    assert by_matrix.kernel_.power >= 1.5
    with pytest.raises(ValueError, match="between all training objects"):
        clone(by_matrix).set_params(landmarks=np.arange(40)).fit(cdist(X, X[:40]), y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        clone(by_name).fit(X, y[:-1])


def test_leave_one_out_by_landmarks_is_what_refits_give(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=(60, 1))
    D, scored = cdist(X, X[:10]), np.arange(10, 60)
    form = DistanceKernel("precomputed", 1.0, 1.0)
    _, errors = best_form_by_landmarks(
        D, D[:10], y, scored, [form], lambda one, d: one.similarity(d), np.random.default_rng(0)
    )
    K = form.similarity(D)
    tol = cut_by_halves(K[np.r_[scored, :10]], K[:10], np.random.default_rng(0), 8, 256)
    Z = K @ signed_root(signed_spectrum(K[:10]), tol)[0]
    size = np.linalg.eigvalsh(np.cov(Z.T, bias=True) * 60).mean()
    totals = []
    for ridge in RIDGES * size:
        total = 0.0
        for i in scored:
            rest = np.delete(np.arange(60), i)
            middle, mean = Z[rest].mean(axis=0), y[rest].mean()
            A = Z[rest] - middle
            w = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ (y[rest, 0] - mean))
            total += (y[i, 0] - mean - (Z[i] - middle) @ w) ** 2
        totals.append(total)
    np.testing.assert_allclose(errors, min(totals) / np.square(y[scored] - y.mean()).sum(), rtol=1e-8)


def test_landmarks_of_objects():
    X, y = words(90)
    model = KreinRidgeClassifier(KreinNystroem(Similarity(DistanceKernel(lengths), call="pairs"), 30, random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8


def test_scaling_of_objects():
    X, _ = words(40)
    D = np.array([[lengths(a, b) for b in X] for a in X], dtype=float)
    by_words, by_matrix = (
        KreinMDS(3, metric=Similarity(lengths, call="pairs")).fit(X[:30]),
        KreinMDS(3).fit(D[:30, :30]),
    )
    np.testing.assert_allclose(by_words.embedding_, by_matrix.embedding_, atol=1e-9)
    np.testing.assert_allclose(by_words.transform(X[30:]), by_matrix.transform(D[30:, :30]), atol=1e-9)
    some = KreinMDS(2, metric=Similarity(DistanceKernel(lengths), call="pairs"), n_landmarks=10, random_state=0).fit(X)
    np.testing.assert_allclose(some.transform(X), some.embedding_, atol=1e-9)
    named = KreinMDS(2, metric="cityblock").fit(D[:, :4])
    assert named.embedding_.shape == (40, 2)


def test_save_and_load(tmp_path, rng):
    X = rng.normal(size=(30, 2))
    model = ExactKreinSVC(DistanceKernel("cityblock", power="auto", scale="auto")).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "model.krein")
    again = krein.load_model(tmp_path / "model.krein")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_names():
    for package, names in METRICS.items():
        for name in names:
            assert metric_source(name) == package
    X = [[0.0, 1.0], [2.0, 3.0]]
    np.testing.assert_allclose(named_metric("minkowski", {"p": 1})(X, X), [[0, 4], [4, 0]])
    with pytest.raises(ValueError, match=r"known are scipy: euclidean.*rapidfuzz: levenshtein"):
        DistanceKernel("edit")


@pytest.mark.parametrize("name", ["msm", "levenshtein"])
def test_a_package_that_is_not_installed(name, monkeypatch):
    monkeypatch.setattr("krein.similarities.metrics.find_spec", lambda package: None)
    with pytest.raises(ImportError, match="install it with: pip install"):
        named_metric(name)


def test_distances_of_series_and_strings():
    """Where aeon and rapidfuzz are installed."""
    pytest.importorskip("rapidfuzz")
    np.testing.assert_array_equal(named_metric("levenshtein")(["kitten", "abc"], ["sitting"]), [[3.0], [7.0]])
    pytest.importorskip("aeon")
    ragged = [np.arange(5.0), np.arange(7.0)[::-1]]
    D = named_metric("msm")(ragged, ragged)
    assert D[0, 0] == D[1, 1] == 0.0
    assert D[0, 1] == pytest.approx(D[1, 0])
    assert named_metric("dtw", {"window": 0.1})(np.ones((2, 1, 9)), np.zeros((3, 1, 9))).shape == (2, 3)


SERIES = ("dtw", "msm", "twe", "erp", "lcss")


@pytest.mark.parametrize("name", SERIES)
def test_series_that_happen_to_have_equal_lengths(name, rng):
    """A few of many lengths are compared as they are among all: aeon takes an array of them for channels of one series."""
    pytest.importorskip("aeon")
    ragged = [rng.normal(size=length) for length in rng.integers(10, 13, size=30)]
    distance = named_metric(name)
    D = distance(ragged, ragged)
    for one, other in itertools.product(
        ([0], [3, 4], [*range(9)], np.flatnonzero([s.size == 11 for s in ragged])), repeat=2
    ):
        few = distance([ragged[i] for i in one], [ragged[i] for i in other])
        np.testing.assert_allclose(few, D[np.ix_(one, other)], rtol=1e-12)
    model = ExactKreinSVC(DistanceKernel(name)).fit(ragged, np.arange(30) % 2)
    alike = np.flatnonzero([s.size == 10 for s in ragged])[:2]
    expected = model.decision_function(ragged)[alike]
    np.testing.assert_allclose(model.decision_function([ragged[i] for i in alike]), expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_landmarks_of_series_of_nearly_equal_lengths(seed):
    pytest.importorskip("aeon")
    rng = np.random.default_rng(seed)
    ragged = [rng.normal(size=length) for length in rng.integers(10, 13, size=60)]
    assert KreinNystroem(DistanceKernel("dtw"), 30, random_state=seed).fit_transform(ragged).shape == (60, 30)


def test_a_column_of_strings_is_a_list_of_strings():
    pytest.importorskip("rapidfuzz")
    strings, y = words()
    column = np.array(strings)[:, None]
    by_list = KreinNystroem("levenshtein", 10, random_state=0).fit_transform(strings)
    np.testing.assert_array_equal(KreinNystroem("levenshtein", 10, random_state=0).fit_transform(column), by_list)
    model = ExactKreinSVC("levenshtein").fit(column, y)
    np.testing.assert_array_equal(model.predict(column[:5]), model.predict(strings[:5]))
    with pytest.raises(ValueError, match="pass a list of strings"):
        model.predict(np.hstack([column, column]))


def test_refusals():
    for arguments, error, message in (
        ((3,), TypeError, "metric must be a function"),
        (("precomputed", 0.0), ValueError, "power must be positive"),
        (("precomputed", "big"), ValueError, "power must be 'auto' or a positive number"),
        (("precomputed", 1.0, "mean"), ValueError, "scale must be one of 'median', 'auto' or a positive number"),
        (("precomputed", 1.0, 1.0, "gauss"), ValueError, "form must be one of 'exponential'"),
        ((lengths, 1.0, 1.0, "log", {"a": 1}), ValueError, "metric_params are for a distance by name"),
    ):
        with pytest.raises(error, match=message):
            DistanceKernel(*arguments)
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        DistanceKernel("precomputed", scale=1.0).similarity(np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="must be chosen before"):
        DistanceKernel("precomputed").similarity(np.ones(2))
    with pytest.raises(ValueError, match="no function to call"):
        _ = DistanceKernel("precomputed").function
