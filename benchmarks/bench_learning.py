"""How good krein's learners are on real tables: ``make bench-learning``, or ``python benchmarks/bench_learning.py [--all]``.

Every learner of this library with nothing set beside support vector machines, features, neighbors, boosting and xRFM on the same
folds. Prints a table a section, writes ``learning.json`` beside this file and the tables of the guide page "How good is it".
Sets that were not used in development (``--all``) are shown as means only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from suite.machine import describe, pin_threads

HERE = Path(__file__).resolve().parent
SECTIONS = ("small", "held back", "larger", "stored", "regression")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also the sets that were not used in development, as means")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="run only these sections")
    parser.add_argument("--sets", nargs="+", default=(), help="run only these sets")
    parser.add_argument(
        "--methods", nargs="+", default=(), help="run only these methods, such as krein-ridge svc-tuned"
    )
    parser.add_argument(
        "--join", action="store_true", help="keep the results of other sections, sets and methods in learning.json"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of learning.json")
    parser.add_argument(
        "--tables", type=Path, default=None, help="folder of the guide's tables, if they are to be written"
    )
    parser.add_argument(
        "--quick", action="store_true", help="three small sets and one regression, to test that everything runs"
    )
    options = parser.parse_args(arguments)
    pin_threads(options.threads)
    from contest.learning import join_sets, sections, warm_up
    from contest.learning_tables import section_record, show_section, write_tables

    asked = options.only or [name for name in SECTIONS if options.all or name != "held back"]
    machine = describe(options.threads)
    path = options.out / "learning.json"
    before = json.loads(path.read_text())["sections"] if options.join and path.exists() else {}
    results: dict[str, Any] = {"machine": machine, "sections": dict(before)}
    warm_up(options.methods)
    known, measured = sections(), {}
    for name in asked:
        section = known[name]
        chosen = _sets(section.sets, options.sets, quick=options.quick)
        start, done = time.perf_counter(), []
        for one in chosen:
            try:
                done.append(section.measure(one, options.methods))
            except OSError as error:
                print(f"{one} is left out: {error}", file=sys.stderr)
                continue
            measured[name] = join_sets(done, before.get(name), section.sets)
            results["sections"][name] = section_record(section.task, measured[name], shown=section.shown)
            _write(path, results)  # what is finished is kept
            if section.shown:
                print(f"  {one} ({time.perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)
        if done:
            show_section(name, results["sections"][name])
    if {"small", "held back"} <= measured.keys():
        both = [*measured["small"], *measured["held back"]]
        results["sections"]["small and held back"] = section_record("classification", both, shown=False)
        show_section("small and held back", results["sections"]["small and held back"])
        _write(path, results)
    if options.tables is not None:
        write_tables(results, options.tables)


def _write(path: Path, results: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def _sets(known: tuple[str, ...], asked: tuple[str, ...], *, quick: bool) -> tuple[str, ...]:
    some = tuple(name for name in known if not asked or name in asked)
    return tuple(name for name in some if name in ("wine", "sonar", "heart", "diabetes")) if quick else some


if __name__ == "__main__":
    main(sys.argv[1:])
