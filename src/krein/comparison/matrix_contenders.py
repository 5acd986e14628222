"""The models of a comparison on a matrix: Kreĭn learners, and scikit-learn's on the matrix unchanged and after each correction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._core.checks import one_of
from krein.comparison.contenders import Contender, Task
from krein.estimators import (
    ExactKreinRidge,
    ExactKreinSVC,
    KreinLogistic,
    KreinNystroem,
    KreinRidgeClassifier,
    SpectrumCorrection,
)
from krein.similarities import PrecomputedSimilarity

__all__ = ["Dissimilarity", "matrix_contenders"]

_PRICES = (0.1, 1.0, 10.0, 100.0, 1000.0)  # of a violated margin, for similarities of the size of 1
_STEPS = 100_000  # of LibSVM: a problem that is not convex, or nearly singular at a high price, would take minutes
_INNER = 3  # folds within the training objects
_ALL = 1000  # training objects up to which a map takes all as landmarks
_COLUMNS = 512  # landmarks beyond that
_REPAIRS = {
    "clip": "negative eigenvalues to 0",
    "flip": "absolute eigenvalues",
    "shift": "the smallest eigenvalue subtracted; new objects unchanged",
    "square": "the matrix times itself: similarities as features",
}


class Dissimilarity(TransformerMixin, BaseEstimator):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def matrix_contenders(task: Task, n_objects: int, *, seed: int = 0) -> list[Contender]:
    """Models that learn from a precomputed matrix; parameters are chosen by cross-validation within the training objects."""
    one_of(task, "task", ("classification", "regression"))
    classify = task == "classification"
    found = _ours(classify, n_objects, seed)
    machine: Any = (SVC if classify else SVR)(kernel="precomputed", max_iter=_STEPS)
    name = type(machine).__name__
    found.append(
        Contender("svc-raw", f"{name}, matrix as it is", _searched(machine, "C"), note="not convex if indefinite")
    )
    for method, words in _REPAIRS.items():
        pipeline = make_pipeline(SpectrumCorrection(method), machine)
        label = f"{name}, {method}"
        found.append(Contender(f"svc-{method}", label, _searched(pipeline, f"{name.lower()}__C"), note=words))
    neighbors: Any = (KNeighborsClassifier if classify else KNeighborsRegressor)(metric="precomputed")
    step = f"{type(neighbors).__name__.lower()}__n_neighbors"
    search = GridSearchCV(make_pipeline(Dissimilarity(), neighbors), {step: [1, 3, 5]}, cv=_INNER)
    found.append(
        Contender("neighbors", "nearest neighbors", search, note="1, 3 or 5, by k(x, x) − 2 k(x, y) + k(y, y)")
    )
    return found


def _ours(classify: bool, n_objects: int, seed: int) -> list[Contender]:
    if not classify:
        ridge = ExactKreinRidge("precomputed")
        return [Contender("krein-ridge", "ExactKreinRidge", ridge, True, "default settings")]
    everyone = n_objects <= _ALL
    count = n_objects if everyone else _COLUMNS
    features = KreinNystroem("precomputed", count, landmarks="uniform" if everyone else "auto", random_state=seed)
    landmarks = "all training objects as landmarks" if everyone else f"{count} landmarks"
    return [
        Contender("krein-ridge", "KreinRidgeClassifier", KreinRidgeClassifier(features), True, landmarks),
        Contender(
            "krein-svc", "ExactKreinSVC", _searched(ExactKreinSVC("precomputed"), "C"), True, "on the whole matrix"
        ),
        Contender("krein-logistic", "KreinLogistic", KreinLogistic(features), True, landmarks),
    ]


def _searched(model: Any, price: str) -> GridSearchCV:
    return GridSearchCV(model, {price: _PRICES}, cv=_INNER)
