"""The same fit by one process with two threads and by two Dask workers of one thread each: time, and whether labels agree."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["compare_cluster"]

_BLOCKS = 8

_ONE = """
import json, sys, time
import numpy as np
from contest.scale_data import load_scale
from krein import KreinRidgeClassifier
name, train, test, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
split = load_scale(name, train or None, test or None)
KreinRidgeClassifier(solver="local", random_state=0).fit(split.X[:600], split.y[:600]).predict(split.X[:600])
start, busy = time.perf_counter(), time.process_time()
model = KreinRidgeClassifier(random_state=0, solver="local").fit(split.X, split.y)
seconds, used = time.perf_counter() - start, time.process_time() - busy
np.save(path, model.predict(split.X_new))
print(json.dumps({"seconds": seconds, "processor_seconds": used, "n_train": len(split.y), "n_test": len(split.y_new)}))
"""

_TWO = """
import json, sys, time
import numpy as np

def used():
    import time
    return time.process_time()

def threads():
    from krein._core.threads import n_threads
    return n_threads()

def main():
    import dask.array as da
    from distributed import Client, LocalCluster
    from contest.scale_data import load_scale
    from krein import KreinRidgeClassifier
    name, train, test, path, blocks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
    split = load_scale(name, train or None, test or None)
    size = -(-len(split.y) // blocks)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        some = [da.from_array(part[:600], chunks=(300, *part.shape[1:])) for part in (split.X, split.y)]
        KreinRidgeClassifier(solver="local", random_state=0).fit(*some).predict(split.X[:600])
        X, y = (da.from_array(part, chunks=(size, *part.shape[1:])).persist() for part in (split.X, split.y))
        each = client.run(threads)
        before = sum(client.run(used).values()) + used()
        start = time.perf_counter()
        model = KreinRidgeClassifier(random_state=0, solver="local").fit(X, y)
        seconds = time.perf_counter() - start
        after = sum(client.run(used).values()) + used()
    np.save(path, model.predict(split.X_new))
    print(json.dumps({"seconds": seconds, "processor_seconds": after - before, "threads": sorted(each.values())}))

main()
"""


def compare_cluster(name: str, train: int, test: int) -> dict[str, Any]:
    """Both ways on the rows of one set, each in a process of its own; 0 rows are all."""
    from suite.timing import in_new_process

    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "one.npy", Path(folder) / "two.npy"
        one = in_new_process(_ONE, name, train, test, here)
        two = in_new_process(_TWO, name, train, test, there, _BLOCKS)
        same = float(np.mean(np.load(here, allow_pickle=True) == np.load(there, allow_pickle=True)))
    return {"set": name, "one_process": one, "two_workers": two, "same_labels": same, "blocks": _BLOCKS}
