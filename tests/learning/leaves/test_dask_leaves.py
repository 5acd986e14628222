"""A tree of leaves on Dask collections: the same predictions as on one machine, also when a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krein import KreinRidge, KreinRidgeClassifier
from krein.learning.leaves import fit as leaf_fit
from standin_map import CosineMap

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_fit, "LEAF_ROWS", 64)
    monkeypatch.setattr(leaf_fit, "ONE_LEAF_ROWS", 128)


def table(n: int = 3000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = np.cos(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    return X, y, rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers(dtype: type, weighted: bool) -> None:
    """Equal to 1e-8: sums in another order move the global model by 1e-12, and leaves learn from it in larger steps."""
    X, y, weight = table()
    X = X.astype(dtype)
    here = KreinRidge(CosineMap(), solver="local").fit(X, y, weight if weighted else None)
    there = KreinRidge(CosineMap(), solver="local").fit(
        da.from_array(X, chunks=(700, 2)),
        da.from_array(y, chunks=900),
        da.from_array(weight, chunks=333) if weighted else None,
    )
    assert there.model_.local.leaves.n_leaves == here.model_.local.leaves.n_leaves >= 16
    assert there.model_.local.part == here.model_.local.part
    tolerance = 1e-8 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=tolerance)
    lazy = there.predict(da.from_array(X, chunks=(700, 2)))
    # of a row in another block, single precision rounds the products of its leaf in another order
    np.testing.assert_allclose(lazy.compute(), here.predict(X), atol=1e-5)


@pytest.mark.parametrize("features", [CosineMap(), None], ids=["map", "chosen"])
def test_labels(features: CosineMap | None) -> None:
    X, y, _ = table()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.3, 0.5])]
    here = KreinRidgeClassifier(features, solver="local", random_state=0).fit(X, labels)
    there = KreinRidgeClassifier(features, solver="local", random_state=0).fit(
        da.from_array(X, chunks=(500, 3)), da.from_array(labels, chunks=500)
    )
    np.testing.assert_allclose(there.decision_function(X), here.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


def test_a_row_that_is_not_finite_leaves_nothing_behind() -> None:
    X, y, _ = table(500)
    X[-1, 0] = np.nan
    model = KreinRidge(CosineMap(), solver="local")
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))
    assert not hasattr(model, "solver_")


_fit_part = leaf_fit.fit_part


def _slow_part(*args: Any, **kwargs: Any) -> Any:
    """Waits until a worker was killed, however long that takes."""
    while not Path(os.environ["KREIN_TEST_KILLED"]).exists():
        time.sleep(0.02)
    return _fit_part(*args, **kwargs)


def test_a_killed_worker_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X, y, _ = table(2000)
    expected = KreinRidge(CosineMap(), solver="local").fit(X, y).predict(X)
    monkeypatch.setattr(leaf_fit, "fit_part", _slow_part)
    killed = tmp_path / "killed"
    monkeypatch.setenv("KREIN_TEST_KILLED", str(killed))  # workers inherit it
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill_one() -> None:
            """As soon as parts are being solved."""
            while not client.run_on_scheduler(
                lambda dask_scheduler: any("_work_on_part" in str(key) for key in dask_scheduler.tasks)
            ):
                time.sleep(0.02)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            killed.touch()

        client.run(os.getpid)
        helper = threading.Thread(target=kill_one)
        helper.start()
        model = KreinRidge(CosineMap(), solver="local").fit(
            da.from_array(X, chunks=(250, 3)), da.from_array(y, chunks=250)
        )
        helper.join()
    assert killed.exists()
    # leaves are solved in single precision, to five digits, and a worker need not have the last digits of this process
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-5)
