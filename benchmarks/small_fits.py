"""Seconds of fits on small data, which should be fast; ``python benchmarks/small_fits.py``.

The data are made up: normal rows, and for the classifiers six classes around centers, 4,500 × 36. Every fit is made once before it
is timed, in a process that has loaded its compiled code, on other rows so that no measure is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import krein
from krein.kernels import NTK


def seconds(fit: Callable[[int], object]) -> float:
    """Wall time of the second of two fits, which have data of their own."""
    fit(1)
    start = time.perf_counter()
    fit(0)
    return time.perf_counter() - start


def main() -> None:
    """Print a line for each fit."""

    def rows(seed: int, n: int, d: int) -> np.ndarray:
        return (1.0 + seed) * np.random.default_rng(seed).normal(size=(n, d))

    def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        y = rng.integers(6, size=4500)
        return rng.normal(size=(6, 36))[y] + 1.5 * rng.normal(size=(4500, 36)), y

    least = krein.MeasureRecipe(method="least_mass", tol="auto")
    fits: dict[str, Callable[[int], object]] = {
        "SignedFourierFeatures(), 8 x 1": lambda s: krein.SignedFourierFeatures(random_state=0).fit(rows(s, 8, 1)),
        "SignedFourierFeatures(), 16 x 1": lambda s: krein.SignedFourierFeatures(random_state=0).fit(rows(s, 16, 1)),
        "least mass, NTK(5), unbiased, 20 x 1": lambda s: krein.SignedFourierFeatures(
            NTK(5 + s), weights="unbiased", measure=least, random_state=0
        ).fit(rows(s, 20, 1)),
        "SignedFourierFeatures(), 900 x 3": lambda s: krein.SignedFourierFeatures(random_state=0).fit(rows(s, 900, 3)),
        "KreinRidgeClassifier(), 4,500 x 36": lambda s: krein.KreinRidgeClassifier(random_state=0).fit(*table(s)),
        "KreinSVC(), 4,500 x 36": lambda s: krein.KreinSVC(random_state=0).fit(*table(s)),
        "scikit-learn's SVC(), 4,500 x 36": lambda s: SVC().fit(
            StandardScaler().fit_transform(table(s)[0]), table(s)[1]
        ),
    }
    for name, fit in fits.items():
        print(f"{name:40s}{seconds(fit):8.2f} s", flush=True)


if __name__ == "__main__":
    main()
