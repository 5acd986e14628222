"""Scores: what a run measures. Each is a function of the run alone, but for times."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

import krein
from krein.experiments.data import DIMENSIONS, rows_of
from krein.experiments.methods import method_of
from krein.experiments.records import Record
from krein.experiments.run import Run
from krein.kernels import parse_kernel

__all__ = ["SCORES", "measure"]

Outcome = tuple[dict[str, Any], dict[str, float]]

_BLOCK = 20_000


def measure(run: Run) -> Record:
    """Do a run: its record, with warnings as notes."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results, seconds = SCORES[run.score](run)
    notes = sorted({" ".join(str(one.message).split()) for one in caught if issubclass(one.category, UserWarning)})
    return Record(run, results, seconds, _versions(), started, notes)


def error(run: Run) -> Outcome:
    """Relative error of the kernel matrix on unseen rows, and the time to fit and to map."""
    rows = rows_of(run)
    features, seconds = _fitted(run, rows.X_train)
    start = time.perf_counter()
    features.transform(rows.X_test)
    seconds["transform"] = time.perf_counter() - start
    return {"error": relative_error(features, rows.X_test)}, seconds


def generate(run: Run) -> Outcome:
    """Time to make the feature matrix of the training rows; the error on some test rows beside it, as a check."""
    rows = rows_of(run)
    _warm(run.method, run.kernel, run.dataset)
    features, seconds = _fitted(run, rows.X_train)
    start = time.perf_counter()
    for first in range(0, rows.X_train.shape[0], _BLOCK):  # a whole matrix of features may not fit in memory
        features.transform(rows.X_train[first : first + _BLOCK])
    seconds["transform"] = time.perf_counter() - start
    seconds["prepare"] = float(getattr(features, "fit_time_", 0.0))
    return {"error": relative_error(features, rows.X_test[:300]), "rows": rows.X_train.shape[0]}, seconds


def accuracy(run: Run) -> Outcome:
    """Accuracy of a linear support vector machine on the features, C by five-fold cross-validation."""
    rows = rows_of(run)
    start = time.perf_counter()
    learner = krein.KreinSVC(_features(run), C="auto", random_state=run.seed).fit(rows.X_train, rows.y_train)
    seconds = {"learn": time.perf_counter() - start}
    score = float(np.mean(learner.predict(rows.X_test) == rows.y_test))
    return {"accuracy": score, "C": float(learner.C_)}, seconds


def pareto(run: Run) -> Outcome:
    """Error, accuracy of a ridge classifier, and the whole time from rows to predictions."""
    rows = rows_of(run)
    _warm(run.method, run.kernel, run.dataset)
    start = time.perf_counter()
    learner = krein.KreinRidgeClassifier(_features(run), random_state=run.seed).fit(rows.X_train, rows.y_train)
    guess = learner.predict(rows.X_test)
    seconds = {"total": time.perf_counter() - start}
    error = relative_error(learner.features_, rows.X_test[:1000])
    return {"accuracy": float(np.mean(guess == rows.y_test)), "error": error}, seconds


def curves(run: Run) -> Outcome:
    """A kernel and its measure as a method has them, on a grid of distances; nothing random."""
    kernel, dim = parse_kernel(run.kernel), DIMENSIONS[run.dataset]
    z = np.linspace(0.0, 2.0, 201)
    found: dict[str, Any] = {"z": z.tolist(), "kernel": kernel.radial(z).tolist()}
    if run.method == "srf":
        mixture = krein.baselines.SphericalRandomFeatures(kernel=kernel, n_components=4, radius=2.0, random_state=0)
        fitted = mixture.fit(np.eye(dim)).mixture_
        return {
            **found,
            "value": fitted.evaluate(z).tolist(),
            "radii": fitted.scales.tolist(),
            "weights": fitted.masses.tolist(),
            "mass": fitted.mass,
        }, {}
    measure = _measure(run.method, kernel, dim, 10.0)
    found |= {"value": measure.evaluate(z).tolist(), "mass": measure.mass}
    if run.method == "printed":
        edges = np.linspace(0.0, 10.0, 401)
        parts = [part.mass * np.diff(part.cdf(edges)) / np.diff(edges) for part in (measure.positive, measure.negative)]
        return {**found, "r": (0.5 * (edges[1:] + edges[:-1])).tolist(), "density": (parts[0] - parts[1]).tolist()}, {}
    pairs = [(sign, part.atoms()) for sign, part in ((1.0, measure.positive), (-1.0, measure.negative))]
    found["radii"] = np.concatenate([atoms.radii for _, atoms in pairs]).tolist()
    found["weights"] = np.concatenate([sign * atoms.weights for sign, atoms in pairs]).tolist()
    return found, {}


def mass(run: Run) -> Outcome:
    """Mass of a measure and how far the kernel it gives is from the kernel asked for."""
    kernel, dim = parse_kernel(run.kernel), DIMENSIONS[run.dataset]
    measure = _measure(run.method, kernel, dim, float(run.setting("r_max")))
    radius = float(run.setting("radius"))
    z = np.linspace(0.0, radius, 2001)
    exact = kernel.radial(z)
    gap = np.abs(measure.evaluate(z) - exact)
    size = float(np.abs(exact).max())
    root = float(np.sqrt(np.mean(gap**2) / np.mean(exact**2)))
    diagnosis = krein.diagnose(kernel, dim)
    return {
        "mass": measure.mass,
        "bias": float(gap.max()) / size,
        "bias_rms": root,
        "finite": diagnosis.finite,
        "reason": diagnosis.reason,
    }, {}


SCORES: dict[str, Callable[[Run], Outcome]] = {
    "error": error,
    "generate": generate,
    "accuracy": accuracy,
    "pareto": pareto,
    "curves": curves,
    "mass": mass,
}


def relative_error(features: Any, X: np.ndarray) -> float:
    """Frobenius norm of the difference of the kernel matrices over that of the exact one."""
    exact = features.kernel_(X)
    return float(np.linalg.norm(features.approximate(X) - exact) / np.linalg.norm(exact))


def _features(run: Run) -> Any:
    return method_of(run.method).make(parse_kernel(run.kernel), run.columns, run.seed)


def _fitted(run: Run, X: np.ndarray) -> tuple[Any, dict[str, float]]:
    features = _features(run)
    start = time.perf_counter()
    features.fit(X)
    return features, {"fit": time.perf_counter() - start}


@lru_cache(maxsize=64)
def _warm(method: str, kernel: str, dataset: str) -> None:
    """Compile and load what is only once: the first fit in a process would otherwise pay for it."""
    rows = np.abs(np.random.default_rng(0).normal(size=(64, DIMENSIONS[dataset])))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    method_of(method).make(parse_kernel(kernel), 2 * rows.shape[1], 0).fit(rows).transform(rows)


def _measure(method: str, kernel: Any, dim: int, r_max: float) -> Any:
    """The printed measure, cut at `r_max`, or the library's on all distances of the sphere."""
    if method == "printed":
        return krein.signed_measure(kernel, dim, method="fourier", truncate=r_max)
    return krein.signed_measure(kernel, dim, 2.0, "least_mass", 1, 1e-3, sphere=True)


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "krein": krein.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }
