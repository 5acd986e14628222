"""Accuracy against time on many rows: ``make bench-scale``, or ``python benchmarks/bench_scale.py [--quick]``.

krein (nothing set, exact, local, features of several widths), scikit-learn's Nystroem and RBFSampler pipelines, gradient boosting
(as by default, and with as much time as krein takes with nothing set) and xRFM, each in a process of its own. Then growth with
the rows: exponent of the time, and memory. Writes ``scale.json`` beside this file, and tables and pictures of the guide.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from suite.machine import describe, pin_threads

HERE = Path(__file__).resolve().parent
GROWTH = (50_000, 100_000, 200_000, 500_000)
QUICK_TRAIN, QUICK_TEST = 4000, 2000


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TRAIN:,} rows of each set and one width")
    parser.add_argument("--sets", nargs="+", help="some sets")
    parser.add_argument("--lines", nargs="+", help='some models, such as "krein, local" boosting')
    parser.add_argument("--no-growth", action="store_true", help="no growth with the rows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of scale.json")
    parser.add_argument(
        "--tables", type=Path, default=None, help="folder of the guide's tables, if they are to be written"
    )
    options = parser.parse_args(arguments)
    pin_threads(options.threads)
    from contest.results import show_table
    from contest.scale_data import SETS
    from contest.scale_tables import growth_exponent, growth_table, set_table, write_pages

    train, test = (QUICK_TRAIN, QUICK_TEST) if options.quick else (0, 0)
    results: dict[str, Any] = {"machine": describe(options.threads), "quick": options.quick, "sets": {}, "growth": []}
    for name in options.sets or SETS:
        results["sets"][name] = _measure_set(name, train, test, quick=options.quick, lines=options.lines)
        show_table(name, set_table(results["sets"][name]))
        _write(options.out, results)
    if not options.no_growth:
        sizes = [size // 50 for size in GROWTH] if options.quick else GROWTH
        results["growth"] = [_measure("covtype", size, test, _nothing_set()) for size in sizes]
        show_table("growth with the rows, covtype", growth_table(results["growth"]))
        for clock in ("fit_seconds", "fit_processor_seconds"):
            print(f"  exponent of {clock} in rows: {growth_exponent(results['growth'], clock):.2f}")
        _write(options.out, results)
    if options.tables is not None:
        write_pages(results, options.tables)


def _measure_set(name: str, train: int, test: int, *, quick: bool, lines: list[str] | None) -> list[dict[str, Any]]:
    """Every model on one set; boosting once more with the time that krein with nothing set took."""
    from contest.scale_data import load_scale
    from contest.scale_methods import Entry, entries

    n_rows = len(load_scale(name, train or None, test or None).y)
    runs = [_measure(name, train, test, one) for one in entries(n_rows, quick=quick) if not lines or one.line in lines]
    ours = [run for run in runs if run["line"] == "krein, nothing set" and "accuracy" in run]
    boosted = [run for run in runs if run["line"] == "boosting" and "accuracy" in run]
    if ours and boosted:
        # scikit-learn stops at 100 rounds by default, or before
        rounds = max(1, round(100 * ours[0]["fit_seconds"] / boosted[0]["fit_seconds"]))
        runs.append(_measure(name, train, test, Entry("boosting", "boosting", {"max_iter": rounds})))
    return runs


def _measure(name: str, train: int, test: int, entry: Any) -> dict[str, Any]:
    from contest.scale_run import CODE
    from suite.timing import in_new_process

    print(f"  {name}: {entry.line} {entry.settings or ''}", file=sys.stderr, flush=True)
    try:
        found = in_new_process(CODE, name, train, test, entry.kind, json.dumps(entry.settings))
    except RuntimeError as error:  # the others are worth having
        found = {"failure": str(error)}
    return asdict(entry) | found


def _nothing_set() -> Any:
    from contest.scale_methods import Entry

    return Entry("krein, nothing set", "krein")


def _write(folder: Path, results: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scale.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
