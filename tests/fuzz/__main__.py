"""``python -m fuzz [--oracle] [--cases N] [--seed S] [--only NAME] [--case SEED]``, from the folder ``tests``."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial

from fuzz.campaign import run_campaign
from fuzz.oracle import Opinion
from fuzz.trial import Trial, Verdict


def main() -> int:
    """Run a campaign, or one case of it; 1 if anything fails."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="campaigns of different seeds have no case in common")
    parser.add_argument("--only", default="", help="an estimator, kernel or function by name")
    parser.add_argument("--case", type=int, help="run this case only, here, with its snippet")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--oracle", action="store_true", help="legal cases, each learned in two ways that must agree")
    given = parser.parse_args()
    make = partial(Opinion if given.oracle else Trial, only=given.only)
    if given.case is not None:
        verdict = make(given.case).run()
        sys.stdout.write(f"{verdict.kind}: {verdict.text}\n{verdict.snippet}\n")
        return int(verdict.kind == "failure")
    begin, done = time.monotonic(), 0

    def show(seed: int, verdict: Verdict) -> None:
        nonlocal done
        done += 1
        if verdict.kind == "failure":
            sys.stdout.write(f"case {seed}: {verdict.text}\n{verdict.snippet}\n\n")
        if done % 500 == 0:
            sys.stdout.write(f"{done} of {given.cases} cases, {time.monotonic() - begin:.0f} s\n")
        sys.stdout.flush()

    first = given.seed * 10_000_000
    outcome = run_campaign(range(first, first + given.cases), processes=given.processes, make=make, on_verdict=show)
    counts = ", ".join(f"{outcome.counts[kind]} {kind}" for kind in ("result", "refused", "failure"))
    sys.stdout.write(f"{given.cases} cases in {time.monotonic() - begin:.0f} s: {counts}\n")
    return min(1, len(outcome.failures))


if __name__ == "__main__":
    sys.exit(main())
