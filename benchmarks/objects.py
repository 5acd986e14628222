"""Learning from strings by edit distance: time against the bare evaluations, evaluations, and memory far below n × n.

    python benchmarks/objects.py --rows 20000 --landmarks 200 --jobs 2

Needs rapidfuzz. The bare evaluations are as many pairs in the tightest loop there is, by as many processes, or in one call of
rapidfuzz's own loop for the distance by name. Fitted and tested is everything: landmarks, features, ridge with its choice of λ,
predictions. Processes are compared as a program meets them, which starts them (each side in an interpreter of its own), and with
processes that are there already.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import repeat

import numpy as np
from joblib import Parallel, delayed

from krein import DistanceKernel, KreinNystroem, KreinRidgeClassifier, Similarity

try:
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein
except ImportError:  # main says so
    Levenshtein = None

ALPHABET = np.array(list("ACGT"))
LENGTH = 60


def strings(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Strings of two kinds: each kind has four patterns, of which a third of the letters is changed, and some are lost."""
    patterns = np.random.default_rng(0).integers(4, size=(8, LENGTH))
    rng = np.random.default_rng(seed)
    which = rng.integers(8, size=n)
    letters = np.where(rng.random((n, LENGTH)) < 0.45, rng.integers(4, size=(n, LENGTH)), patterns[which])
    kept = rng.random((n, LENGTH)) > 0.1
    return ["".join(ALPHABET[row[keep]]) for row, keep in zip(letters, kept, strict=True)], which % 2


def edit(a: str, b: str) -> float:
    """Similarity of two strings, from 0 to 1; not positive definite."""
    return Levenshtein.normalized_similarity(a, b)


def bare(left: list[str], right: list[str]) -> int:
    """All pairs, and nothing else."""
    return sum(len(list(map(edit, left, repeat(other)))) for other in right)


def share(left: list[str], right: list[str], jobs: int) -> int:
    """All pairs by several processes, each with an equal part of the strings."""
    size = -(-len(left) // jobs)
    parts = [left[i : i + size] for i in range(0, len(left), size)]
    return sum(Parallel(n_jobs=jobs)(delayed(bare)(part, right) for part in parts))


class Task:
    """Strings to learn from and to test on."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.X, self.y = strings(options.rows, 1)
        self.new, self.labels = strings(options.new, 2)
        self.landmarks = options.landmarks
        self.jobs = options.jobs

    def bare_pairs(self, jobs: int) -> int:
        """As many evaluations as a fit and a test take, and nothing else."""
        return share(self.X + self.new, self.X[: self.landmarks], jobs)

    def bare_block(self) -> int:
        """The same by rapidfuzz's own loop."""
        return process.cdist(self.X + self.new, self.X[: self.landmarks], scorer=Levenshtein.distance).size

    def learned(self, kernel: object, jobs: int, call: str = "auto") -> tuple[KreinRidgeClassifier, float]:
        """A model, and its accuracy on new strings."""
        features = KreinNystroem(Similarity(kernel, call=call, n_jobs=jobs), self.landmarks, random_state=0)
        model = KreinRidgeClassifier(features).fit(self.X, self.y)
        return model, model.score(self.new, self.labels)

    def learned_pairs(self, jobs: int) -> tuple[KreinRidgeClassifier, float]:
        """From a function of two strings."""
        return self.learned(edit, jobs, "pairs")


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def afresh(part: str) -> float:
    """Seconds of one side in an interpreter of its own, without what comes before the first evaluation."""
    command = [sys.executable, *sys.argv, "--part", part]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def told(what: str, repeats: int, alone: Callable[[], float], total: Callable[[], float]) -> None:
    """A line of the table: least times of both sides, one after the other in turn, and the median of the ratios of a turn."""
    turns = np.array([(alone(), total()) for _ in range(repeats)])
    least, ratio = turns.min(axis=0), float(np.median(turns[:, 1] / turns[:, 0]))
    print(f"{what:<42} {least[0]:6.2f} s {least[1]:6.2f} s {least[1] / least[0]:6.2f} {ratio:7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--new", type=int, default=5_000)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--part", choices=("bare", "learned"), help="run one side only, once, and print its seconds")
    options = parser.parse_args()
    if Levenshtein is None:
        parser.error("the edit distance is that of rapidfuzz: pip install rapidfuzz")
    task, jobs = Task(options), options.jobs
    if options.part is not None:
        work = task.bare_pairs if options.part == "bare" else task.learned_pairs
        print(seconds(lambda: work(jobs)))
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model, accuracy = task.learned_pairs(jobs)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pairs = (options.rows + options.new) * options.landmarks
    print(f"{pairs:,} pairs     {'bare':>28} {'learned':>8} {'ratio':>6} {'median':>7}")
    new = f"function of two strings, {jobs} processes, new"
    told(new, options.repeats, lambda: afresh("bare"), lambda: afresh("learned"))
    for count in (jobs, 1):
        what = f"function of two strings, {count} process{'es, there' if count > 1 else ''}"
        told(
            what,
            options.repeats,
            lambda n=count: seconds(lambda: task.bare_pairs(n)),
            lambda n=count: seconds(lambda: task.learned_pairs(n)),
        )
    told(
        "distance by name, in blocks",
        options.repeats,
        lambda: seconds(task.bare_block),
        lambda: seconds(lambda: task.learned(DistanceKernel("levenshtein"), 1)),
    )
    print(
        f"n_evaluations_        {model.features_.transformer.n_evaluations_:,} of "
        f"{(options.landmarks + 1) * options.rows:,} allowed"
    )
    print(f"accuracy, new strings {accuracy:.3f}")
    square = options.rows**2 * 8 / 2**20
    print(f"memory                {after / 1024:.0f} MiB at most, {before / 1024:.0f} before; n × n is {square:,.0f}")


if __name__ == "__main__":
    main()
