"""Section 7: what a new process waits for."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from krein import SignedFourierFeatures
from suite.rows import Row, of_times
from suite.timing import in_new_process

__all__ = ["measure"]

# scikit-learn loads its parts when they are asked for; the ones that every user of a feature map and a linear model loads
# are not krein's to answer for.
_IMPORT = """
import json, time
start = time.perf_counter()
import sklearn.kernel_approximation, sklearn.svm
middle = time.perf_counter()
import krein
print(json.dumps([middle - start, time.perf_counter() - middle]))
"""

_FIRST = """
import json, sys, time
import numpy as np
import krein
X = np.random.default_rng(0).standard_normal((1000, 22))
features = krein.load_model(sys.argv[1])
start = time.perf_counter()
features.transform(X)
print(json.dumps(time.perf_counter() - start))
"""


def measure(repeats: int) -> list[Row]:
    """Import after scikit-learn, and the first transform of a map read from a file, with numba's cache warm."""
    X = np.random.default_rng(0).standard_normal((1000, 22))
    features = SignedFourierFeatures(n_components=512, random_state=0).fit(X)
    features.transform(X)  # fills the cache on disk
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.krein"
        features.save(path)
        runs = [(*in_new_process(_IMPORT), in_new_process(_FIRST, path)) for _ in range(repeats)]
    sklearn, krein, first = np.array(runs).T
    return [
        of_times("import scikit-learn", sklearn, 1.0, "s", note="kernel_approximation and svm"),
        of_times("import krein after it", krein, 1.0, "s", at_most=0.5),
        of_times("first transform", first, 1.0, "s", at_most=1.0, note="new process, 1,000 rows, numba imported in it"),
    ]
