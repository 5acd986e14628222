"""Probabilities of the ridge classifier: for every solver and source of rows, kept in files, near those of the truth."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss

from krein import KreinNystroem, KreinRidgeClassifier, load_model
from standin_map import CosineMap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 2))
CHANCE = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0] + X[:, 1] ** 2))
Y = np.where(RNG.uniform(size=1200) < CHANCE, "yes", "no")
THREE = np.where(Y == "no", "no", np.where(X[:, 1] > 0, "up", "yes"))
MODELS = {
    "exact": lambda **other: KreinRidgeClassifier(solver="exact", **other),
    "local": lambda **other: KreinRidgeClassifier(solver="local", random_state=0, **other),
    "features": lambda **other: KreinRidgeClassifier(solver="features", random_state=0, **other),
    "a map": lambda **other: KreinRidgeClassifier(CosineMap(), **other),
    "one lam": lambda **other: KreinRidgeClassifier(CosineMap(), lam=1e-3, **other),
    "krein": lambda **other: KreinRidgeClassifier(CosineMap(), lam=1e-2, regularizer="krein", **other),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [Y, THREE], ids=["two", "three"])
def test_probabilities_are_near_those_of_the_truth(name, labels):
    model = MODELS[name]().fit(X[:800], labels[:800])
    found = model.predict_proba(X[800:])
    assert found.shape == (400, model.classes_.size)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[800:])), found)
    # the log-loss of the truth is the least there is; 400 rows tell it to six times 0.025
    best = log_loss(Y[800:], np.column_stack([1.0 - CHANCE[800:], CHANCE[800:]]))
    if labels is Y:
        assert log_loss(Y[800:], found) < best + 0.15
        share, said = calibration_curve(Y[800:] == "yes", found[:, 1], n_bins=4)
        assert np.abs(share - said).max() < 0.2
    else:
        assert log_loss(labels[800:], found) < 0.9 * np.log(3.0)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X[800:]))


def test_a_classifier_that_knows_nothing_says_so():
    """Labels that are noise: a flexible model fits its training rows, and its probabilities must not follow."""
    noise = np.random.default_rng(1).integers(0, 2, 300)
    model = KreinRidgeClassifier(lam=1e-8).fit(X[:300], noise)
    assert log_loss(noise[:100], model.predict_proba(X[500:600])) < 1.0


def test_chunks_clusters_sparse_rows_and_objects():
    model = MODELS["a map"]().fit(X, THREE)
    chunks = [(X[a : a + 500], THREE[a : a + 500]) for a in range(0, 1200, 500)]
    for other in (MODELS["a map"]().fit_chunks(chunks), MODELS["a map"]().fit_chunks(iter(chunks))):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        MODELS["a map"]().fit(sp.csr_array(X), THREE).predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-5
    )
    da = pytest.importorskip("dask.array")
    lazy = MODELS["a map"]().fit(da.from_array(X, chunks=(500, 2)), da.from_array(THREE, chunks=500))
    chances = lazy.predict_proba(da.from_array(X, chunks=(500, 2)))
    assert chances.shape == (1200, 3)
    np.testing.assert_allclose(chances.compute(), model.predict_proba(X), rtol=0, atol=1e-5)
    words = ["".join(RNG.choice(list("ab" if i % 2 else "cd"), size=5)) for i in range(60)]
    kinds = np.arange(60) % 2
    of_words = KreinRidgeClassifier("levenshtein", random_state=0).fit(words, kinds).predict_proba(words)
    assert log_loss(kinds, of_words) < 0.3


def test_probabilities_follow_partial_fit_and_are_kept_in_files(tmp_path):
    model = KreinRidgeClassifier(KreinNystroem(n_components=30, random_state=0))
    model.partial_fit(X[:600], Y[:600], classes=["no", "yes"])
    first = model.link_
    model.partial_fit(X[600:], Y[600:])
    assert model.link_ != first
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(X[:20]), model.predict_proba(X[:20]))
    again.link_ = None  # as in files of earlier versions
    with pytest.raises(AttributeError, match="fit it again"):
        again.predict_proba(X[:20])


def test_weights_of_classes_move_probabilities():
    plain, even = (
        KreinRidgeClassifier(KreinNystroem(n_components=40, random_state=0), class_weight=weight)
        .fit(X, X[:, 0] > 1.5)
        .predict_proba(X)[:, 1]
        .mean()
        for weight in (None, "balanced")
    )
    assert plain < even
