"""Ways of solving: features=None is chosen from the data, and solved exactly where rows are few."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from krein import load_model
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.maps.tuned import TunedFeatures
from krein.kernels import DeltaGaussian, Gaussian, Laplacian
from krein.learning.limits import EXACT_ROWS
from krein.rows import look
from standin_map import CosineMap

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(160, 2)) * [1.0, 50.0]
Y = np.sin(5.0 * X[:, 0]) + X[:, 1] / 50.0 + 0.1 * RNG.normal(size=160)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
NEW = RNG.uniform(-1.0, 1.0, size=(40, 2)) * [1.0, 50.0]


def reference(model, rows, targets, at, weight=None):
    """Weighted ridge with an unpenalized constant, from the normal equations of the dual."""
    n = rows.shape[0]
    w = np.ones(n) if weight is None else weight
    placed, new = model.choice_.placement(rows), model.choice_.placement(at)
    K, k = model.choice_.kernel(placed), model.choice_.kernel(new, placed)
    system = np.block([[K + np.diag(w.sum() * model.lam_ / w), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([targets, np.zeros((1, targets.shape[1]))]))
    return k @ solution[:-1] + solution[-1]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_exact_model_is_kernel_ridge(weighted):
    weight = RNG.uniform(0.5, 2.0, 160) if weighted else None
    model = KreinRidge().fit(X, Y, weight)
    assert model.solver_ == "exact"
    for name in ("coef_", "features_"):
        with pytest.raises(AttributeError, match="an exact model has no features"):
            getattr(model, name)
    np.testing.assert_allclose(model.predict(NEW), reference(model, X, Y[:, None], NEW, weight)[:, 0], atol=1e-6)


def test_several_targets_and_labels_are_columns_of_one_problem():
    both = np.c_[Y, 1e5 * X[:, 0] ** 2]
    model = KreinRidge().fit(X, both)
    assert model.predict(NEW).shape == (40, 2)
    np.testing.assert_allclose(model.predict(NEW) / [1.0, 1e5], reference(model, X, both, NEW) / [1.0, 1e5], atol=1e-6)
    classifier = KreinRidgeClassifier().fit(X, LABELS)
    signs = np.where(LABELS[:, None] == classifier.classes_, 1.0, -1.0)
    np.testing.assert_allclose(classifier.decision_function(NEW), reference(classifier, X, signs, NEW), atol=1e-6)
    assert KreinRidgeClassifier().fit(X, Y > 0).decision_function(NEW).shape == (40,)


@pytest.mark.parametrize("learner", [KreinRidge(), KreinRidgeClassifier()])
def test_one_pass_chunks_and_copies_give_the_same_model(learner):
    targets = Y if isinstance(learner, KreinRidge) else LABELS
    values = [clone(learner).fit(X, targets).model_(NEW)]
    chunks = [(X[:70], targets[:70]), (X[70:], targets[70:])]
    values += [clone(learner).fit_chunks(some).model_(NEW) for some in (chunks, iter(chunks))]
    order = RNG.permutation(160)
    values.append(clone(learner).fit(X[order], targets[order]).model_(NEW))
    for found in values[1:]:
        np.testing.assert_allclose(found, values[0], atol=1e-7)
    copies = RNG.integers(0, 3, 160)
    by_weight = clone(learner).fit(X, targets, copies.astype(float))
    by_copy = clone(learner).fit(np.repeat(X, copies, axis=0), np.repeat(targets, copies))
    assert by_weight.lam_ == pytest.approx(by_copy.lam_, rel=1e-9)
    np.testing.assert_allclose(by_weight.model_(NEW), by_copy.model_(NEW), atol=1e-7)


def test_dask_gives_the_same_model():
    da = pytest.importorskip("dask.array")
    for learner, targets in ((KreinRidge(), Y), (KreinRidgeClassifier(), LABELS)):
        here = clone(learner).fit(X, targets)
        there = clone(learner).fit(da.from_array(X, chunks=(60, 2)), da.from_array(targets, chunks=60))
        assert there.solver_ == "exact"
        assert there.n_rows_ == here.n_rows_ == 160
        np.testing.assert_allclose(there.model_(NEW), here.model_(NEW), atol=1e-7)
        lazy = da.from_array(NEW, chunks=(15, 2))
        if isinstance(there, KreinRidge):
            np.testing.assert_allclose(there.predict(lazy).compute(), there.predict(NEW), atol=1e-7)
        else:
            np.testing.assert_array_equal(there.predict(lazy).compute(), there.predict(NEW))


def test_more_rows_than_the_exact_way_takes_are_solved_in_leaves(monkeypatch):
    monkeypatch.setattr("krein.learning.ridge.EXACT_ROWS", 100)
    model = KreinRidge(random_state=0).fit(X, Y)
    assert model.solver_ == "local"
    assert model.score(X, Y) > 0.9
    assert KreinRidge(solver="exact").fit(X, Y).solver_ == "exact"
    assert EXACT_ROWS == 5000


def test_features_reach_what_the_exact_way_does():
    exact = KreinRidge().fit(X, Y)
    features = KreinRidge(solver="features", random_state=0).fit(X, Y)
    assert features.choice_.kernel == exact.choice_.kernel
    np.testing.assert_allclose(features.predict(NEW), exact.predict(NEW), atol=0.1)


def test_rows_can_be_added_to_an_exact_model():
    model = KreinRidge(random_state=0).fit(X[:80], Y[:80])
    assert model.solver_ == "exact"
    model.partial_fit(X[80:], Y[80:])
    assert model.solver_ == "features"
    assert model.n_rows_ == 160
    assert model.score(X, Y) > 0.9
    model.partial_fit(X[:5], Y[:5])
    assert model.n_rows_ == 165
    assert KreinRidge(random_state=0).partial_fit(X, Y).solver_ == "features"


def test_a_loaded_exact_model_cannot_be_continued(tmp_path):
    model = KreinRidgeClassifier().fit(X, LABELS)
    model.save(tmp_path / "model.krein")
    again = load_model(tmp_path / "model.krein")
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert repr(again.choice_.trials) == repr(model.choice_.trials)
    with pytest.raises(ValueError, match="loaded from a file"):
        again.partial_fit(X, LABELS)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (KreinRidge(CosineMap(), solver="exact"), "needs features=None"),
        (KreinRidge(TunedFeatures(None), solver="exact"), "needs features=None"),
        (KreinRidge(solver="exact", selection="gcv"), "leave-one-out only"),
        (KreinRidge(solver="newton"), "solver must be"),
    ],
)
def test_ways_that_cannot_be_taken_are_refused(learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y)


def test_exact_cannot_be_started_in_parts_nor_with_more_rows_than_are_sampled(monkeypatch):
    with pytest.raises(ValueError, match="partial_fit"):
        KreinRidge(solver="exact").partial_fit(X, Y)
    monkeypatch.setattr(look, "FEATURE_ROWS", 100)
    with pytest.raises(ValueError, match="there are too many"):
        KreinRidge(solver="exact").fit(X, Y)


def test_another_criterion_is_a_matter_of_features():
    assert KreinRidge(selection="gcv", random_state=0).fit(X, Y).solver_ == "features"


@pytest.mark.parametrize("regularizer", ["hilbert", "two", "krein"])
def test_an_indefinite_kernel_is_solved_with_every_regularizer(regularizer):
    model = KreinRidge(TunedFeatures(DeltaGaussian()), regularizer=regularizer, solver="exact").fit(X, Y)
    assert model.score(X, Y) > 0.5
    assert np.shape(model.lam_) == ((2,) if regularizer == "two" else ())
    given = KreinRidge(TunedFeatures(Gaussian()), regularizer=regularizer, lam=1e-3).fit(X, Y)
    assert np.all(np.asarray(given.lam_) == 1e-3)
    plain = KreinRidge(TunedFeatures(Gaussian()), lam=1e-3).fit(X, Y)
    np.testing.assert_allclose(given.predict(NEW), plain.predict(NEW), atol=1e-9)  # one problem for a positive kernel


def test_single_precision_and_sparse_rows():
    model, single = KreinRidge().fit(X, Y), KreinRidge().fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.predict(NEW.astype(np.float32)), model.predict(NEW), atol=1e-2)
    rows = sp.csr_array(np.where(RNG.uniform(size=(160, 6)) < 0.3, 1.0, 0.0))
    targets = rows.toarray()[:, 0] + rows.toarray()[:, 1] * rows.toarray()[:, 2]
    assert KreinRidge().fit(rows, targets).score(rows, targets) > 0.9


def test_a_grid_search_reaches_the_choice():
    search = GridSearchCV(
        KreinRidge(TunedFeatures()),
        {"kernel__kernels": [Gaussian(), Laplacian()], "solver": ["exact", "features"]},
        cv=2,
    )
    assert search.fit(X, Y).best_score_ > 0.5


def test_a_fit_after_another_leaves_nothing_behind():
    model = KreinRidge(CosineMap()).fit(X, Y)
    assert model.choice_ is None
    model.set_params(kernel=None).fit(X, Y)
    assert model.solver_ == "exact"
    assert not hasattr(model, "coef_")
    model.set_params(features=CosineMap()).fit(X, Y)
    assert model.coef_.shape == (40,)
    model.partial_fit(X, Y)
    assert model.n_rows_ == 320
