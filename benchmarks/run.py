"""Speed and memory of krein, compared with bounds and other packages: ``make bench``, or ``python benchmarks/run.py [--full]``.

Prints one table and writes ``results.json`` and ``results.svg`` beside this file. Repeats are interleaved; a ratio is the
median of the ratios within each turn, with quartiles. Threads are pinned in all libraries and stated.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from suite.machine import describe, pin_threads

HERE = Path(__file__).resolve().parent
SECTIONS = ("transform", "structured", "memory", "generation", "equal_time", "learning", "cold_start", "growth")


def sections(size: str, threads: int) -> dict[str, Callable[[], tuple[list[Any], dict[str, Any]]]]:
    """Name and measurement of every section, at one of three sizes; a measurement gives rows and what else to keep."""
    from suite import cluster, cold_start, equal_time, generation, learning, memory, structured, transform

    tiny, full = size == "tiny", size == "full"
    names = ("letter", "ijcnn1", "covtype") if full else ("letter",)

    def learned() -> tuple[list[Any], dict[str, Any]]:
        rows, lines = learning.growth(200 if tiny else 25_000, 5 if full else 3)
        rows += learning.svm(*((300, 64, 1) if tiny else (12_000, 512, 3) if full else (6000, 256, 2)))
        if not tiny:
            size = (581_012, 2048) if full else (60_000, 1024)
            rows = learning.ridge(*size, at_most=1.6 if full else None) + rows
        return rows, {"growth": lines}

    def timed() -> tuple[list[Any], dict[str, Any]]:
        multiples = (2, 8) if tiny else (2, 4, 8, 16, 32, 64) if full else (2, 8, 32)
        kernels = ("polynomial", "delta-gaussian", "ntk") if full else ("delta-gaussian",)
        rows, points = equal_time.measure(names, kernels, multiples, 2000 if tiny else 50_000)
        return rows, {"points": [asdict(point) for point in points]}

    def spread() -> tuple[list[Any], dict[str, Any]]:
        rows, constants = cluster.measure(*((2_000_000, 1024, 100_000) if full else (100_000, 512, 12_500)))
        return rows, {"constants": asdict(constants)}

    sizes = (2000, 22, 128) if tiny else (50_000, 22, 1408)
    return {
        "transform": lambda: (transform.measure(*sizes, 9 if full else 3, threads, slow_in_single=full), {}),
        "structured": lambda: (
            structured.measure(
                *((100, 64, 256, 1) if tiny else (5000, 784, 8192, 7) if full else (2000, 784, 8192, 3))
            ),
            {},
        ),
        "memory": lambda: (memory.measure(*sizes), {}),
        "generation": lambda: (
            generation.measure(
                ("letter", "ijcnn1") if not tiny else ("letter",), (2,) if tiny else (2, 8, 32), 3 if full else 1
            ),
            {},
        ),
        "equal_time": timed,
        "learning": learned,
        "cold_start": lambda: (cold_start.measure(7 if full else 3), {}),
        "growth": spread,
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all data sets, more rows, more repeats; about an hour")
    parser.add_argument("--tiny", action="store_true", help="a few rows, to test that everything runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="run only these sections")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the results")
    options = parser.parse_args(arguments)
    pin_threads(options.threads)
    from suite.report import draw, show, write
    from suite.rows import Row
    from suite.timing import processor_seconds

    machine = describe(options.threads)
    print(
        f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads, load {machine['load_at_start']}"
    )
    print(", ".join(f"{name} {version or 'absent'}" for name, version in machine["versions"].items()))
    size = "full" if options.full else "tiny" if options.tiny else "short"
    tables: dict[str, list[Row]] = {}
    rest: dict[str, Any] = {"size": size, "seconds": {}, "processor_seconds": {}}
    for name, measure in sections(size, options.threads).items():
        if name not in options.only:
            continue
        start, used = time.perf_counter(), processor_seconds()
        try:
            tables[name], more = measure()
        except Exception as error:  # the other sections are worth having
            tables[name], more = [Row(name, note=f"not measured: {type(error).__name__}: {error}")], {}
        rest |= more
        rest["seconds"][name] = round(time.perf_counter() - start, 1)
        rest["processor_seconds"][name] = round(processor_seconds() - used, 1)
        show(
            f"{name} ({rest['seconds'][name]:.0f} s, {rest['processor_seconds'][name]:.0f} s of processors)",
            tables[name],
        )
    machine["load_at_end"] = [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "results.json", machine, tables, rest)
    draw(options.out / "results.svg", tables, rest.get("points", []), rest.get("growth", {}))
    verdicts = [row.met for rows in tables.values() for row in rows if row.met is not None]
    print(f"\n{sum(verdicts)} of {len(verdicts)} targets met; load at the end {machine['load_at_end']}")


if __name__ == "__main__":
    main(sys.argv[1:])
