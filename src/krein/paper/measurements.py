"""What runs have in common: a map fitted on the clock, the error of its kernel matrix, a first fit that does not count."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from krein.kernels import parse_kernel
from krein.paper.data import DIMENSIONS, rows_of
from krein.paper.experiment import Outcome
from krein.paper.methods import method_of
from krein.paper.plan import Run

__all__ = ["features_of", "kernel_error", "relative_errors", "timed", "timed_kernel_error", "warm_up"]

T = TypeVar("T")


def kernel_error(run: Run) -> Outcome:
    """Relative error of the kernel matrix on unseen rows, and the time to fit and to map."""
    rows = rows_of(run)
    features, fit = timed(lambda: features_of(run).fit(rows.X_train))
    _, transform = timed(lambda: features.transform(rows.X_test))
    return relative_errors(features.approximate(rows.X_test), run, rows.X_test), {"fit": fit, "transform": transform}


def timed_kernel_error(run: Run) -> Outcome:
    """As `kernel_error`, where the time is a result too: what a process does only once is done before."""
    warm_up(run.method, run.kernel, run.dataset)
    return kernel_error(run)


def features_of(run: Run) -> Any:
    """The map of a run, not fitted."""
    return method_of(run.method).make(parse_kernel(run.kernel), run.columns, run.seed)


def relative_errors(approximation: np.ndarray, run: Run, X: np.ndarray) -> dict[str, float]:
    """Frobenius norm of the difference of kernel matrices over that of the exact one, also with the exact diagonal."""
    exact = parse_kernel(run.kernel)(X)
    gap, size = approximation - exact, np.linalg.norm(exact)
    error = float(np.linalg.norm(gap) / size)
    np.fill_diagonal(gap, 0.0)
    return {"error": error, "off_diagonal": float(np.linalg.norm(gap) / size)}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Do some work, and measure its processor time, to which other programs add less than to wall time."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


@lru_cache(maxsize=64)
def warm_up(method: str, kernel: str, dataset: str) -> None:
    """Compile and load what a process needs once, so that the first timed fit does not include it."""
    rows = np.abs(np.random.default_rng(0).normal(size=(64, DIMENSIONS[dataset])))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    method_of(method).make(parse_kernel(kernel), 2 * rows.shape[1], 0).fit(rows).transform(rows)
