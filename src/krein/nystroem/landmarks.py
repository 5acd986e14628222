r"""Landmarks for Nyström: which rows or objects stand for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import one_of
from krein._core.representatives import cluster_centers, pivoted_rows
from krein._core.rows import as_rows
from krein.nystroem.candidate_columns import CalledColumns, DirectColumns
from krein.similarities.direct_source import DirectSource, KernelSimilarity
from krein.similarities.evaluation import Evaluation
from krein.similarities.objects import Objects, as_objects
from krein.similarities.similarity import Pilot

__all__ = ["LANDMARK_RULES", "check_rule", "landmark_objects", "select_landmarks"]

LANDMARK_RULES = ("auto", "pivoted", "kmeans", "uniform")  # in the order in which errors list them

_ROWS_PER_LANDMARK = 20  # rows to cluster or to seek pivots among
_LEAST_ROWS = 2000  # and at least so many
# Objects to seek pivots among. Their columns are evaluated a few at a time, those of all others together, which processes share
# better; of 20,000 strings, 5 for each landmark or all of them gave landmarks as good.
_OBJECTS_PER_LANDMARK = 10


def check_rule(rule: Any) -> None:
    """An error if a name is that of no rule."""
    if isinstance(rule, str):
        one_of(rule, "landmarks", LANDMARK_RULES, otherwise=", or the landmarks themselves")


def select_landmarks(
    similarity: DirectSource, X: Any, count: int, rule: Any, rng: np.random.Generator
) -> tuple[Any, int]:
    """Landmarks by name, or those given by the user, for a kernel of this library or a matrix."""
    check_rule(rule)
    if not isinstance(rule, str):
        return _given(similarity, X, rule), 0
    if rule == "auto":
        rule = "kmeans" if isinstance(similarity, KernelSimilarity) and not sp.issparse(X) else "pivoted"
    if rule == "kmeans" and not similarity.has_vectors:
        raise ValueError("landmarks='kmeans' averages rows, which a precomputed kernel does not have; use 'pivoted'")
    n = X.shape[0]
    count = min(count, n)
    if count == n:
        return similarity.landmarks(X, np.arange(n)), 0
    if rule == "uniform":
        return similarity.landmarks(X, _some(n, count, rng)), 0
    picked = _some(n, min(n, max(_LEAST_ROWS, _ROWS_PER_LANDMARK * count)), rng)
    if rule == "kmeans":
        return similarity.place(_centers(X, picked, count, rng), "the centers"), 0
    columns = DirectColumns(similarity, X, picked)
    return similarity.landmarks(X, np.sort(picked[pivoted_rows(columns, count, rng)])), columns.count


@final
@dataclass(frozen=True, eq=False)
class CalledLandmarks:
    """Landmarks for a function of two objects, and all that was evaluated with them.

    Parameters
    ----------
    objects : Objects
    numbers : ndarray of int
        Which training objects they are; none where they come from elsewhere.
    block : ndarray of shape (n_objects, n_landmarks)
        What the function gave for all objects and the landmarks.
    square : ndarray of shape (n_landmarks, n_landmarks)
        And for the landmarks among each other.
    """

    objects: Objects
    numbers: np.ndarray
    block: np.ndarray
    square: np.ndarray


def landmark_objects(
    pilot: Pilot, evaluation: Evaluation, X: Objects, count: int, rule: Any, rng: np.random.Generator
) -> CalledLandmarks:
    """Landmarks by name, or those given by the user, for a similarity that is called."""
    check_rule(rule)
    n = len(X)
    everyone = np.arange(n)
    if isinstance(rule, str):
        count = min(count, n)
        if rule == "kmeans":
            if not X.are_vectors:
                raise ValueError(
                    "landmarks='kmeans' averages rows, and these objects are not rows of numbers; use 'pivoted'"
                )
            picked = _some(n, min(n, max(_LEAST_ROWS, _ROWS_PER_LANDMARK * count)), rng)
            return _outside(evaluation, X, Objects(_centers(X.data, picked, count, rng)))
        if rule == "uniform" or count == n:
            columns = CalledColumns(pilot, X, evaluation, count, everyone)
            columns.take(_some(n, count, rng))
        else:
            most = max(_LEAST_ROWS, _OBJECTS_PER_LANDMARK * count)
            columns = CalledColumns(pilot, X, evaluation, count, everyone if n <= most else _some(n, most, rng))
            pivoted_rows(columns, count, rng)
    else:
        numbers = np.asarray(rule) if isinstance(rule, list | np.ndarray) and len(rule) else np.empty(0)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            return _outside(evaluation, X, _given_objects(X, rule))
        _check_numbers(numbers, n)
        if np.unique(numbers).size != numbers.size:
            raise ValueError("landmarks must be different objects, got one of the indices twice")
        columns = CalledColumns(pilot, X, evaluation, numbers.size, everyone)
        columns.take(numbers)
    block = columns.completed()
    return CalledLandmarks(X[columns.taken], columns.taken, block, block[columns.taken])


def _outside(evaluation: Evaluation, X: Objects, landmarks: Objects) -> CalledLandmarks:
    numbers = np.arange(len(landmarks))
    block = evaluation.rectangle(X, landmarks, np.arange(len(X)), numbers)
    square = np.full((len(landmarks), len(landmarks)), np.nan)
    evaluation.square(landmarks, numbers, square)
    return CalledLandmarks(landmarks, numbers[:0], block, square)


def _given_objects(X: Objects, rule: Any) -> Objects:
    given = as_objects(rule, "landmarks")
    if not len(given):
        raise ValueError("landmarks must be at least one object, got an empty sequence")
    if X.are_vectors or sp.issparse(X.data):
        return Objects(_matching_rows(X.data, given.data if isinstance(given.data, np.ndarray) else rule))
    return given


def _some(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(n, size=count, replace=False))


def _centers(X: Any, picked: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    centers = cluster_centers(X[picked], count, rng).astype(_floats(X))
    # A center at the origin has no direction; on a sphere it is a sign of symmetric data, and a row serves as well.
    zero = np.flatnonzero(~np.any(centers, axis=1))
    if zero.size:
        rows = X[picked[: zero.size]]
        centers[zero] = rows.toarray() if sp.issparse(rows) else rows
    return centers


def _given(similarity: DirectSource, X: Any, rule: Any) -> Any:
    if similarity.has_vectors:
        return similarity.place(_matching_rows(X, rule), "landmarks")
    given = np.asarray(rule)
    if given.ndim != 1 or not given.size or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            "landmarks of a precomputed kernel must be indices of training objects, a one-dimensional array of integers, got "
            f"shape {given.shape} and dtype {given.dtype}"
        )
    _check_numbers(given, X.shape[0])
    return given


def _matching_rows(X: Any, rule: Any) -> Any:
    shape = rule.shape if sp.issparse(rule) else np.shape(rule)
    if len(shape) != 2 or shape[1] != X.shape[1] or not shape[0]:
        raise ValueError(
            f"landmarks must be rows like those of X, shape (n_landmarks, {X.shape[1]}), got shape {shape}"
        )
    return as_rows(rule, "landmarks").astype(_floats(X))


def _floats(X: Any) -> np.dtype:
    return X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)


def _check_numbers(given: np.ndarray, n: int) -> None:
    if given.min() < 0 or given.max() >= n:
        raise ValueError(f"landmarks must be indices from 0 to {n - 1}, got {given.min()} to {given.max()}")
