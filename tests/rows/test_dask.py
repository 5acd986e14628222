"""Fitting on Dask collections: the same model as on one machine, also when a worker is killed in the middle."""

import sys
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone

from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.tuned import TunedFeatures
from krein.rows.dask_rows import is_dask, transform
from standin_map import CosineMap

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 3))
    y = np.cos(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=4000)
    weight = rng.integers(0, 3, 4000).astype(float)
    return X, y, weight


@pytest.fixture(scope="module")
def labels(rows):
    return np.array(["low", "middle", "top class"])[np.digitize(rows[1], [0.2, 0.8])]


@pytest.mark.parametrize("selection", ["loo", "validation", "gcv"])
@pytest.mark.parametrize("weighted", [False, True])
def test_array_gives_the_model_of_one_machine(rows, selection, weighted):
    X, y, weight = rows
    # not below 1e-6: two orders of summation differ by 1e-16 over λ
    options = {"selection": selection, "loo_rows": 500, "lam": np.geomspace(1e-6, 1e-1, 11)}
    here = KreinRidge(CosineMap(), **options).fit(X, y, weight if weighted else None)
    there = KreinRidge(CosineMap(), **options).fit(
        da.from_array(X, chunks=(700, 2)),
        da.from_array(y, chunks=900),
        da.from_array(weight, chunks=333) if weighted else None,
    )
    assert there.n_rows_ == 4000
    assert there.lam_ == pytest.approx(here.lam_, rel=1e-9)
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-8)
    lazy = there.predict(da.from_array(X, chunks=(700, 2)))
    assert is_dask(lazy)
    np.testing.assert_allclose(lazy.compute(), here.predict(X), rtol=0, atol=1e-8)


def test_bounded_samples_agree_between_one_machine_and_many(rows, monkeypatch):
    X, y, _ = rows
    monkeypatch.setattr("krein.rows.look.FEATURE_ROWS", 300)
    here = KreinRidge(CosineMap(), lam=1e-3).fit(X, y)
    there = KreinRidge(CosineMap(), lam=1e-3).fit(da.from_array(X, chunks=(600, 3)), da.from_array(y, chunks=600))
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-8)
    assert here.n_rows_ == there.n_rows_ == 4000


def test_dataframe_with_names_and_text_labels(rows, labels):
    pandas = pytest.importorskip("pandas")
    X, _, _ = rows
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label=labels)
    here = KreinRidgeClassifier(CosineMap(), lam=np.geomspace(1e-6, 1e-1, 11)).fit(
        frame[["a", "b", "c"]], frame["label"]
    )
    table = dd.from_pandas(frame, npartitions=5)
    there = KreinRidgeClassifier(CosineMap(), lam=np.geomspace(1e-6, 1e-1, 11)).fit(
        table[["a", "b", "c"]], table["label"]
    )
    np.testing.assert_array_equal(there.classes_, here.classes_)
    np.testing.assert_array_equal(there.feature_names_in_, ["a", "b", "c"])
    values = there.decision_function(table[["a", "b", "c"]]).compute()
    np.testing.assert_allclose(values, here.decision_function(frame[["a", "b", "c"]]), rtol=0, atol=1e-8)
    found = there.predict(table[["a", "b", "c"]]).compute()
    assert (found == here.predict(frame[["a", "b", "c"]])).all()


def test_components_features_and_machines(rows, labels):
    X, _, _ = rows
    lazy = da.from_array(X, chunks=(900, 3))
    here, there = KreinPCA(CosineMap(), 4).fit(X), KreinPCA(CosineMap(), 4).fit(lazy)
    np.testing.assert_allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(there.transform(lazy).compute(), here.transform(X), atol=1e-8)
    features = CosineMap().fit(X)
    # sums of three products in another block of rows: a few units in the last place of numbers up to 1
    np.testing.assert_allclose(transform(features, lazy).compute(), features.transform(X), rtol=0, atol=1e-14)
    machine = KreinSVC(CosineMap()).fit(X, labels)
    np.testing.assert_array_equal(machine.predict(lazy).compute(), machine.predict(X))


def test_bad_input_is_named_on_a_cluster_too(rows):
    X, y, _ = rows
    lazy = da.from_array(X, chunks=(900, 3))
    with pytest.raises(ValueError, match="inconsistent lengths: 4000 and 3999"):
        KreinRidge(CosineMap()).fit(lazy, da.from_array(y[:-1]))
    y = y.copy()
    y[2345] = np.nan
    with pytest.raises(ValueError, match="row 2345"):
        KreinRidge(CosineMap()).fit(lazy, da.from_array(y, chunks=900))
    with pytest.raises(ValueError, match="2 features, but KreinRidge is expecting 3"):
        KreinRidge(CosineMap()).fit(lazy, rows[1]).predict(lazy[:, :2])


@pytest.mark.parametrize("classify", [False, True])
@pytest.mark.parametrize(("kept_bytes", "times"), [(2**30, 1), (0, 2)])
def test_how_often_a_block_is_computed(rows, labels, monkeypatch, classify, kept_bytes, times):
    """Once if the rows may stay in memory between the passes, else once for the sample and once for the sums."""
    X, y, weight = rows
    computed = []

    def block(source, start):
        computed.append((source, start))
        return {"X": X, "y": labels if classify else y, "weight": weight}[source][start : start + 500]

    def lazy(source, like):
        parts = [dask.delayed(block, pure=True)(source, start) for start in range(0, 4000, 500)]
        shape = (500, *like.shape[1:])
        return da.concatenate([da.from_delayed(part, shape, dtype=like.dtype) for part in parts])

    monkeypatch.setattr("krein.rows.dask_rows._KEEP_BYTES", kept_bytes)
    learner = KreinRidgeClassifier if classify else KreinRidge
    targets = labels if classify else y
    with dask.config.set(scheduler="synchronous"):
        model = learner(CosineMap(), lam=1e-3).fit(lazy("X", X), lazy("y", targets), lazy("weight", weight))
    assert model.n_rows_ == 4000
    assert Counter(computed) == {(s, a): times for s in ("X", "y", "weight") for a in range(0, 4000, 500)}
    here = learner(CosineMap(), lam=1e-3).fit(X, targets, weight)
    np.testing.assert_allclose(model.model_(X), here.model_(X), rtol=0, atol=1e-8)


def test_lengths_that_are_not_known_cost_one_pass_over_the_source(rows):
    pandas = pytest.importorskip("pandas")
    X, y, _ = rows
    computed = []

    def part(i):
        computed.append(i)
        return pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)[i * 1000 : (i + 1) * 1000]

    table = dd.from_map(part, range(4))
    source = da.concatenate([table.partitions[[i]].to_dask_array() for i in range(4)], allow_unknown_chunksizes=True)
    computed.clear()
    with dask.config.set(scheduler="synchronous"):
        model = KreinRidge(CosineMap(), lam=1e-3).fit(source[:, :3], source[:, 3])
    # X and y come from the same partitions: once for both lengths, once to be kept
    assert Counter(computed) == dict.fromkeys(range(4), 2)
    np.testing.assert_allclose(model.predict(X), KreinRidge(CosineMap(), lam=1e-3).fit(X, y).predict(X), atol=1e-8)


def test_columns_are_scaled_by_all_rows_on_a_cluster_too(rows, monkeypatch):
    X, y, weight = rows
    monkeypatch.setattr("krein.rows.look.FEATURE_ROWS", 100)
    for scaling in ("minmax", "standard"):
        learner = KreinRidge(TunedFeatures(None, scaling=scaling, features=CosineMap()), lam=1e-3)
        here = clone(learner).fit(X, y, weight)
        there = clone(learner).fit(da.from_array(X, chunks=(700, 3)), y, weight)
        placed = [model.features_.placement for model in (there, here)]
        np.testing.assert_allclose(placed[0].shift, placed[1].shift, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(placed[0].scale, placed[1].scale, rtol=1e-12)
        np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-8)


def test_a_bad_row_is_named_wherever_it_is(rows):
    X, y, weight = rows
    X = X.copy()
    X[2345, 1] = np.nan
    with pytest.raises(ValueError, match="row 2345"):
        KreinRidge(CosineMap()).fit(da.from_array(X, chunks=(900, 3)), y)
    weight = weight.copy()
    weight[1234] = -2.0
    with pytest.raises(ValueError, match=r"-2.0 in row 1234"):
        KreinRidge(CosineMap()).fit(da.from_array(rows[0], chunks=(900, 3)), y, weight)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"krein\[dask\]"):
        transform(CosineMap(), np.zeros((2, 2)))
