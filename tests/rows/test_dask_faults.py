"""Workers that die, memory that runs out, a scheduler that is lost and blocks that raise, for every estimator that fits on Dask.

Nothing here waits for the clock: a block itself kills the worker that computes it, when it is computed for the n-th time.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krein
from krein._core.errors import ClusterError
from krein.kernels import Gaussian
from krein.learning.leaves import fit as leaf_fit
from krein.rows import dask_rows

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
NUMBERS = np.cos(3 * X[:, 0]) + X[:, 1]
LABELS = np.digitize(NUMBERS, [-0.3, 0.8])
MAP = krein.SignedFourierFeatures(Gaussian(1.0), 16, random_state=0)

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: krein.KreinRidge(MAP),
    "ridge, local": lambda: krein.KreinRidge(MAP, solver="local"),
    "ridge, chosen": lambda: krein.KreinRidge(solver="features", random_state=0),
    "classifier": lambda: krein.KreinRidgeClassifier(MAP),
    "classifier, local": lambda: krein.KreinRidgeClassifier(MAP, solver="local"),
    "svc": lambda: krein.KreinSVC(MAP),
    "logistic": lambda: krein.KreinLogistic(MAP),
    "pca": lambda: krein.KreinPCA(MAP, 3),
}
each = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_rows, "_KEEP_BYTES", 0)  # blocks are computed anew in every pass
    monkeypatch.setattr(leaf_fit, "LEAF_ROWS", 64)
    monkeypatch.setattr(leaf_fit, "ONE_LEAF_ROWS", 128)


def start(n_workers: int, *, processes: bool) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=":0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def lasting() -> Iterator[Any]:
    """A worker for all tests that leave it alive."""
    with start(1, processes=False) as cluster:
        yield cluster


@pytest.fixture
def client(lasting: Any) -> Iterator[Any]:
    with distributed.Client(lasting) as made:
        yield made


@pytest.fixture
def mortal() -> Iterator[Any]:
    """Two workers in processes of their own. After a death the next test gets new ones."""
    with start(2, processes=True) as cluster, distributed.Client(cluster) as made:
        yield made


def targets(name: str) -> np.ndarray:
    return NUMBERS if name.startswith("ridge") else LABELS


def result(model: Any) -> np.ndarray:
    for method in ("decision_function", "predict", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X))
    raise AssertionError(f"{model} gives nothing")


def rows_through(function: Callable[..., np.ndarray], **given: Any) -> Any:
    """The rows in six blocks, each of which goes through a function where it is computed."""
    return da.from_array(X, chunks=(100, 3)).map_blocks(function, meta=np.empty((0, 3)), **given)


def fit(name: str, rows: Any) -> Any:
    return ESTIMATORS[name]().fit(rows, da.from_array(targets(name), chunks=100))


def count_and_die(block: np.ndarray, folder: str, at: int, block_info: Any = None) -> np.ndarray:
    """A mark in a folder each time that the third block is computed; at one of them the process dies."""
    if block_info and block_info[0]["chunk-location"][0] == 2:
        marks = len(list(Path(folder).iterdir()))
        (Path(folder) / f"{marks}-{os.getpid()}").touch()
        if marks == at:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


# One of each kind of sums; every test starts a cluster of processes.
@pytest.mark.parametrize("name", ["ridge, chosen", "classifier, local", "logistic"])
def test_a_worker_killed_in_the_middle_changes_nothing(mortal, name, tmp_path):
    """Killed at the second pass: the map is fitted, and other blocks have been added up."""
    expected = result(fit(name, da.from_array(X, chunks=(100, 3))))
    rows = rows_through(count_and_die, folder=str(tmp_path), at=1)
    found = result(fit(name, rows))
    assert len(list(tmp_path.iterdir())) >= 3  # once, the fatal time, and again
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def fail(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    if block_info and block_info[0]["chunk-location"][0] == 4:
        raise OSError("disk 3 is gone")
    return block


@each
def test_a_block_that_raises_is_told_as_it_is(client, name):
    model = ESTIMATORS[name]()
    with pytest.raises(OSError, match="disk 3 is gone"):
        model.fit(rows_through(fail), da.from_array(targets(name), chunks=100))
    assert not [key for key in vars(model) if key.endswith("_") and not key.startswith("_")]


def ask_for_too_much(block: np.ndarray) -> np.ndarray:
    return block + np.empty(10**15)[0]


@each
def test_no_memory_for_an_array(client, name):
    with pytest.raises(MemoryError, match=r"100 rows of 3 columns.*smaller blocks .*memory_limit"):
        fit(name, rows_through(ask_for_too_much))


def die(block: np.ndarray) -> np.ndarray:
    os.kill(os.getpid(), signal.SIGKILL)  # as the system or Dask's nanny does with a process that takes too much memory
    return block


def test_workers_that_are_killed_again_and_again(mortal):
    mortal.cluster.scheduler.allowed_failures = 0
    with pytest.raises(ClusterError, match=r"lack of memory.*smaller blocks .*memory_limit.*Dask says"):
        fit("ridge", rows_through(die))


def test_a_scheduler_that_is_lost():
    """With no worker at all, so that the fit cannot be done before."""
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),  # a client looks for its scheduler that long
        start(0, processes=False) as cluster,
        distributed.Client(cluster) as client,
    ):

        def lose() -> None:
            while not cluster.scheduler.tasks:
                time.sleep(0.01)
            client.loop.add_callback(cluster.scheduler.close)

        helper = threading.Thread(target=lose)
        helper.start()
        with pytest.raises(ClusterError, match=r"(?s)scheduler is gone.*fit again"):
            fit("ridge", da.from_array(X, chunks=(100, 3)))
        helper.join()


def test_without_a_cluster_errors_are_the_same():
    with pytest.raises(OSError, match="disk 3"):
        fit("ridge", rows_through(fail))
    with pytest.raises(MemoryError, match="smaller blocks"):
        fit("ridge", rows_through(ask_for_too_much))
