"""Checks of what users hand to a learner: rows, targets, labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from krein.estimators.maps.objects import check_objects, takes_objects
from krein.estimators.numbers import checked_rows, real_numbers, unmasked
from krein.rows.blocks import checked_weight
from krein.rows.source import Block

__all__ = ["check_block", "check_labels", "check_lengths", "check_numbers", "check_rows", "check_weight"]

_LARGEST_TARGET = 1e140  # the squares of a trillion of them can be added up


def check_block(
    learner: BaseEstimator,
    features: Any,
    check: Callable[[Any, int], np.ndarray] | None,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    start: int,
    first: bool,
) -> Block:
    """Rows, targets and weights that can be learned from; else an error that says what is wrong where."""
    X = check_rows(learner, X, features, first=first)
    if check is not None:
        y = check(y, start)
        check_lengths(X, y)
    return X, y, check_weight(sample_weight, X.shape[0], start)


def check_rows(estimator: BaseEstimator, X: Any, features: Any, *, first: bool) -> Any:
    """Rows as a numeric array or CSR matrix, with their number and names of columns compared or, at first, remembered.

    Finiteness is checked block by block later, by the source of rows or the model: a check here would read a memory map from end
    to end. `features` is the map that was given to the estimator.
    """
    if takes_objects(features):
        return check_objects(estimator, X, features.kernel, first=first)
    return checked_rows(estimator, X, accept_sparse="csr", reset=first, ensure_all_finite=False, dtype="numeric")


def check_lengths(X: Any, y: np.ndarray) -> None:
    """An error unless there is one target per row."""
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and y have inconsistent lengths: {X.shape[0]} rows and {y.shape[0]} targets; pass one target per row"
        )


def check_numbers(y: Any, start: int = 0) -> np.ndarray:
    """Targets as finite numbers."""
    _check_given(y)
    numbers: np.ndarray = check_array(
        real_numbers(y, "y"), ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y"
    )
    if numbers.ndim > 2:
        raise ValueError(f"y must be a vector or a matrix, got shape {numbers.shape}")
    bad = ~np.isfinite(numbers).reshape(numbers.shape[0], -1).all(axis=1)
    if bad.any():
        raise ValueError(
            f"y contains NaN or infinity, first in row {start + int(np.flatnonzero(bad)[0])}; drop rows without a target"
        )
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"y reaches {largest:.3g}, and sums of squares of targets beyond {_LARGEST_TARGET:.0e} are no numbers; divide y by "
            f"{largest:.0e}"
        )
    return numbers


def check_labels(y: Any, start: int = 0) -> np.ndarray:
    """Targets as labels, none of them missing."""
    _check_given(y)
    labels: np.ndarray = column_or_1d(unmasked(y, "y"), warn=True)
    # x != x is how NaN, NaT and pandas' missing values differ from every label
    missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape[0], dtype=bool)
    if labels.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in labels], dtype=bool)
    if missing.any():
        raise ValueError(
            f"y contains NaN, first in row {start + int(np.flatnonzero(missing)[0])}, and a missing label is not a class; "
            "drop these rows or give them a label of their own"
        )
    if labels.dtype.kind == "O":
        _check_one_order(labels)
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise ValueError(
            f"{str(error).partition('.')[0]}, such as {labels[0]!r}; learn numbers with a regressor, KreinRidge or ExactKreinRidge"
        ) from error
    return labels


def _check_one_order(labels: np.ndarray) -> None:
    """An error unless labels can be sorted, as classes are."""
    try:
        np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y must have labels of one kind, got {' and '.join(kinds[:3])}; make all of them strings or all of them numbers"
        ) from error


def _check_given(y: Any) -> None:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")


def check_weight(sample_weight: Any, n_rows: int, start: int = 0) -> np.ndarray | None:
    """Weights as float64, or None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    weight = np.asarray(real_numbers(sample_weight, "sample_weight"))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight per row")
    return checked_weight(weight, start)
