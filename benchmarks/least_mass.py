"""Seconds for a least-mass measure, for every named kernel up to d = 1,000; the target is one second.

python benchmarks/least_mass.py [--repeats 3] [--dims 3 16 123 1000] [--cpu]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import krein
from krein.kernels import NAMED_KERNELS
from krein.measures.search.grids import unit_grid

TARGET = 1.0


def seconds(function, repeats: int, clock) -> float:
    """The best of some runs; grids kept from the last one are dropped, so that each run starts cold."""
    best = np.inf
    for _ in range(repeats):
        unit_grid.cache_clear()
        start = clock()
        function()
        best = min(best, clock() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--dims", type=int, nargs="+", default=[3, 16, 123, 1000])
    parser.add_argument("--cpu", action="store_true", help="measure processor time, for busy machines")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    radius = 2**0.5
    print(
        f"R = {radius:.3f}; seconds for tol = 1e-3 of sup|k| | for n_components = 4 dim + 256 | mass and bias of the first"
    )
    print(f"{'kernel':24}" + "".join(f"{'d = ' + str(dim):>36}" for dim in options.dims))
    slow = []
    for name, cls in NAMED_KERNELS.items():
        kernel = cls()
        tol = 1e-3 * float(np.max(np.abs(kernel.radial(np.linspace(0, radius, 101)))))
        line = f"{name:24}"
        for dim in options.dims:

            def explicit(kernel=kernel, dim=dim, tol=tol):
                return krein.signed_measure(kernel, dim, radius, method="least_mass", tol=tol)

            def width(kernel=kernel, dim=dim):
                return krein.signed_measure(kernel, dim, radius, method="least_mass", n_components=4 * dim + 256)

            times = seconds(explicit, options.repeats, clock), seconds(width, options.repeats, clock)
            measure = explicit()
            line += f"{times[0]:8.2f} |{times[1]:6.2f} |{measure.mass:8.3f} ±{measure.bias:8.1e}"
            slow += [f"{name} d={dim}: {t:.2f} s" for t in times if t > TARGET]
        print(line, flush=True)
    print("\nabove the target: " + (", ".join(slow) if slow else "none"))


if __name__ == "__main__":
    main()
