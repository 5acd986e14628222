"""What `krein.diagnose` takes on a large matrix of similarities: seconds, and memory as a part of the matrix.

    python benchmarks/diagnose_large.py --rows 20000

The matrix is tanh of products of random rows, which is indefinite, and is made before the clock runs.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import krein


def tanh_matrix(n: int, dim: int = 20, rows_at_once: int = 500) -> np.ndarray:
    """Similarities of random rows, made in blocks so that nothing beside the matrix is large."""
    X = np.random.default_rng(0).normal(size=(n, dim))
    K = np.empty((n, n))
    for start in range(0, n, rows_at_once):
        rows = K[start : start + rows_at_once]
        np.matmul(X[start : start + rows_at_once], X.T, out=rows)
        rows /= dim
        np.tanh(rows, out=rows)
    # products of blocks differ in their last digit from their transposes
    for start in range(0, n, rows_at_once):
        stop = start + rows_at_once
        K[stop:, start:stop] = K[start:stop, stop:].T
        block = K[start:stop, start:stop]
        block[:] = 0.5 * (block + block.T)
    return K


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    krein.diagnose(tanh_matrix(200))  # imports
    base = peak_bytes()
    K = tanh_matrix(options.rows)
    began, worked = time.perf_counter(), time.process_time()
    found = krein.diagnose(K)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    print(found)
    print(f"\n{seconds:.1f} s, {processor:.1f} processor seconds")
    print(f"memory {(peak_bytes() - base) / K.nbytes:.2f} x the matrix, which is in it once")


if __name__ == "__main__":
    main()
