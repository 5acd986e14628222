"""An hour of use: ``python tools/soak.py [--minutes 60]`` fits, maps, saves, loads and predicts over and over, Dask included.

Every estimator takes its turn in one process, with rows, words and a cluster. Memory, file descriptors, threads and processes are
written down after each round. At the end the first rounds, in which caches fill, are left out, and a line is laid through the
rest: growth of memory beyond `MOST_GROWTH` over the whole run, here or in the worker of the cluster, or a descriptor, thread or
process more than at the beginning, is an error. ``make soak`` calls it.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np
import psutil

import krein

MOST_GROWTH = 20.0  # MiB over the whole run
WARM_UP = 5  # rounds
# Rounds that a cluster lives for. Dask keeps books on all that it was ever given: 300 sums of 2,000 rows, without anything of ours,
# take 5 MiB of its scheduler, which is in this process, and 1.5 of its worker. A new cluster begins new ones.
CLUSTER_ROUNDS = 20
COLUMNS = ("MiB here", "MiB in other processes", "descriptors", "native threads", "threads of Python", "processes")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 8))
Y = np.cos(2 * X[:, 0]) + X[:, 1] ** 2
LABELS = np.digitize(Y, [0.4, 1.2])
WORDS = ["".join(RNG.choice(list("acgt"), size=12)) for _ in range(120)]


def shared_pairs(a: str, b: str) -> float:
    """Pairs of letters that two words have in common: a similarity of objects."""
    return float(len({*pairwise(a)} & {*pairwise(b)}))


def _maps() -> list[Any]:
    return [
        krein.SignedFourierFeatures(krein.kernels.DeltaGaussian(1.0, 3.0), 128, random_state=0),
        krein.SignedFourierFeatures(krein.kernels.NTK(), 64, weights="projected", random_state=0),
        krein.KreinNystroem(krein.kernels.Laplacian(2.0), 64, random_state=0),
        krein.TunedFeatures(n_components=64, random_state=0),
    ]


def _models() -> list[Any]:
    return [
        krein.KreinRidge(random_state=0),
        krein.KreinRidgeClassifier(random_state=0),
        krein.KreinSVC(random_state=0),
        krein.KreinLogistic(random_state=0),
        krein.KreinRidge(solver="local", random_state=0),
        krein.KreinRidgeClassifier(solver="local", random_state=0),
        krein.ExactKreinSVC(krein.kernels.DeltaGaussian(1.0, 3.0)),
    ]


def use_once(folder: Path) -> None:
    """Every map and every model once, through a file and back."""
    for one in _maps():
        one.fit(X, Y).transform(X)
        one.save(folder / "map.krein")
        krein.load_model(folder / "map.krein").transform(X)
    for one in _models():
        one.fit(X[:600], Y[:600] if isinstance(one, krein.KreinRidge) else LABELS[:600]).predict(X)
        one.save(folder / "model.krein")
        krein.load_model(folder / "model.krein").predict(X)


def use_objects(folder: Path) -> None:
    """Words instead of rows, evaluated here and in two processes, with a cache on disk; matrices of their similarities."""
    labels = LABELS[: len(WORDS)]
    for n_jobs in (1, 2):
        file = folder / "pairs"
        file.unlink(missing_ok=True)  # or the second round would evaluate nothing
        cache = krein.SimilarityCache(file)
        map_ = krein.KreinNystroem(shared_pairs, 20, n_jobs=n_jobs, cache=cache, random_state=0)
        krein.KreinRidgeClassifier(map_, lam=0.1).fit(WORDS, labels).predict(WORDS)
    matrix = np.array([[shared_pairs(a, b) for b in WORDS] for a in WORDS])
    krein.SpectrumCorrection("nearest").fit(matrix).transform(matrix)
    krein.KreinMDS(2, metric="precomputed").fit_transform(matrix.max() - matrix)
    krein.diagnose(matrix)


@final
class Clusters:
    """A client of one cluster after the other, each with a worker of its own."""

    def __init__(self) -> None:
        self._rounds, self._client = 0, None

    def client(self) -> Any:
        """For the next round."""
        from distributed import Client

        if self._rounds % CLUSTER_ROUNDS == 0:
            self.close()
            self._client = Client(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
        self._rounds += 1
        return self._client

    def close(self) -> None:
        """End the one that runs."""
        if self._client is not None:
            self._client.close()
            self._client.cluster.close()


def use_dask(client: Any) -> None:
    """Fits on a cluster that lives for many rounds."""
    import dask.array as da

    rows, targets = da.from_array(X, chunks=(500, -1)), da.from_array(Y, chunks=500)
    labels = da.from_array(LABELS, chunks=500)
    map_ = krein.SignedFourierFeatures(krein.kernels.NTK(), 64, random_state=0)
    krein.KreinRidge(map_).fit(rows, targets).predict(rows).compute(scheduler=client)
    krein.KreinRidgeClassifier(map_, solver="local").fit(rows, labels).predict(rows).compute(scheduler=client)
    krein.KreinLogistic(map_, lam=0.1).fit(rows, labels).predict(rows).compute(scheduler=client)


def measure() -> tuple[float, ...]:
    """What `COLUMNS` names, now."""
    gc.collect()
    process = psutil.Process()
    children = [child for child in process.children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
    theirs = sum(child.memory_info().rss for child in children) / 2**20
    here = process.memory_info().rss / 2**20
    return here, theirs, process.num_fds(), process.num_threads(), threading.active_count(), len(children)


def run(minutes: float, use: Callable[[], None]) -> np.ndarray:
    """Rounds until the time is over; a row of minutes and `COLUMNS` for each."""
    begin, rows = time.monotonic(), []
    while (now := (time.monotonic() - begin) / 60) < minutes or len(rows) < 3 * WARM_UP:
        use()
        rows.append((now, *measure()))
        if len(rows) % 10 == 1:
            seen = ", ".join(f"{value:.0f} {name}" for name, value in zip(COLUMNS, rows[-1][1:], strict=True))
            sys.stdout.write(f"{now:5.1f} min, round {len(rows)}: {seen}\n")
            sys.stdout.flush()
    return np.array(rows)


def verdict(rows: np.ndarray) -> list[str]:
    """What grew that should not have.

    Memory by a line through all rounds after the first ones; what is counted, by the most of the first and the least of the last.
    """
    steady, found = rows[WARM_UP:], []
    for column, name in enumerate(COLUMNS, 1):
        if name.startswith("MiB"):
            slope = np.polyfit(steady[:, 0], steady[:, column], 1)[0]
            growth = slope * (steady[-1, 0] - steady[0, 0])
            sys.stdout.write(f"{len(rows)} rounds, {name}: {growth:+.1f} by a line through the last {len(steady)}\n")
            if growth > MOST_GROWTH:
                found.append(f"{name} grew by {growth:.1f}")
            continue
        first, last = steady[:WARM_UP, column].max(), steady[-WARM_UP:, column].min()
        sys.stdout.write(f"{len(rows)} rounds, {name}: {first:.0f} at first, {last:.0f} at the end\n")
        if last > first:
            found.append(f"{name} went from {first:.0f} to {last:.0f}")
    return found


def main() -> int:
    """Run; 1 if anything grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, closing(Clusters()) as clusters:

        def use() -> None:
            use_once(Path(folder))
            use_objects(Path(folder))
            use_dask(clusters.client())

        found = verdict(run(given.minutes, use))
    for one in found:
        sys.stderr.write(f"soak: {one}\n")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
