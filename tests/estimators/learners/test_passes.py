"""KreinSVC and KreinLogistic beyond memory: chunks, memory maps and Dask give the model of all rows at once."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.tuned import TunedFeatures
from standin_map import CosineMap

LEARNERS = [KreinSVC, KreinLogistic]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 3))
    values = np.cos(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=1500)
    y = np.array(["low", "middle", "top class"])[np.digitize(values, [0.2, 0.8])]
    return X, y, rng.integers(0, 3, 1500).astype(float)


def assert_same(there, here):
    scale = np.abs(here.coef_).max()
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=0, atol=1e-6 * scale)
    np.testing.assert_array_equal(there.classes_, here.classes_)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("choice_rows", [20_000, 300])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_chunks(rows, learner, choice_rows, class_weight, monkeypatch):
    monkeypatch.setattr("krein.learning.newton.labeled.CHOICE_ROWS", choice_rows)
    X, y, weight = rows
    here = learner(CosineMap(), class_weight=class_weight).fit(X, y, weight)
    cuts = [0, 10, 700, 701, 1500]
    chunks = [(X[a:b], y[a:b], weight[a:b]) for a, b in itertools.pairwise(cuts)]
    assert_same(learner(CosineMap(), class_weight=class_weight).fit_chunks(chunks), here)


@pytest.mark.parametrize("learner", LEARNERS)
def test_features_that_do_not_fit_in_memory(rows, learner, tmp_path, monkeypatch):
    X, y, _ = rows
    np.save(tmp_path / "rows.npy", X)
    fixed = learner(CosineMap()).set_params(**({"C": 3.0} if learner is KreinSVC else {"lam": 1e-3}))
    here, sparse = clone(fixed).fit(X, y), clone(fixed).fit(sp.csr_array(X), y)
    monkeypatch.setattr("krein.learning.newton.learn._MEMORY_BYTES", 1000)
    monkeypatch.setattr("krein.rows.source._BLOCK_ENTRIES", 1200)
    assert_same(clone(fixed).fit(np.load(tmp_path / "rows.npy", mmap_mode="r"), y), here)
    monkeypatch.setattr("krein.rows.look.FEATURE_ROWS", 500)
    assert_same(clone(fixed).fit(np.load(tmp_path / "rows.npy", mmap_mode="r"), y), here)
    assert_same(clone(fixed).fit(sp.csr_array(X), y), sparse)


@pytest.mark.parametrize("learner", LEARNERS)
def test_dask(rows, learner):
    da = pytest.importorskip("dask.array")
    X, y, weight = rows
    here = learner(TunedFeatures(None, features=CosineMap())).fit(X, y, weight)
    lazy = da.from_array(X, chunks=(400, 2))
    there = learner(TunedFeatures(None, features=CosineMap())).fit(lazy, da.from_array(y, chunks=333), weight)
    assert_same(there, here)
    np.testing.assert_array_equal(there.predict(lazy).compute(), here.predict(X))
    if learner is KreinLogistic:
        chances = there.predict_proba(lazy)
        assert chances.shape == (1500, 3)
        np.testing.assert_allclose(chances.compute(), here.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_chunks_leave_nothing_behind(rows, learner):
    X, y, _ = rows
    model = learner(CosineMap(), max_iter=50)
    with pytest.raises(TypeError, match="iterated again"):
        model.fit_chunks(iter([(X, y)]))
    with pytest.raises(ValueError, match="chunks is empty"):
        model.fit_chunks([])
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit_chunks([(X, np.full(1500, "a"))])
    bad = X.copy()
    bad[1234, 1] = np.nan
    with pytest.raises(ValueError, match="row 1234"):
        model.fit_chunks([(bad[:1000], y[:1000]), (bad[1000:], y[1000:])])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3"):
        model.fit_chunks([(X[:1000], y[:1000]), (X[1000:, :2], y[1000:])])

    class Changing:
        """Another label in every pass."""

        passes = 0

        def __iter__(self):
            self.passes += 1
            yield X, np.where(np.arange(1500) < 700, "a", f"b{self.passes}")

    with pytest.raises(ValueError, match="the same in every pass"):
        model.fit_chunks(Changing())
    assert not [name for name in vars(model) if name.endswith("_")]


class _Interrupted:
    """Chunks that Ctrl-C ends in some pass."""

    def __init__(self, X, y, last):
        self.X, self.y, self.left = X, y, last

    def __iter__(self):
        self.left -= 1
        yield self.X[:700], self.y[:700]
        if not self.left:
            raise KeyboardInterrupt
        yield self.X[700:], self.y[700:]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("last", [1, 2, 3, 6])
def test_an_interrupted_fit_leaves_the_model_as_it_was(rows, learner, last):
    X, y, _ = rows
    model = learner(CosineMap()).fit(X[:300], y[:300])
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit_chunks(_Interrupted(X, y, last))
    assert vars(model) == before


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("limit", [2000, 300])
def test_a_kernel_chosen_from_the_data(rows, learner, limit, monkeypatch):
    """Exactly or with features, by the number of rows; from chunks as from a matrix."""
    monkeypatch.setattr("krein.learning.newton.learn.EXACT_MACHINE_ROWS", limit)
    X, y, weight = (part[:700] for part in rows)
    here = learner(tol=1e-8, random_state=0).fit(X, y, weight)
    assert here.solver_ == ("exact" if limit == 2000 else "features")
    assert here.choice_.trials
    there = learner(tol=1e-8, random_state=0).fit_chunks(
        [(X[:300], y[:300], weight[:300]), (X[300:], y[300:], weight[300:])]
    )
    np.testing.assert_allclose(there.decision_function(X), here.decision_function(X), atol=1e-5)
    da = pytest.importorskip("dask.array")
    lazy = learner(tol=1e-8, random_state=0).fit(da.from_array(X, chunks=(200, 3)), y, weight)
    np.testing.assert_allclose(lazy.decision_function(X), here.decision_function(X), atol=1e-5)
    assert here.score(rows[0][700:], rows[1][700:]) > 0.6
