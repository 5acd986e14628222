"""Accuracy against time on many rows: ``make bench-scale``, or ``python benchmarks/bench_scale.py [--only letter,magic]``.

krein (nothing set, exact, local, features of several widths), scikit-learn's Nystroem and RBFSampler pipelines, gradient boosting
(as by default, and with as much time as krein takes with nothing set) and xRFM, each in a process of its own. Then growth with
the rows (exponent of the time, and memory), two Dask workers against one process, and leaves against features on regression tables.
Writes ``scale.json`` beside this file after every run, and goes on from there: what it has is not measured again unless asked.
Tables and pictures of the guide are made of all that it has.
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
CLUSTER_ROWS = 100_000
QUICK_TRAIN, QUICK_TEST = 4000, 2000
PARTS = ("letter", "magic", "ijcnn1", "cod_rna", "covtype", "growth", "cluster", "regression")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_TRAIN:,} rows of each set and one width")
    parser.add_argument(
        "--only", type=_parts, default=PARTS, help=f"run only some of {','.join(PARTS)}, separated by commas"
    )
    parser.add_argument("--lines", nargs="+", help='run only these models, such as "krein, features" boosting')
    parser.add_argument("--again", action="store_true", help="measure again what scale.json already has")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of scale.json")
    parser.add_argument(
        "--tables", type=Path, default=None, help="folder of the guide's tables, if they are to be written"
    )
    options = parser.parse_args(arguments)
    pin_threads(options.threads)
    from contest.scale_data import SETS
    from contest.scale_tables import show_results, write_pages

    record = Record(options.out / "scale.json", describe(options.threads), quick=options.quick, again=options.again)
    test = QUICK_TEST if options.quick else 0
    for part in options.only:
        if part in SETS:
            _measure_set(record, part, quick=options.quick, lines=options.lines)
        elif part == "growth":
            for size in [size // 50 for size in GROWTH] if options.quick else GROWTH:
                record.keep(("growth", f"{size}"), lambda size=size: _measure("covtype", size, test, _nothing_set()))
        elif part == "cluster":
            _measure_cluster(record, QUICK_TRAIN if options.quick else CLUSTER_ROWS, test)
        else:
            _measure_regression(record)
    show_results(record.results, options.only)
    if options.tables is not None:
        write_pages(record.results, options.tables)


class Record:
    """Results that are on disk after every run, and are not measured again.

    Parameters
    ----------
    path : Path
    machine : dict
    quick : bool
        Whether rows are few: such results are kept apart from the others.
    again : bool
        Whether to measure what is there once more.
    """

    def __init__(self, path: Path, machine: dict[str, Any], *, quick: bool, again: bool) -> None:
        self._path, self._again = path, again
        empty: dict[str, Any] = {"machine": machine, "quick": quick}
        known = json.loads(path.read_text()) if path.exists() else empty
        self.results = {**(known if known.get("quick") == quick else empty), "machine": machine}

    def keep(self, place: tuple[str, ...], measure: Any) -> Any:
        """The result stored at a place, or one measured now; a failure is not stored, and is tried again the next time."""
        within = self.results
        for name in place[:-1]:
            within = within.setdefault(name, {})
        known = within.get(place[-1])
        if known is None or "failure" in known or self._again:
            print(f"  {': '.join(place)}", file=sys.stderr, flush=True)
            try:
                known = measure()
            except (RuntimeError, OSError) as error:  # the others are worth having
                known = {"failure": str(error)}
            within[place[-1]] = known
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self.results, indent=1, ensure_ascii=False) + "\n")
        return known


def _measure_set(record: Record, name: str, *, quick: bool, lines: list[str] | None) -> None:
    """Every model on one set; boosting once more with the time that krein with nothing set took."""
    from contest.scale_data import load_scale
    from contest.scale_methods import Entry, entries

    train, test = (QUICK_TRAIN, QUICK_TEST) if quick else (0, 0)

    def run(entry: Entry) -> dict[str, Any]:
        found = record.keep(("sets", name, _label(entry)), lambda: _measure(name, train, test, entry))
        return asdict(entry) | found

    wanted = entries(len(load_scale(name, train or None, test or None).y), quick=quick)
    runs = [run(one) for one in wanted if not lines or one.line in lines]
    ours = [one for one in runs if one["line"] == "krein, nothing set" and "accuracy" in one]
    boosted = [one for one in runs if one["line"] == "boosting" and "accuracy" in one]
    if ours and boosted:
        rounds = boosted[0]["rounds"] * ours[0]["fit_seconds"] / boosted[0]["fit_seconds"]
        longer = Entry("boosting, as long", "boosting", {"max_iter": max(1, round(rounds))})
        record.keep(("sets", name, longer.line), lambda: _measure(name, train, test, longer))


def _label(entry: Any) -> str:
    return ", ".join([entry.line, *(f"{key} {value}" for key, value in entry.settings.items() if key != "solver")])


def _measure(name: str, train: int, test: int, entry: Any) -> dict[str, Any]:
    from contest.scale_run import CODE
    from suite.timing import in_new_process

    rows = train if entry.most_rows is None else min(train or entry.most_rows, entry.most_rows)
    about = asdict(entry)
    try:
        settings = json.dumps(entry.settings)
        return about | in_new_process(CODE, name, rows, test, entry.kind, settings, most_seconds=entry.most_seconds)
    except RuntimeError as error:
        return about | {"failure": str(error)}


def _measure_cluster(record: Record, train: int, test: int) -> None:
    from contest.scale_cluster import compare_cluster

    record.keep(("cluster",), lambda: compare_cluster("covtype", train, test))


def _measure_regression(record: Record) -> None:
    from contest.scale_regression import TABLES, compare_solvers

    for name in TABLES:
        record.keep(("regression", name), lambda name=name: compare_solvers(name))


def _nothing_set() -> Any:
    from contest.scale_methods import Entry

    return Entry("krein, nothing set", "krein")


def _parts(text: str) -> tuple[str, ...]:
    asked = tuple(filter(None, text.split(",")))
    unknown = [part for part in asked if part not in PARTS]
    if unknown or not asked:
        raise argparse.ArgumentTypeError(f"known are {','.join(PARTS)}, got {text!r}")
    return asked


if __name__ == "__main__":
    main(sys.argv[1:])
