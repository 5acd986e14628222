"""Whether ``n_components="auto", error=…`` meets its target on new rows: ``python benchmarks/error_target.py [--quick]``.

For each data set, kernel and target: how often the relative Frobenius error on 1,000 rows not seen is at most 1.2 times the target,
the worst case, the median width chosen, and beside it the smallest width that would have done on those very rows: of the chosen
map's own columns, and of any map at all, which the eigenvalues of their kernel matrix give. Columns are scaled to [0, 1] and rows
to unit length. A target that the library says is out of reach counts apart.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np

from krein import SignedFourierFeatures, datasets
from krein.kernels import NTK, DeltaGaussian, Kernel

TEST_ROWS = 1000
ROOM = 1.2
KERNELS: dict[str, Kernel] = {"Delta-Gaussian": DeltaGaussian(1.0, 10.0), "NTK": NTK()}
TARGETS = (0.1, 0.01, 0.001, 0.0001)


@dataclass(frozen=True)
class Outcome:
    """One fit: error on new rows, chosen width, widths that would have been enough, and the time it took."""

    error: float
    width: int
    own_least: int
    any_least: int
    met: bool
    seconds: float


def rows(name: str, seed: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows, drawn anew for each seed from one pool so that both have the same law, and scaled."""
    X, _ = datasets.load(name, split=False)
    chosen = np.random.default_rng(seed).permutation(len(X))[: most + TEST_ROWS]
    X = X[chosen].astype(np.float64)
    return datasets.minmax_unit(X[TEST_ROWS:], X[:TEST_ROWS])


def relative_errors(Z: np.ndarray, signs: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Errors of the first columns, for each number of columns."""
    left, size = exact.copy(), np.linalg.norm(exact)
    errors = np.empty(Z.shape[1])
    for width in range(Z.shape[1]):
        left -= np.outer(Z[:, width] * signs[width], Z[:, width])
        errors[width] = np.linalg.norm(left) / size
    return errors


def least(errors: np.ndarray, target: float) -> int:
    """The smallest width whose error meets the target; one more than there are where none does."""
    meeting = np.flatnonzero(errors <= target)
    return int(meeting[0]) + 1 if meeting.size else len(errors) + 1


def measure(name: str, kernel: Kernel, target: float, seed: int, most: int) -> Outcome:
    """One fit."""
    train, test = rows(name, seed, most)
    features = SignedFourierFeatures(kernel, "auto", error=target, random_state=seed)
    start = time.perf_counter()
    features.fit(train)
    seconds = time.perf_counter() - start
    exact = kernel(test)
    Z, search = features.transform(test), features.width_search_
    assert search is not None
    errors = relative_errors(Z, features.signature_, exact)
    values = np.sort(np.abs(np.linalg.eigvalsh(exact)))
    optimal = np.sqrt(np.maximum(np.cumsum(values**2)[::-1] - values[::-1] ** 2, 0.0)) / np.linalg.norm(values)
    projected = search.trials[search.chosen].weights == "projected"  # calibrated columns are not sorted
    own = least(errors, target) if projected else features.n_components_
    return Outcome(float(errors[-1]), features.n_components_, own, least(optimal, target), search.met, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000, help="largest number of training rows")
    parser.add_argument("--data", nargs="*", default=["letter", "ijcnn1", "covtype", "cod_rna"])
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--targets", nargs="*", type=float, default=list(TARGETS))
    parser.add_argument("--quick", action="store_true", help="letter and Delta-Gaussian only, two seeds, three targets")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.data = 2, ["letter"]
        options.kernels, options.targets = ["Delta-Gaussian"], [0.1, 0.01, 0.001]
    warnings.simplefilter("ignore")
    print(
        f"{'data':8} {'kernel':15} {'target':>7} {'kept':>6} {'worst':>6} {'width':>6} {'own':>5} {'any':>5} {'reach':>6} {'s':>6}"
    )
    kept = total = 0
    for name in options.data:
        for kernel in options.kernels:
            for target in options.targets:
                done = [measure(name, KERNELS[kernel], target, seed, options.rows) for seed in range(options.seeds)]
                promised = [one for one in done if one.met]
                good = sum(one.error <= ROOM * target for one in promised)
                kept, total = kept + good, total + len(promised)
                worst = max((one.error / target for one in done), default=float("nan"))
                width, own, best, seconds = (
                    float(np.median([getattr(one, field) for one in done]))
                    for field in ("width", "own_least", "any_least", "seconds")
                )
                print(
                    f"{name:8} {kernel:15} {target:7.0e} {good:3}/{len(promised):<2} {worst:6.2f} {width:6.0f} {own:5.0f} "
                    f"{best:5.0f} {len(promised):3}/{len(done):<2} {seconds:6.2f}",
                    flush=True,
                )
    print(f"\nmet on new rows: {kept} of {total} targets that were reported as met")


if __name__ == "__main__":
    main()
