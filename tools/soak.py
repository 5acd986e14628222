"""An hour of use: ``python tools/soak.py [--minutes 60]`` fits, maps, saves, loads and predicts over and over, Dask included.

Every estimator takes its turn in one process. Memory, file descriptors and threads are written down after each round. At the end
the first rounds, in which caches fill, are left out, and a line is laid through the rest: growth of memory beyond `MOST_GROWTH`
over the whole run, or a descriptor or thread more than at the beginning, is an error. ``make soak`` calls it.
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
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import krein

MOST_GROWTH = 20.0  # MiB over the whole run
WARM_UP = 5  # rounds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 8))
Y = np.cos(2 * X[:, 0]) + X[:, 1] ** 2
LABELS = np.digitize(Y, [0.4, 1.2])


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


def use_dask(client: Any) -> None:
    """A fit on a cluster that lives as long as the run."""
    import dask.array as da

    rows, targets = da.from_array(X, chunks=(500, -1)), da.from_array(Y, chunks=500)
    map_ = krein.SignedFourierFeatures(krein.kernels.NTK(), 64, random_state=0)
    krein.KreinRidge(map_).fit(rows, targets).predict(rows).compute(scheduler=client)


def measure() -> tuple[float, int, int]:
    """MiB of memory, open descriptors, threads of Python."""
    gc.collect()
    process = psutil.Process()
    return process.memory_info().rss / 2**20, process.num_fds(), threading.active_count()


def run(minutes: float, use: Callable[[], None]) -> np.ndarray:
    """Rounds until the time is over; a row of (minutes, MiB, descriptors, threads) for each."""
    begin, rows = time.monotonic(), []
    while (now := (time.monotonic() - begin) / 60) < minutes or len(rows) < 2 * WARM_UP:
        use()
        rows.append((now, *measure()))
        if len(rows) % 10 == 1:
            sys.stdout.write(f"{now:5.1f} min, round {len(rows)}: {rows[-1][1]:.0f} MiB, {rows[-1][2]} descriptors\n")
            sys.stdout.flush()
    return np.array(rows)


def judge(rows: np.ndarray) -> list[str]:
    """What grew that should not have."""
    steady = rows[WARM_UP:]
    slope = np.polyfit(steady[:, 0], steady[:, 1], 1)[0] if len(steady) > 1 else 0.0
    growth = slope * (steady[-1, 0] - steady[0, 0])
    found = [f"memory grew by {growth:.1f} MiB"] if growth > MOST_GROWTH else []
    for column, name in ((2, "descriptors"), (3, "threads")):
        if steady[-1, column] > steady[0, column]:
            found.append(f"{name} went from {steady[0, column]:.0f} to {steady[-1, column]:.0f}")
    sys.stdout.write(f"{len(rows)} rounds, memory {growth:+.1f} MiB by a line through the last {len(steady)}\n")
    return found


def main() -> int:
    """Run; 1 if anything grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    from distributed import Client

    with (
        tempfile.TemporaryDirectory() as folder,
        Client(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as client,
    ):

        def use() -> None:
            use_once(Path(folder))
            use_dask(client)

        found = judge(run(given.minutes, use))
    for one in found:
        sys.stderr.write(f"soak: {one}\n")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
