"""Section 3: memory that ``transform`` needs besides its output."""

from __future__ import annotations

from suite.rows import Row
from suite.timing import in_new_process

__all__ = ["measure"]

_LIMIT = 64.0

_PROGRAM = """
import json, sys, tracemalloc
import numpy as np
from krein import SignedFourierFeatures
from suite.timing import resettable_peak

n, d, width, dtype = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
features = SignedFourierFeatures(n_components=width, random_state=0).fit(X[:3000])
features.transform(X[:100])

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))

resident = None
if resettable_peak():
    before = status("VmRSS")
    Z = features.transform(X)
    resident = status("VmHWM") - before - Z.nbytes / 2**20
    del Z
tracemalloc.start()
Z = features.transform(X)
traced = (tracemalloc.get_traced_memory()[1] - Z.nbytes) / 2**20
print(json.dumps([traced, resident]))
"""


def measure(n: int, d: int, width: int) -> list[Row]:
    """Peak beyond the output in MiB: arrays allocated (tracemalloc), and resident memory where it can be reset."""
    rows: list[Row] = []
    for dtype in ("float32", "float64"):
        traced, resident = in_new_process(_PROGRAM, n, d, width, dtype)
        size = f"n = {n:,}, d = {d}, D = {width}"
        rows.append(Row(f"arrays beside the output, {dtype}", traced, "MiB", at_most=_LIMIT, note=size))
        if resident is not None:
            rows.append(Row(f"resident beside the output, {dtype}", resident, "MiB", at_most=_LIMIT, note=size))
    return rows
