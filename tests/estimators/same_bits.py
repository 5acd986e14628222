"""What every public estimator gives on one table, as digests of its bytes; ``python same_bits.py`` prints them as JSON.

Run in other threads, with other numbers of threads and in other processes, it must give the same.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

import krein
from krein import baselines
from krein.kernels import NTK, DeltaGaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = np.cos(2 * X[:, 0]) + X[:, 1]
LABELS = np.digitize(Y, [-0.3, 0.8])
NEW = RNG.normal(size=(1100, 4))
DISTANCES = np.abs(X[:100, None] - X[None, :100]).sum(axis=2)
SIMILARITIES = np.exp(-DISTANCES) - 0.5 * np.exp(-DISTANCES / 4)
METHODS = ("transform", "decision_function", "predict_proba", "predict")


def found() -> dict[str, Callable[[], Any]]:
    """Every public estimator as it is without arguments but the seed."""
    classes = {name: getattr(home, name) for home in (krein, baselines) for name in home.__all__}
    return {
        name: one
        for name, one in sorted(classes.items())
        if inspect.isclass(one) and issubclass(one, BaseEstimator) and not inspect.isabstract(one)
    }


def variants() -> dict[str, Any]:
    """The estimators that were found, and settings that take other ways through the library."""
    made = {
        name: one(random_state=0) if "random_state" in inspect.signature(one).parameters else one()
        for name, one in found().items()
    }
    sections = krein.SignedFourierFeatures(NTK(), 64, weights="projected", random_state=0)
    learners = ("KreinRidge", "KreinRidgeClassifier")
    return made | {
        "k-means": krein.KreinNystroem(DeltaGaussian(), 40, landmarks="kmeans", random_state=0),
        "pivots": krein.KreinNystroem(DeltaGaussian(), 40, landmarks="pivoted", random_state=0),
        "projected": sections,
        "importance, projected": krein.SignedFourierFeatures(
            DeltaGaussian(), 64, weights="projected", sampler="importance", random_state=0
        ),
        "fast transform": krein.SignedFourierFeatures(DeltaGaussian(), 64, sampler="hadamard", random_state=0),
        "width of an error": krein.SignedFourierFeatures(DeltaGaussian(), "auto", error=0.1, random_state=0),
        "tuned, learned metric": krein.TunedFeatures(n_components=64, metric="learned", random_state=0),
        **{
            f"{name}, {solver}": found()[name](solver=solver, random_state=0)
            for name in learners
            for solver in ("exact", "features", "local")
        },
        **{f"{name}, projected": found()[name](sections) for name in (*learners, "KreinSVC", "KreinLogistic")},
    }


def digest(model: Any) -> str:
    """Fit, and the bytes of all that the model then gives."""
    rows, new = X, NEW
    if model.__sklearn_tags__().input_tags.pairwise:
        rows = DISTANCES if isinstance(model, krein.KreinMDS) else SIMILARITIES
        new = rows[:60]
    y = LABELS if is_classifier(model) else Y
    model.fit(rows, y[: len(rows)])
    seen = hashlib.sha256()
    for name in METHODS:
        if hasattr(model, name):
            seen.update(np.ascontiguousarray(getattr(model, name)(new)).tobytes())
    return seen.hexdigest()[:16]


def digests() -> dict[str, str]:
    """All of them, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: digest(model) for name, model in variants().items()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests()))
