"""How far the compiled maps are from their bounds, and from scikit-learn: ``python benchmarks/hot_loop.py [--quick]``.

The bound of the trigonometric map is the projection by BLAS plus writing the output once, each with two threads and into fresh
memory; that of a map of kernel sections its two products by BLAS, rows with landmarks and sections with the projection. Repeats are
interleaved, so that whatever else the machine does falls on all rows of a table alike; medians and quartiles are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler

from krein import SignedFourierFeatures
from krein._core.directions import hadamard_order
from krein._core.threads import n_threads, within_budget
from krein.features.waves import hadamard_frequencies, hadamard_trig_map, trig_map
from krein.kernels import NTK, DeltaGaussian, Kernel

THREADS = n_threads()


def interleaved(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, np.ndarray]:
    """Seconds of each task, the tasks taking turns; the first turn warms up and is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            result = task()
            if turn:
                seconds[name].append(time.perf_counter() - start)
            del result  # returned to the system outside the clock, so that every output is fresh
    return {name: np.array(values) for name, values in seconds.items()}


def stream(shape: tuple[int, int], dtype: type, pool: ThreadPoolExecutor) -> np.ndarray:
    """Fresh memory of the output's size, written once by all threads."""
    out = np.empty(shape, dtype)
    list(pool.map(lambda part: part.fill(1), np.array_split(out, THREADS)))
    return out


def report(title: str, seconds: dict[str, np.ndarray], ratios: dict[str, float]) -> None:
    """Print one table."""
    print(f"\n{title}")
    for name, values in seconds.items():
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75]) * 1e3
        print(f"  {name:<28} {median:8.1f} ms   ({low:.1f} to {high:.1f})")
    for name, ratio in ratios.items():
        print(f"  {name:<44} {ratio:6.2f}")


def against_bound(n: int, d: int, s: int, dtype: type, repeats: int, pool: ThreadPoolExecutor) -> None:
    """The dense map beside its bound and RBFSampler."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    W = rng.standard_normal((s, d)).astype(dtype)
    a = np.full(s, s**-0.5, dtype)
    sampler = RBFSampler(n_components=2 * s, random_state=0).fit(X)
    seconds = interleaved(
        {
            "projection (BLAS)": lambda: X @ W.T,
            "writing the output": lambda: stream((n, 2 * s), dtype, pool),
            "trig_map": lambda: trig_map(X, W, a, np.empty((n, 2 * s), dtype)),
            "RBFSampler.transform": lambda: sampler.transform(X),
        },
        repeats,
    )
    projection, writing, ours, theirs = (np.median(v) for v in seconds.values())
    report(
        f"{np.dtype(dtype).name}, n = {n}, d = {d}, D = {2 * s}, {THREADS} threads",
        seconds,
        {"trig_map / (projection + writing)": ours / (projection + writing), "RBFSampler / trig_map": theirs / ours},
    )


def structured(n: int, d: int, s: int, dtype: type, repeats: int) -> None:
    """The map by Walsh–Hadamard transforms beside the dense map with the same frequencies."""
    rng = np.random.default_rng(0)
    p = hadamard_order(d)
    X = rng.standard_normal((n, d)).astype(dtype)
    signs = rng.choice(np.array([-1, 1], np.int8), (-(-s // p), 3, p))
    radii, a = np.full(s, d**-0.5, dtype), np.full(s, s**-0.5, dtype)
    W = hadamard_frequencies(signs, radii, d)
    seconds = interleaved(
        {
            "projection (BLAS)": lambda: X @ W.T,
            "trig_map": lambda: trig_map(X, W, a, np.empty((n, 2 * s), dtype)),
            "hadamard_trig_map": lambda: hadamard_trig_map(X, signs, radii, a, np.empty((n, 2 * s), dtype)),
        },
        repeats,
    )
    _, dense, hadamard = (np.median(v) for v in seconds.values())
    report(
        f"{np.dtype(dtype).name}, n = {n}, d = {d}, D = {2 * s}, {THREADS} threads",
        seconds,
        {"trig_map / hadamard_trig_map": dense / hadamard},
    )


def sections(n: int, d: int, width: int, kernel: Kernel, repeats: int) -> None:
    """A map of twice as many kernel sections as columns beside its two products, and scikit-learn's map with as many landmarks."""
    X = np.random.default_rng(0).uniform(0.05, 1.0, (n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    features = SignedFourierFeatures(kernel, width, weights="projected", dictionary="landmarks", random_state=0)
    fitted = features.fit(X[:6000])
    map_ = fitted.feature_map_
    assert map_.sections is not None
    landmarks, T = map_.sections.landmarks, map_.projection
    S = kernel.gram(X, landmarks)
    wide = np.hstack([np.ones((n, map_.n_columns - len(landmarks))), S])
    peer = Nystroem(kernel="rbf", gamma=0.5, n_components=width, random_state=0).fit(X[:6000])
    with within_budget():
        seconds = interleaved(
            {
                "rows @ landmarks (BLAS)": lambda: X @ landmarks.T,
                "sections @ projection (BLAS)": lambda: wide @ T,
                "sections by the kernel": lambda: kernel.gram(X, landmarks),
                "transform": lambda: fitted.transform(X),
                "Nystroem.transform, rbf": lambda: peer.transform(X),
            },
            repeats,
        )
    first, second, exact, ours, theirs = (np.median(v) for v in seconds.values())
    report(
        f"{kernel!r}, n = {n}, d = {d}, {len(landmarks)} sections to {width} columns, {THREADS} threads",
        seconds,
        {
            "transform / its two products": ours / (first + second),
            "sections by the kernel and product / transform": (exact + second) / ours,
            "Nystroem with half the landmarks / transform": theirs / ours,
        },
    )


def cold_start() -> None:
    """Seconds of the first transform in a new process, once the cache on disk is warm, import of numba included."""
    code = (
        "import time, numpy as np, krein.features.waves as trig; X, a = np.ones((100, 5)), np.ones(100);"
        "start = time.perf_counter(); trig.trig_map(X, X, a, np.empty((100, 200))); print(time.perf_counter() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    print(f"\nfirst transform in a new process: {min(float(run.stdout) for run in runs):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats")
    quick = parser.parse_args().quick
    n, repeats = (20_000, 3) if quick else (50_000, 7)
    with ThreadPoolExecutor(THREADS) as pool:
        for dtype in (np.float32, np.float64):
            against_bound(n, 22, 704, dtype, repeats, pool)
    for dtype in (np.float32, np.float64):
        structured(n // 10, 784, 4096, dtype, repeats)
    for kernel in (DeltaGaussian(1.0, 10.0), NTK()):
        sections(n // 5, 22, 512, kernel, repeats)
    cold_start()


if __name__ == "__main__":
    main()
