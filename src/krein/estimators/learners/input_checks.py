"""Checks of what users hand to a learner: rows, targets, labels and weights."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from krein._core.checks import one_of
from krein.estimators.maps.objects import check_objects, takes_objects
from krein.estimators.numbers import checked_rows, real_numbers, unmasked
from krein.learning.newton.labeled import balanced_weights
from krein.rows.feature_blocks import checked_weight

__all__ = [
    "check_class_weight",
    "check_labels",
    "check_lengths",
    "check_numbers",
    "check_rows",
    "check_weight",
    "weights_by_class",
]


def check_rows(estimator: BaseEstimator, X: Any, *, first: bool) -> Any:
    """Rows as a numeric array or CSR matrix, with their number and names of columns compared or, at first, remembered.

    Finiteness is checked block by block later (`krein.rows.feature_blocks.finite_rows`): a check here would read a memory map
    from end to end.
    """
    features: Any = getattr(estimator, "features", None)
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
    check_classification_targets(labels)
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


def check_class_weight(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """What the weights of the rows of each class are to be multiplied with, or None."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        one_of(class_weight, "class_weight", ("balanced",), otherwise=", a mapping of classes to weights or None")
        return balanced_weights(totals)
    known, class_weight = classes.tolist(), weights_by_class(class_weight)
    strange = [label for label in class_weight if label not in known]
    if strange:
        raise ValueError(
            f"class_weight must name classes of y, got {strange[0]!r}, but the classes of y are {known[:10]}; leave it out"
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in known])
    if not np.isfinite(factors).all() or (factors <= 0.0).any():
        raise ValueError(f"class_weight must have positive and finite weights, got {dict(class_weight)!r}")
    return factors


def weights_by_class(class_weight: Any) -> Mapping[Any, Any]:
    """An error unless weights of classes are a mapping."""
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            f"class_weight must be 'balanced', a mapping of classes to weights or None, got {class_weight!r} of type "
            f"{type(class_weight).__name__}"
        )
    return class_weight
