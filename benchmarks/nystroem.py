"""Processor time of fit and transform of KreinNystroem and scikit-learn's Nystroem with the same landmarks, in one run.

    python benchmarks/nystroem.py --rows 20000 --columns 16 --dtype float32

scikit-learn has the Gaussian kernel; ours is timed with others too. "interpolated" keeps all eigenvalues, as scikit-learn does;
"auto" compares truncations on training rows as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import Nystroem

from krein import KreinNystroem
from krein.kernels import NTK, DeltaGaussian, Gaussian


def least(work: Callable[[], object], repeats: int = 5) -> float:
    """Least processor time of several runs, which other work on the machine disturbs less than wall time."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    options = parser.parse_args()
    X = np.random.default_rng(0).random((options.rows, options.columns)).astype(options.dtype)
    print("landmarks  kernel         truncation    fit, of scikit-learn's  transform, of scikit-learn's")
    for count in (128, 512):
        theirs = Nystroem(kernel="rbf", gamma=0.5, n_components=count, random_state=0)
        their_fit = least(lambda theirs=theirs: theirs.fit(X))
        their_transform = least(lambda theirs=theirs: theirs.transform(X))
        for kernel in (Gaussian(1.0), DeltaGaussian(1.0, 10.0), NTK()):
            for name, tol in (("interpolated", 0.0), ("auto", "auto")):
                landmarks = X[theirs.component_indices_]
                ours = KreinNystroem(kernel, count, landmarks=landmarks, eigenvalue_tol=tol)
                fit = least(lambda ours=ours: ours.fit(X)) / their_fit
                transform = least(lambda ours=ours: ours.transform(X)) / their_transform
                print(f"{count:<11}{type(kernel).__name__:<15}{name:<14}{fit:<24.2f}{transform:.2f}")


if __name__ == "__main__":
    main()
