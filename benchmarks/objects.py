"""Learning from strings by edit distance: time against the bare evaluations, evaluations, and memory far below n × n.

    python benchmarks/objects.py --rows 20000 --landmarks 200 --jobs 2

Needs rapidfuzz. The bare evaluations are the same pairs in the tightest loop there is, by as many processes.
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import repeat

import numpy as np
from joblib import Parallel, delayed

from krein import KreinNystroem, KreinRidgeClassifier

try:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--new", type=int, default=5_000)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if Levenshtein is None:
        parser.error("the edit distance is that of rapidfuzz: pip install rapidfuzz")
    X, y = strings(options.rows, 1)
    new, labels = strings(options.new, 2)
    share(X[:100], X[:10], options.jobs)  # processes are there before anything is timed
    began = time.perf_counter()
    pairs = share(X + new, X[: options.landmarks], options.jobs)
    alone = time.perf_counter() - began
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    features = KreinNystroem(edit, options.landmarks, call="pairs", n_jobs=options.jobs, random_state=0)
    began = time.perf_counter()
    model = KreinRidgeClassifier(features).fit(X, y)
    fitted = time.perf_counter() - began
    accuracy = model.score(new, labels)
    total = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"bare evaluations      {pairs:,} pairs, {alone:.2f} s")
    print(
        f"fitted and tested     {total:.2f} s ({fitted:.2f} s of it fitting): {total / alone:.2f} of the bare evaluations"
    )
    print(
        f"n_evaluations_        {model.features_.n_evaluations_:,} of {(options.landmarks + 1) * options.rows:,} allowed"
    )
    print(f"accuracy on new ones  {accuracy:.3f}")
    square = options.rows**2 * 8 / 2**20
    print(f"memory                {after / 1024:.0f} MiB at most, {before / 1024:.0f} before; n × n is {square:,.0f}")


if __name__ == "__main__":
    main()
