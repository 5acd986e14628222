"""Fits from many threads of the caller against the same fits in a row: ``python benchmarks/concurrent_fits.py``.

Sixteen threads of the caller must not slow each other down: each gets its part of the processors, and BLAS has one thread. The
ratio of wall times should be at most 1.2, and is below 1 where fits leave processors idle. ``--load`` starts as many busy
processes as there are processors first: then the fits have half the machine, and should take about twice the time, not ten times.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import krein
from krein._core.threads import usable_processors


def timed(task: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    task()
    return time.perf_counter() - wall, time.process_time() - processor


def contest(name: str, fit: Callable[[int], object], fits: int, callers: int, repeats: int) -> None:
    """Print one line: the fits in a row, from some callers at once, and the ratio; medians of repeats that take turns."""
    fit(0)  # compiles, imports, and solves what is remembered afterwards

    def in_a_row() -> None:
        for seed in range(fits):
            fit(seed)

    def at_once() -> None:
        with ThreadPoolExecutor(callers) as pool:
            list(pool.map(fit, range(fits)))

    turns = np.array([(*timed(in_a_row), *timed(at_once)) for _ in range(repeats)])
    row, row_work, once, once_work = np.median(turns, axis=0)
    print(
        f"{name:34s}{row:9.2f}{row_work:9.2f}{once:11.2f}{once_work:9.2f}{once / row:9.2f}{once_work / row_work:9.2f}"
    )


def spin() -> None:
    while True:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=32)
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--load", action="store_true", help="run as many busy processes as there are processors at the same time"
    )
    options = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(options.rows, 10))
    y = X[:, 0] ** 2 + X[:, 1]
    contests: dict[str, Callable[[int], object]] = {
        "SignedFourierFeatures, D = 128": lambda s: krein.SignedFourierFeatures(n_components=128, random_state=s).fit(
            X
        ),
        "SignedFourierFeatures, D = 512": lambda s: krein.SignedFourierFeatures(n_components=512, random_state=s).fit(
            X
        ),
        "KreinNystroem, D = 128": lambda s: krein.KreinNystroem(n_components=128, random_state=s).fit(X),
        "KreinRidge": lambda s: krein.KreinRidge(random_state=s).fit(X, y),
    }
    loads = [multiprocessing.Process(target=spin, daemon=True) for _ in range(usable_processors() * options.load)]
    for load in loads:
        load.start()
    print(f"{options.fits} fits on {options.rows} rows, {usable_processors()} processors, busy processes: {len(loads)}")
    print(f"{'':34s}{'in a row':>18s}{f'{options.callers} at once':>20s}{'ratio':>18s}")
    print(f"{'':34s}{'wall s':>9s}{'cpu s':>9s}{'wall s':>11s}{'cpu s':>9s}{'wall':>9s}{'cpu':>9s}")
    try:
        for name, fit in contests.items():
            contest(name, fit, options.fits, options.callers, options.repeats)
    finally:
        for load in loads:
            load.terminate()


if __name__ == "__main__":
    main()
