"""The models of a comparison on a matrix: Kreĭn learners, and scikit-learn's on the matrix unchanged and after each correction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_is_fitted, validate_data

from krein.comparison.contenders import Contender, Task
from krein.estimators import (
    ExactKreinRidge,
    ExactKreinSVC,
    KreinLogistic,
    KreinNystroem,
    KreinRidgeClassifier,
    SpectrumCorrection,
)
from krein.similarities import DistanceKernel, PrecomputedSimilarity

__all__ = ["Dissimilarity", "DistanceSimilarity", "matrix_contenders"]

_PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)  # of a violated margin, for similarities of the size of 1
_STEPS = 100_000  # of LibSVM: a problem that is not convex, or nearly singular at a high price, would take minutes
_INNER = 3  # folds within the training objects
_ALL = 1000  # training objects up to which a map takes all as landmarks
_COLUMNS = 512  # landmarks beyond that
_REPAIRS = {
    "raw": "not convex if indefinite",
    "clip": "negative eigenvalues to 0",
    "flip": "absolute eigenvalues",
    "shift": "the smallest eigenvalue subtracted; new objects unchanged",
    "square": "the matrix times itself: similarities as features",
}


class _Pairwise(TransformerMixin, BaseEstimator):
    """A transformer of square matrices, of which folds take rows and columns."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


class Dissimilarity(_Pairwise):
    r"""Squared distances from similarities, :math:`k(x, x) - 2 k(x, y) + k(y, y)`, for nearest-neighbor methods.

    The similarity of a new object with itself is not in a matrix of its similarities with others. It adds the same constant to
    all distances of that object, so their order does not depend on it. Distances are therefore given relative to the smallest of
    each row, which also keeps those of an indefinite similarity from being negative.

    Attributes
    ----------
    own_ : ndarray of shape (n_samples,)
        Similarity of each training object with itself.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember how similar each object is to itself."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        PrecomputedSimilarity().settled(X)
        self.own_ = X.diagonal().copy()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Squared distances minus the smallest of each row."""
        check_is_fitted(self, "own_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        far = self.own_ - 2.0 * X
        return np.asarray(far - far.min(axis=1, keepdims=True))


class DistanceSimilarity(_Pairwise):
    """Similarities from precomputed distances, for what takes no distances; the scale is that of training objects."""

    def __init__(self, kernel: DistanceKernel) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the scale."""
        self.similarity_ = PrecomputedSimilarity(self.kernel.before_choice()).settled(np.asarray(X))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The similarity of each entry."""
        return self.similarity_.block(np.asarray(X), None)


def matrix_contenders(
    task: Task, n_objects: int, kernel: DistanceKernel | None = None, *, seed: int = 0
) -> list[Contender]:
    """Models that learn from a matrix of similarities, or of distances that `kernel` makes similarities of.

    Parameters are chosen by cross-validation within the training objects.
    """
    classify = task == "classification"
    kernel = None if kernel is None else replace(kernel, metric="precomputed", metric_params=None)
    found = _ours(classify, n_objects, kernel or "precomputed", seed)
    front = [] if kernel is None else [DistanceSimilarity(kernel)]
    machine: Any = (SVC if classify else SVR)(kernel="precomputed", max_iter=_STEPS)
    name = type(machine).__name__
    for method, words in _REPAIRS.items():
        steps = [*front, *([] if method == "raw" else [SpectrumCorrection(method)]), machine]
        label = f"{name}, {'matrix as it is' if method == 'raw' else method}"
        model = _searched(make_pipeline(*steps), f"{name.lower()}__C")
        found.append(Contender(f"svc-{method}", label, model, note=words))
    neighbors: Any = (KNeighborsClassifier if classify else KNeighborsRegressor)(metric="precomputed")
    step = f"{type(neighbors).__name__.lower()}__n_neighbors"
    nearest = make_pipeline(*([Dissimilarity()] if kernel is None else []), neighbors)
    by = "by k(x, x) − 2 k(x, y) + k(y, y)" if kernel is None else "by distance"
    search = GridSearchCV(nearest, {step: [1, 3, 5]}, cv=_INNER)
    return [*found, Contender("neighbors", "nearest neighbors", search, note=f"1, 3 or 5, {by}")]


def _ours(classify: bool, n_objects: int, kernel: Any, seed: int) -> list[Contender]:
    if not classify:
        return [Contender("krein-ridge", "ExactKreinRidge", ExactKreinRidge(kernel), True, "default settings")]
    everyone = n_objects <= _ALL
    count = n_objects if everyone else _COLUMNS
    features = KreinNystroem(kernel, count, landmarks="uniform" if everyone else "auto", random_state=seed)
    landmarks = "all training objects as landmarks" if everyone else f"{count} landmarks"
    machine = _searched(ExactKreinSVC(kernel), "C")
    return [
        Contender("krein-ridge", "KreinRidgeClassifier", KreinRidgeClassifier(features), True, landmarks),
        Contender("krein-svc", "ExactKreinSVC", machine, True, "on the whole matrix"),
        Contender("krein-logistic", "KreinLogistic", KreinLogistic(features), True, landmarks),
    ]


def _searched(model: Any, price: str) -> GridSearchCV:
    return GridSearchCV(model, {price: _PRICES}, cv=_INNER)
