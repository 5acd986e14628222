"""Maps that take any sequence of objects, and the check of what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from krein.estimators.numbers import checked_rows
from krein.similarities import as_objects, distance_of, is_called, is_numeric_matrix

__all__ = ["ObjectMap", "check_objects", "object_tags", "takes_objects"]


class ObjectMap(ABC):
    """A feature map that may take objects rather than rows of numbers, and whose ``fit_transform`` costs no more than ``fit``.

    A learner fits such a map on all objects at once, and learns from the features that come with the fit.
    """

    @property
    @abstractmethod
    def _takes_objects(self) -> bool:
        """Whether it does, with the parameters it has."""


def takes_objects(features: Any) -> bool:
    """Whether a feature map takes any sequence of objects."""
    return isinstance(features, ObjectMap) and features._takes_objects


def check_objects(estimator: BaseEstimator, X: Any, kernel: Any, *, first: bool) -> Any:
    """What is given as X to a kernel that is called: rows of floats as scikit-learn checks them, all else as it was given."""
    if is_numeric_matrix(X):
        distance = distance_of(kernel)
        by_name = distance is not None and isinstance(distance.metric, str)  # which takes any numbers as floats
        rows = checked_rows(
            estimator, X, accept_sparse="csr", reset=first, dtype=[np.float64, np.float32] if by_name else None
        )
        table = as_objects(X).has_columns
        return rows if by_name or (rows.dtype.kind == "f" and not table) else as_objects(X if table else rows)
    objects = as_objects(X)
    if not len(objects):
        raise ValueError("X has 0 objects (shape=(0,)), and a minimum of 1 is required")
    if objects.has_columns:
        validate_data(estimator, objects.data, skip_check_array=True, reset=first)
    elif first:
        for name in ("n_features_in_", "feature_names_in_"):  # of rows that the estimator was fitted on before
            vars(estimator).pop(name, None)
    return objects


def object_tags(tags: Any, kernel: Any) -> None:
    """Say that any sequence is taken, where the kernel is a similarity of objects."""
    if is_called(kernel):
        tags.input_tags.one_d_array = True
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        tags.input_tags.dict = True
        tags.input_tags.categorical = True
