"""An hour of use: ``python tools/soak.py [--minutes 60]`` fits, maps, saves, loads and predicts over and over, Dask included.

Every estimator takes its turn in this process, with rows and words. Fits on Dask have a process and a cluster of their own, so
that what grows here is the library's. Dask itself keeps records of all that it was ever given (its scheduler holds the groups of
finished tasks "indefinitely", says `distributed.spans`), so a third process gives a cluster as many tasks without krein: the
control. Each of the two lives for `LIFE` rounds, then a new one takes its place.

Memory, file descriptors, threads, processes and living objects of krein's classes are written down after each round. The first
rounds, in which caches fill, are left out. These are errors: memory that grows here by more than `MOST_GROWTH` over the whole run;
memory of the fits on Dask that grows by so much more than the control's; a descriptor, thread, process or object more at the end
than at the beginning. ``make soak`` calls it.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np
import psutil

import krein

MOST_GROWTH = 20.0  # MiB over the whole run
WARM_UP = 5  # rounds
LIFE = 30  # rounds: long enough to see a slope, and three of them in an hour
COLUMNS = (
    *("MiB", "MiB of its children", "descriptors", "native threads", "threads of Python", "processes"),
    *("objects of krein", "objects of krein on the worker", "tasks kept by the scheduler"),
)
# The profiler of a worker keeps the stacks that it has seen for an hour, half a MiB for a round of our fits, and logs of 1,000
# messages with what they carry fill for 25 rounds: both would hide what is left behind for good.
SHORT_LOGS = {"distributed.worker.profile.enabled": False, "distributed.admin.low-level-log-length": 100}
N_MEMORY = 2  # columns of memory, the first ones; the others are counts

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
        map_ = krein.KreinNystroem(krein.Similarity(shared_pairs, n_jobs=n_jobs, cache=cache), 20, random_state=0)
        krein.KreinRidgeClassifier(map_, lam=0.1).fit(WORDS, labels).predict(WORDS)
    matrix = np.array([[shared_pairs(a, b) for b in WORDS] for a in WORDS])
    krein.SpectrumCorrection("nearest").fit(matrix).transform(matrix)
    krein.KreinMDS(2, metric="precomputed").fit_transform(matrix.max() - matrix)
    krein.diagnose(matrix)


def use_dask(client: Any, _transitions: int) -> None:
    """Fits on a cluster, and predictions."""
    import dask.array as da

    rows, targets = da.from_array(X, chunks=(500, -1)), da.from_array(Y, chunks=500)
    labels = da.from_array(LABELS, chunks=500)
    map_ = krein.SignedFourierFeatures(krein.kernels.NTK(), 64, random_state=0)
    krein.KreinRidge(map_).fit(rows, targets).predict(rows).compute(scheduler=client)
    krein.KreinRidgeClassifier(map_, solver="local").fit(rows, labels).predict(rows).compute(scheduler=client)
    krein.KreinLogistic(map_, lam=0.1).fit(rows, labels).predict(rows).compute(scheduler=client)


def use_dask_alone(client: Any, transitions: int) -> None:
    """The control: sums over the same blocks in graphs like those of a fit, without krein, until tasks changed as often."""
    import dask
    import dask.array as da

    scheduler = client.cluster.scheduler
    enough = scheduler.transition_counter + transitions
    while scheduler.transition_counter < enough:
        rows = da.from_array(X, chunks=(500, -1)).persist(scheduler=client)
        for _ in range(5):  # passes over rows that the cluster keeps
            shared = dask.delayed(np.ones((X.shape[1], 64)), pure=False)
            parts = [
                dask.delayed(block_product)(block, shared) for block in rows.to_delayed(optimize_graph=False).ravel()
            ]
            dask.delayed(sum)(parts).compute(scheduler=client)


def block_product(rows: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """A matrix from a block of rows, as large as the sums of a fit."""
    features = rows @ shared
    return features.T @ features


def objects_of_krein() -> int:
    """Living instances of the library's classes in this process."""
    gc.collect()
    return sum(str(getattr(type(one), "__module__", "")).split(".")[0] == "krein" for one in gc.get_objects())


def measure(leave_out: Collection[int] = (), *, on_worker: int = 0, kept: int = 0) -> tuple[float, ...]:
    """What `COLUMNS` names, now, without the processes of some numbers and their children."""
    ours = objects_of_krein()
    process = psutil.Process()
    others = {child.pid for pid in leave_out for child in psutil.Process(pid).children(recursive=True)} | {*leave_out}
    children = [one for one in process.children(recursive=True) if one.pid not in others]
    children = [one for one in children if one.status() != psutil.STATUS_ZOMBIE]
    memory = [sum(one.memory_info().rss for one in group) / 2**20 for group in ([process], children)]
    threads = process.num_threads(), threading.active_count()
    return *memory, process.num_fds(), *threads, len(children), ours, on_worker, kept


def live(pipe: Any, use: Callable[[Any, int], None]) -> None:
    """In a process of its own: a round on its cluster for each number of transitions it gets, until the other end closes."""
    import dask
    from distributed import Client

    warnings.simplefilter("ignore")
    given = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with suppress(EOFError), dask.config.set(SHORT_LOGS), Client(**given) as client:
        scheduler = client.cluster.scheduler
        while True:
            wanted = pipe.recv()
            before = scheduler.transition_counter
            use(client, wanted)
            gc.collect()
            for _ in range(100):  # results are released a little after the last reference to them is gone
                if not scheduler.tasks:
                    break
                time.sleep(0.02)
            done = scheduler.transition_counter - before
            on_worker = sum(client.run(objects_of_krein).values())
            pipe.send((done, measure(on_worker=on_worker, kept=len(scheduler.tasks))))


@final
class Apart:
    """One process after the other that does something on a Dask cluster; `lives` has the rows of `COLUMNS` of each."""

    def __init__(self, use: Callable[[Any, int], None]) -> None:
        self.lives: list[list[tuple[float, ...]]] = []
        self._use, self._process, self._pipe = use, None, None

    def round(self, transitions: int = 0) -> int:
        """One round there; how often tasks changed their state."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=live, args=(theirs, self._use))
            self._process.start()
            theirs.close()
            self.lives.append([])
        self._pipe.send(transitions)
        done, row = self._pipe.recv()
        self.lives[-1].append(row)
        if len(self.lives[-1]) == LIFE:
            self.close()
        return done

    @property
    def pids(self) -> tuple[int, ...]:
        """The number of the process that lives."""
        return () if self._process is None else (self._process.pid,)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._pipe.close()
            self._process.join()
            self._process.close()
            self._process = None


def run(minutes: float, use: Callable[[], None], fits: Apart, control: Apart) -> np.ndarray:
    """Rounds until the time is over; a row of `COLUMNS` of this process for each."""
    begin, rows = time.monotonic(), []
    while (now := (time.monotonic() - begin) / 60) < minutes or len(rows) < 3 * WARM_UP:
        use()
        control.round(fits.round())
        rows.append(measure((*fits.pids, *control.pids)))
        if len(rows) % 10 == 1:
            for name, row in (("here", rows[-1]), ("on Dask", fits.lives[-1][-1]), ("control", control.lives[-1][-1])):
                seen = ", ".join(f"{value:.0f} {column}" for column, value in zip(COLUMNS, row, strict=True))
                sys.stdout.write(f"{now:5.1f} min, round {len(rows)}, {name}: {seen}\n")
            sys.stdout.flush()
    return np.array(rows)


def slope(lives: Iterable[np.ndarray], column: int) -> float:
    """Growth a round after the first ones: lines of one slope through all lives, each from its own beginning."""
    steady = [np.asarray(life)[WARM_UP:, column] for life in lives]
    rounds = np.concatenate([np.arange(len(one)) - (len(one) - 1) / 2 for one in steady])
    return float(rounds @ np.concatenate([one - one.mean() for one in steady])) / float(rounds @ rounds)


def grown_counts(lives: Iterable[np.ndarray], name: str) -> list[str]:
    """Counts of which the least of the last rounds of a life is more than the most of its first."""
    found = []
    for life in lives:
        for column in range(N_MEMORY, len(COLUMNS)):
            steady = np.asarray(life)[WARM_UP:, column]
            first, last = steady[:WARM_UP].max(), steady[-WARM_UP:].min()
            sys.stdout.write(f"{name}, {COLUMNS[column]}: {first:.0f} at first, {last:.0f} at the end\n")
            if last > first:
                found.append(f"{name}: {COLUMNS[column]} went from {first:.0f} to {last:.0f}")
    return found


def verdict(here: np.ndarray, fits: list[np.ndarray], control: list[np.ndarray]) -> list[str]:
    """What grew that should not have, here and on Dask; lives too short to tell are left out."""
    n_rounds = len(here)
    fits, control = ([life for life in lives if len(life) >= 3 * WARM_UP] for lives in (fits, control))
    found = grown_counts([here], "here") + grown_counts(fits, "on Dask")
    for column, name in enumerate(COLUMNS[:N_MEMORY]):
        own, theirs, alone = (slope(lives, column) for lives in ([here], fits, control))
        more = (theirs - alone) * n_rounds
        sys.stdout.write(
            f"{n_rounds} rounds, {name}: here {own * n_rounds:+.1f}; fits on Dask {theirs:+.3f} a round, Dask alone {alone:+.3f}, "
            f"so {more:+.1f} more by krein\n"
        )
        if own * n_rounds > MOST_GROWTH:
            found.append(f"{name} grew here by {own * n_rounds:.1f}")
        if more > MOST_GROWTH:
            found.append(f"{name} of fits on Dask grew by {more:.1f} more than of Dask alone")
    return found


def main() -> int:
    """Run; 1 if anything grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fits, control = (stack.enter_context(closing(Apart(use))) for use in (use_dask, use_dask_alone))

        def use() -> None:
            use_once(folder)
            use_objects(folder)

        here = run(given.minutes, use, fits, control)
        found = verdict(here, fits.lives, control.lives)
    for one in found:
        sys.stderr.write(f"soak: {one}\n")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
