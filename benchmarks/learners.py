"""The cost of learning: streaming ridge against the bare ZᵀZ, memory, growth with n.

    python benchmarks/learners.py ridge   [--rows 581012] [--components 2048]
    python benchmarks/learners.py growth  [--components 2048]
    python benchmarks/learners.py accuracy

Data: covtype for the first two (a folder in KREIN_DATA, or made-up rows of the same shape), letter for the last.
Every fit runs in a process of its own, so that peak memory is that of the fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

KERNELS = {
    "ntk": "NTK()",
    "delta-gaussian": "DeltaGaussian(1, 10)",
    "spherical-polynomial": "SphericalPolynomial(2, 2)",
}


def covtype(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in float32, columns to [0, 1] and rows to unit length, in a shuffled order."""
    from krein.datasets.scaling import minmax_unit

    rng = np.random.default_rng(0)
    try:
        from krein.datasets import load

        X, y = load("covtype", split=False, binary=False)
    except OSError as error:
        print(f"# no covtype ({error}); random rows of its shape")
        X, y = rng.uniform(0, 1, size=(581_012, 54)).astype(np.float32), rng.integers(1, 8, 581_012)
    order = rng.permutation(X.shape[0])[:n_rows]
    (X,) = minmax_unit(X[order])
    return X, y[order]


def peak_mib() -> float:
    """Most memory this process has had resident. The system's ru_maxrss would count that of the process that started it."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit_once(n_rows: int, n_components: int, *, products: bool) -> dict[str, float]:
    """One fit with default settings, and if asked the bare products of the same blocks of features, in this process."""
    from krein.estimators.learners.ridge import KreinRidgeClassifier
    from krein.estimators.maps.fourier import SignedFourierFeatures
    from krein.kernels import NTK
    from krein.rows.blocks import block_length

    X, y = covtype(n_rows)
    before = peak_mib()
    features = SignedFourierFeatures(kernel=NTK(), n_components=n_components, random_state=0)
    # compile and warm up outside the clock: the cache on disk makes this a matter of the first fit ever
    KreinRidgeClassifier(features, lam=1e-6).fit(X[:5000], y[:5000])
    start, cpu = time.perf_counter(), time.process_time()
    model = KreinRidgeClassifier(features).fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_mib()
    record = {
        "rows": n_rows,
        "components": n_components,
        "fit_seconds": seconds,
        "fit_cpu_seconds": cpu,
        "data_mib": before,
        "peak_mib": peak,
        "accuracy": float(model.score(X[:20_000], y[:20_000])),
        "lam": float(model.lam_),
    }
    if not products:
        return record
    return record | interleaved(features, X, y, block_length(n_components))


def interleaved(features: Any, X: np.ndarray, y: np.ndarray, rows: int) -> dict[str, float]:
    """The steps of a fit, block by block, each block followed by its bare product: other work on the machine slows both."""
    from krein.estimators.learners.ridge import KreinRidgeClassifier
    from krein.estimators.maps.base import row_map
    from krein.learning.ridge_choice import solve_ridge
    from krein.learning.ridge_sums import add_rows
    from krein.rows.source import MatrixRows

    names = ("feature_fit", "blocks", "solve", "transform", "float64", "float32")
    clocks = {name: np.zeros(2) for name in names}

    def timed(name: str, function: Callable[[], Any]) -> Any:
        before = np.array([time.perf_counter(), time.process_time()])
        result = function()
        clocks[name] += np.array([time.perf_counter(), time.process_time()]) - before
        return result

    model = KreinRidgeClassifier(features)
    options, targets = model._options(), model._new_targets()
    fitted = timed("feature_fit", lambda: row_map(features.fit(MatrixRows(X, y).look(targets).distinct)))
    sums = options.new_sums(targets, fitted.signature.shape[0], n_rows=X.shape[0])
    for i in range(0, X.shape[0], rows):
        part = slice(i, i + rows)
        timed(
            "blocks",
            partial(add_rows, targets, fitted, sums, i, X[part], y[part], None),
        )
        Z = timed("transform", partial(fitted, X[part]))
        timed("float32", partial(np.matmul, Z.T, Z))
        Z = Z.astype(np.float64)
        timed("float64", partial(np.matmul, Z.T, Z))
    timed("solve", lambda: solve_ridge(sums, targets, fitted, options))
    whole = clocks["feature_fit"] + clocks["blocks"] + clocks["solve"]
    return {
        **{f"{name}_seconds": float(wall) for name, (wall, _) in clocks.items()},
        "interleaved_fit_seconds": float(whole[0]),
        "fit_over_float64_product": float(whole[0] / clocks["float64"][0]),
        "fit_over_float32_product": float(whole[0] / clocks["float32"][0]),
        "cpu_fit_over_float64_product": float(whole[1] / clocks["float64"][1]),
        "blocks_over_float64_product": float(clocks["blocks"][0] / clocks["float64"][0]),
    }


def in_own_process(*arguments: object) -> dict[str, float]:
    command = [sys.executable, __file__, "one", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def show(record: dict[str, float]) -> None:
    print("  ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in record.items()), flush=True)


def growth(n_components: int) -> None:
    """Time of a fit against n, and the exponent of its growth."""
    counts = (50_000, 100_000, 200_000, 500_000)
    records = []
    for n in counts:
        records.append(in_own_process(n, n_components, 0))
        show(records[-1])
    for clock in ("fit_seconds", "fit_cpu_seconds"):
        times = np.array([record[clock] for record in records])
        slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
        linear, fixed = np.polyfit(counts, times, 1)
        off = np.abs(times / (fixed + linear * np.array(counts)) - 1).max()
        print(
            f"{clock}: exponent of n {slope:.3f}; {fixed:.1f} + {linear * 1e5:.2f} per 100,000 rows, which is off by at "
            f"most {off:.0%}"
        )


def letter(n_rows: int, dtype: str = "float64") -> tuple[np.ndarray, ...]:
    from krein.datasets import load
    from krein.datasets.scaling import minmax_unit

    data = load("letter", split=True, seed=0)
    X, X_new = minmax_unit(data.X_train[:n_rows].astype(dtype), data.X_test.astype(dtype))
    return X, data.y_train[:n_rows], X_new, data.y_test


def accuracy(n_components: int) -> None:
    """Test accuracy on letter with default settings, and with the head of degree one."""
    from krein.estimators.learners.ridge import KreinRidgeClassifier
    from krein.estimators.maps.fourier import SignedFourierFeatures
    from krein.kernels import parse_kernel
    from krein.measures import MeasureRecipe

    for name, kernel in KERNELS.items():
        for dtype, head in (("float64", "auto"), ("float32", "auto"), ("float64", 1)):
            X, y, X_new, y_new = letter(12_000, dtype)
            features = SignedFourierFeatures(
                kernel=parse_kernel(kernel),
                n_components=n_components,
                measure=MeasureRecipe(head_degree=head),
                random_state=0,
            )
            start = time.perf_counter()
            model = KreinRidgeClassifier(features).fit(X, y)
            print(
                f"{name:22s} {dtype} head {head!s:4s}  accuracy {model.score(X_new, y_new):.4f}  lam {model.lam_:.1e}  "
                f"fit {time.perf_counter() - start:.1f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, rows, width in (
        ("ridge", 581_012, 2048),
        ("growth", 0, 2048),
        ("accuracy", 0, 2048),
    ):
        command = commands.add_parser(name)
        command.add_argument("--rows", type=int, default=rows)
        command.add_argument("--components", type=int, default=width)
    one = commands.add_parser("one")
    one.add_argument("rows", type=int)
    one.add_argument("components", type=int)
    one.add_argument("products", type=int)
    options = parser.parse_args()
    if options.command == "one":
        print(json.dumps(fit_once(options.rows, options.components, products=bool(options.products))))
    elif options.command == "ridge":
        show(in_own_process(options.rows, options.components, 1))
    elif options.command == "growth":
        growth(options.components)
    else:
        accuracy(options.components)


if __name__ == "__main__":
    main()
