"""Section 8: a billion rows on W workers, from constants measured here, checked against a run on two workers.

The model. A block of rows becomes sums: ZᵀZ and Zᵀy and some kept rows. With c the seconds of one row on one
worker (transform and rank-one update), B blocks of b rows, m the seconds to merge two of them, L its bytes, v the bandwidth:

    time  = fit of the features + (n c + B m) / W + (depth of the tree) (L / v + m) + solving
    moved = at most B L, the sums that a merge takes from another worker (about (1 - 1/W) of them)

Ledgers of one worker's own blocks are merged where they lie, so with blocks as large as memory allows the network sees
little more than W matrices of sums; the bound above is for blocks placed at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from suite.rows import Row
from suite.timing import in_new_process

__all__ = ["Constants", "measure"]

_FAN_IN = 4
_BANDWIDTH = 1.25e9  # bytes per second: ten gigabit per second
_DIM = 54


@dataclass(frozen=True)
class Constants:
    """What one worker with one thread needs.

    Parameters
    ----------
    row : float
        Seconds per row, transform and sums.
    merge : float
        Seconds to add one matrix of sums to another.
    sums : float
        Bytes of a matrix of sums as it is sent.
    fit, solve : float
        Seconds once: features, and the choice of λ with the solution.
    """

    width: int
    row: float
    merge: float
    sums: float
    fit: float
    solve: float

    def seconds(self, n: float, workers: int, block: int) -> float:
        """Time of a fit on so many workers."""
        blocks = math.ceil(n / block)
        depth = math.ceil(math.log(max(blocks, 2), _FAN_IN))
        shared = (n * self.row + blocks * self.merge) / workers
        return self.fit + shared + depth * (self.sums / _BANDWIDTH + self.merge) + self.solve

    def processor_seconds(self, n: float, block: int) -> float:
        """The same summed over all processors: what a busy machine does not change."""
        return self.fit + n * self.row + math.ceil(n / block) * self.merge + self.solve

    def moved(self, n: float, workers: int, block: int) -> float:
        """Bytes over the network: each merge takes from other workers what it does not have itself."""
        return math.ceil(n / block) * self.sums * (1 - 1 / workers)

    def memory(self, block: int) -> float:
        """Bytes a worker holds at once: sums of a merge and its result, a block of rows, a block of features."""
        return (_FAN_IN + 2) * self.sums + block * _DIM * 4 + (1 << 26)


# Processor time with one thread: what a worker of its own needs, whatever else this machine does.
_CONSTANTS = """
import copy, json, sys
from time import process_time
import numpy as np
from krein import KreinRidge, SignedFourierFeatures
from krein.kernels import NTK
from krein.learning import NormalSums
n, width = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X, y = rng.uniform(size=(n, 54)).astype(np.float32), rng.standard_normal(n)
features = SignedFourierFeatures(kernel=NTK(), n_components=width, random_state=0)

def seconds(task):
    start = process_time()
    task()
    return process_time() - start

def stream():
    sums = NormalSums(np.zeros(width), np.zeros(1))
    for i in range(0, n, 5000):
        sums.add(features.transform(X[i : i + 5000]), y[i : i + 5000, None])

KreinRidge(features).fit(X[:3000], y[:3000])
once = np.median([seconds(lambda: features.fit(X)) for _ in range(3)])
row = np.median([seconds(stream) for _ in range(3)]) / n
whole = np.median([seconds(lambda: KreinRidge(features).fit(X, y)) for _ in range(3)])
gram = np.zeros((width + 2, width + 2))
other = gram + 1
merge = np.median([seconds(lambda: np.add(copy.deepcopy(gram), other, out=gram)) for _ in range(5)])
solve = max(0.0, whole - once - row * n)
print(json.dumps([float(x) for x in (row, merge, gram.nbytes, once, solve)]))
"""

_RUN = """
import json, sys, time
import numpy as np

def main():
    import dask.array as da
    from distributed import Client, LocalCluster
    from krein import KreinRidge, SignedFourierFeatures
    from krein.kernels import NTK
    n, width, block, workers = map(int, sys.argv[1:])
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        X = da.random.default_rng(0).uniform(size=(n, 54), chunks=(block, 54)).astype(np.float32).persist()
        y = da.random.default_rng(1).standard_normal(n, chunks=block).persist()
        client.gather(client.map(lambda i: __import__("krein").__version__, range(2 * workers)))
        features = SignedFourierFeatures(kernel=NTK(), n_components=width, random_state=0)
        KreinRidge(features).fit(X[: 2 * block], y[: 2 * block])
        used = sum(client.run(time.process_time).values()) + time.process_time()
        start = time.perf_counter()
        KreinRidge(features).fit(X, y)
        wall = time.perf_counter() - start
        print(json.dumps([wall, sum(client.run(time.process_time).values()) + time.process_time() - used]))

if __name__ == "__main__":
    main()
"""


def measure(n: int, width: int, block: int) -> tuple[list[Row], Constants]:
    """The constants, the run on two workers beside its prediction, and a billion rows on W workers."""
    # one thread per worker, as in the cluster: child processes take what the environment says
    constants = Constants(width, *in_new_process(_CONSTANTS, n // 4, width, threads=1))
    predicted = constants.seconds(n, 2, block)
    rows = [
        Row(
            "transform and sums, one thread",
            constants.row * 1e6,
            "µs",
            note=f"per row, processor time, d = {_DIM}, D = {width}",
        ),
        Row("fit of the features, and solving, once", constants.fit + constants.solve, "s"),
        Row("sums of a block", constants.sums / 2**20, "MiB", note="D² sums in float64"),
    ]
    try:
        measured, used = in_new_process(_RUN, n, width, block, 2, threads=1)
    except RuntimeError as error:
        rows.append(Row("two workers, measured", note=f"not measured: {error}"))
    else:
        note = f"n = {n:,} in blocks of {block:,}: measured {measured:.1f} s, predicted {predicted:.1f} s"
        rows.append(Row("two workers, measured / predicted time", measured / predicted, note=note))
        needed = constants.processor_seconds(n, block)
        note = f"measured {used:.1f} s, scheduling and transport included, predicted {needed:.1f} s"
        rows.append(Row("two workers, measured / predicted processor time", used / needed, note=note))
    for workers in (2, 16, 128):
        minutes = constants.seconds(1e9, workers, 10**6) / 60
        moved, held = constants.moved(1e9, workers, 10**6) / 2**30, constants.memory(10**6) / 2**30
        note = f"10⁶ rows per block; {held:.1f} GiB per worker, {moved:.0f} GiB over the network"
        rows.append(Row(f"10⁹ rows on {workers} workers", minutes, "min", note=note))
    return rows, constants
