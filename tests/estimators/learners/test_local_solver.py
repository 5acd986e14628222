"""solver="local": global features and a tree of exact leaves, from matrices, chunks, files and clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import check_estimator

import krein
from krein import KreinRidge, KreinRidgeClassifier, SignedFourierFeatures
from krein.learning import limits
from krein.learning.leaves import fit as leaf_fit
from krein.learning.leaves import leaf
from krein.learning.single_gram import lower_gram
from krein.rows import look

FEATURES = SignedFourierFeatures(krein.kernels.Gaussian(2.0), 40, random_state=0)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_fit, "LEAF_ROWS", 96)
    monkeypatch.setattr(leaf_fit, "ONE_LEAF_ROWS", 256)


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 50.0, 0.1]
    return X, np.sin(3.0 * X[:, 0]) + np.abs(X[:, 1]) / 50.0


def labels(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = table(n, seed)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [0.2, 1.2])]


def classifier(**parameters: object) -> KreinRidgeClassifier:
    return KreinRidgeClassifier(FEATURES, solver="local", **parameters)


def test_leaves_learn_what_the_global_model_misses() -> None:
    X, y = table(2500)
    T, truth = table(500, seed=1)
    local = KreinRidge(FEATURES, solver="local").fit(X, y)
    linear = KreinRidge(FEATURES, solver="features").fit(X, y)
    assert local.solver_ == "local"
    assert local.model_.local.leaves.n_leaves >= 16
    assert local.score(T, truth) > max(0.9, linear.score(T, truth))
    assert local.feature_importances_.shape == (3,)
    assert local.feature_importances_[2] < 0.1
    with pytest.raises(AttributeError, match="solver='local'"):
        linear.feature_importances_  # noqa: B018  # for the error alone


def test_classes_and_two_classes() -> None:
    X, y = labels(2500)
    T, truth = labels(500, seed=1)
    model = classifier().fit(X, y)
    assert model.score(T, truth) > 0.85
    assert model.decision_function(T).shape == (500, 3)
    two = classifier().fit(X, y == "low")
    assert two.decision_function(T).shape == (500,)
    assert two.score(T, truth == "low") > 0.9


def test_targets_far_from_zero_and_in_several_units() -> None:
    """Leaves work in single precision on targets that are centered and scaled."""
    X, y = table(1500)
    T, _ = table(300, seed=1)
    plain = KreinRidge(FEATURES, solver="local").fit(X, y).predict(T)
    both = KreinRidge(FEATURES, solver="local").fit(X, np.column_stack([1e8 + y, 1e-3 * y])).predict(T)
    np.testing.assert_allclose(both[:, 0] - 1e8, plain, atol=1e-3)
    np.testing.assert_allclose(1e3 * both[:, 1], plain, atol=1e-3)


def test_auto_is_local_above_the_exact_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krein.learning.ridge.EXACT_ROWS", 300)
    X, y = labels(600)
    assert KreinRidgeClassifier(random_state=0).fit(X[:300], y[:300]).solver_ == "exact"
    model = KreinRidgeClassifier(random_state=0).fit(X, y)
    assert model.solver_ == "local"
    assert model.features_.signature.size <= 512
    assert KreinRidgeClassifier(FEATURES).fit(X, y).solver_ == "features"
    assert KreinRidgeClassifier(random_state=0).fit(sp.csr_array(X), y).solver_ == "features"
    assert KreinRidgeClassifier(random_state=0).partial_fit(X, y).solver_ == "features"
    assert limits.EXACT_ROWS == 5000


def test_chunks_and_memory_maps_are_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labels(2000)
    T, _ = labels(300, seed=1)
    expected = classifier().fit(X, y).decision_function(T)
    np.save(tmp_path / "X.npy", X)
    mapped = classifier().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    np.testing.assert_array_equal(mapped.decision_function(T), expected)
    chunks = [(X[i : i + 301], y[i : i + 301]) for i in range(0, 2000, 301)]
    np.testing.assert_allclose(classifier().fit_chunks(chunks).decision_function(T), expected, atol=1e-8)
    np.testing.assert_allclose(classifier().fit_chunks(iter(chunks)).decision_function(T), expected, atol=1e-8)
    monkeypatch.setattr(look, "FEATURE_ROWS", 500)  # of which an iterator keeps no more
    with pytest.raises(ValueError, match="an iterator does not allow"):
        classifier().fit_chunks(iter(chunks))


def test_a_model_is_saved_and_loaded(tmp_path: Path) -> None:
    X, y = labels(1500)
    model = classifier().fit(X, y)
    model.save(tmp_path / "model")
    loaded = krein.load_model(tmp_path / "model.krein" if (tmp_path / "model.krein").exists() else tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X[:50]), model.decision_function(X[:50]))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.solver_ == "local"


def test_a_model_whose_leaves_add_nothing_is_that_of_features(tmp_path: Path) -> None:
    """A line and noise: the model predicts what the global one does, and is saved and loaded."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] + rng.normal(size=900)
    local, features = (KreinRidge(FEATURES, solver=way, lam=1e-2).fit(X, y) for way in ("local", "features"))
    assert local.model_.local.lam == np.inf
    np.testing.assert_allclose(local.predict(X), features.predict(X), atol=1e-10)
    local.save(tmp_path / "model.krein")
    np.testing.assert_array_equal(krein.load_model(tmp_path / "model.krein").predict(X), local.predict(X))


def test_single_precision_rows() -> None:
    X, y = table(1500)
    model = KreinRidge(FEATURES, solver="local").fit(X.astype(np.float32), y)
    assert model.model_.local.leaves.rows.dtype == np.float32
    assert model.predict(X[:5].astype(np.float32)).shape == (5,)


def test_weights() -> None:
    X, y = table(1200)
    weight = np.ones(1200)
    weight[:400] = 0.0
    spoiled = y.copy()
    spoiled[:400] = 1e6
    model = KreinRidge(FEATURES, solver="local").fit(X, spoiled, weight)
    assert model.score(X[400:], y[400:]) > 0.9


@pytest.mark.parametrize("kind", ["one class in a leaf", "copies only", "constant columns", "one point in most rows"])
def test_bad_data_has_a_right_answer(kind: str) -> None:
    X, y = labels(1500)
    if kind == "one class in a leaf":
        y = np.where(X[:, 0] > 0, "right", "left")
    elif kind == "copies only":
        X = np.repeat(X[:5], 300, axis=0)
        y = np.repeat(["a", "b", "a", "b", "b"], 300)
    elif kind == "constant columns":
        X[:, 1:] = 7.0
        y = np.where(X[:, 0] > 0, "right", "left")
    else:
        X[:1400], y[:1400] = 0.0, "low"
    model = classifier().fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("kind", ["constant in half of the leaves", "copies only", "one point", "rows nearly equal"])
def test_bad_numbers_have_a_right_answer(kind: str) -> None:
    """Leaves of one value, of one row, and with a matrix that is singular to rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    y = np.where(X[:, 0] > 0, 5.0, np.sin(3.0 * X[:, 0]))
    if kind == "copies only":
        X, y = np.repeat(X[:6], 200, axis=0), np.repeat(np.arange(6.0), 200)
    elif kind == "one point":
        X, y = np.full((1200, 3), 2.5), rng.normal(size=1200)
    elif kind == "rows nearly equal":
        X = 1.0 + 1e-7 * X
    model = KreinRidge(FEATURES, solver="local").fit(X, y)
    values = model.predict(X)
    assert np.isfinite(values).all()
    if kind == "one point":
        np.testing.assert_allclose(values, y.mean(), atol=1e-6)  # noise is nothing for leaves to learn
    else:
        assert model.score(X, y) > 0.95


@pytest.mark.parametrize("kind", ["one point in most rows", "one point", "few values"])
@pytest.mark.parametrize("learner", [KreinRidge, KreinRidgeClassifier])
def test_many_rows_of_few_points_are_no_more_work(
    learner: type[KreinRidge | KreinRidgeClassifier], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sampled rows may have few distinct ones among them: neither wide features nor a matrix of copies may follow from it."""
    sizes: list[int] = []

    def counted(kernel: krein.kernels.Kernel, X: np.ndarray) -> np.ndarray:
        sizes.append(X.shape[0])
        return lower_gram(kernel, X)

    monkeypatch.setattr(leaf, "lower_gram", counted)
    monkeypatch.setattr(look, "FEATURE_ROWS", 600)
    rng = np.random.default_rng(0)
    X = np.ones((6000, 2))
    if kind == "one point in most rows":
        X[:60] = rng.normal(size=(60, 2))
    elif kind == "few values":
        X = rng.integers(0, 3, size=(6000, 2)).astype(float)
    signal = X[:, 0] + 0.1 * rng.normal(size=6000)
    y = signal if learner is KreinRidge else signal > 0.5 + (kind == "one point") * 0.5
    model = learner().fit(X, y)
    assert model.solver_ == "local"
    assert model.coef_.shape[-1] <= 512
    distinct = np.unique(X, axis=0).shape[0]
    assert max(sizes, default=0) <= distinct  # one row is a constant
    assert model.model_.local.leaves.rows.shape[0] <= 2 * distinct
    if learner is KreinRidge:
        here = (X[-1] == X).all(axis=1)
        # five standard errors of the mean of 600 rows with noise of 0.1: every copy counts
        np.testing.assert_allclose(model.predict(X[-1:]), y[here].mean(), atol=0.02)
    elif kind != "one point":
        assert model.score(X, y) > 0.99


@pytest.mark.parametrize("way", ["fit", "chunks"])
def test_a_failure_leaves_the_model_as_it_was(way: str) -> None:
    X, y = labels(1500)
    model = classifier().fit(X, y)
    before = model.decision_function(X[:20])
    bad = X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.fit(bad, y) if way == "fit" else model.fit_chunks([(bad[:1000], y[:1000]), (bad[1000:], y[1000:])])
    np.testing.assert_array_equal(model.decision_function(X[:20]), before)


def test_an_interrupt_in_a_leaf_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labels(1500)
    model = classifier()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(leaf_fit, "solve_leaf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "solver_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fit_intercept": False}, "needs fit_intercept=True"),
        ({"regularizer": "krein"}, "convex"),
        ({"solver": "nearby"}, "solver must be"),
    ],
)
def test_what_leaves_cannot_do_is_refused(parameters: dict[str, object], message: str) -> None:
    X, y = labels(300)
    with pytest.raises(ValueError, match=message):
        classifier().set_params(**parameters).fit(X, y)


def test_sparse_rows_are_refused_and_a_tree_is_not_continued() -> None:
    X, y = labels(300)
    with pytest.raises(ValueError, match=r"dense|[Ss]parse"):
        classifier().fit(sp.csr_array(X), y)
    assert classifier().partial_fit(X, y).solver_ == "features"
    with pytest.raises(ValueError, match="partial_fit"):
        classifier().fit(X, y).partial_fit(X, y)


@pytest.mark.parametrize("model", [KreinRidge(FEATURES, solver="local"), classifier()], ids=["numbers", "labels"])
def test_a_search_clones_it(model: BaseEstimator) -> None:
    assert clone(model).solver == "local"


@pytest.mark.parametrize("learner", [KreinRidge, KreinRidgeClassifier])
def test_scikit_learn_checks(learner: type) -> None:
    expected = {
        "check_fit_score_takes_y": "a tree is not continued by partial_fit",
        "check_n_features_in_after_fitting": "a tree is not continued by partial_fit",
        "check_sample_weight_equivalence_on_dense_data": "leave-one-out of the global model leaves out one copy, or a weight",
        "check_sample_weight_equivalence_on_sparse_data": "dense rows only; scikit-learn 1.6 does not look at the tag",
        "check_methods_subset_invariance": "single precision: equal to 1e-6",
    }
    check_estimator(learner(solver="local", random_state=0), expected_failed_checks=expected, on_skip=None)
