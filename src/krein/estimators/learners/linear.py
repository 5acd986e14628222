"""Predicting with a linear model on features, on one machine or lazily on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from krein.estimators.learners.input_checks import check_rows
from krein.estimators.maps.base import row_map
from krein.learning.kernel_model import KernelModel
from krein.rows.dask_rows import head_row, is_dask, map_rows
from krein.rows.feature_blocks import LinearModel, RowModel
from krein.rows.targets import winning_columns

__all__ = [
    "LinearClassifierMixin",
    "RowClassifierMixin",
    "check_kernel_model",
    "check_linear",
    "labels_of",
    "row_values",
]


class RowClassifierMixin(ClassifierMixin):
    """Classification by the largest of several functions of a row; one function for two classes.

    The estimator has a method ``_row_model() -> RowModel``, the fitted model as a function of rows.
    """

    classes_: np.ndarray
    _row_model: Callable[[], RowModel]

    def decision_function(self, X: Any) -> Any:
        """Values of the decision functions, positive where a class is likely.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes; a lazy dask.array for a Dask collection
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Predicted labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), or a lazy dask.array for a Dask collection
        """
        return labels_of(self._values(X), self.classes_)

    def _values(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return row_values(self, X, self._row_model())


class LinearClassifierMixin(RowClassifierMixin):
    """The functions are linear in the features."""

    features_: Any
    coef_: np.ndarray
    intercept_: np.ndarray

    def _row_model(self) -> RowModel:
        return LinearModel(row_map(self.features_), self.coef_, self.intercept_)

    def _check_loaded(self) -> None:
        if "coef_" in vars(self):
            n_classes = self.classes_.shape[0]
            check_linear(self.features_, self.coef_, self.intercept_, 1 if n_classes == 2 else n_classes)


def row_values(
    estimator: BaseEstimator | ClassifierMixin, X: Any, model: RowModel, *, keep_single: bool = False
) -> Any:
    """Values of a fitted model."""
    if is_dask(X):
        check_rows(estimator, head_row(X), first=False)
        return map_rows(model, X, width=model.width)
    rows = check_rows(estimator, X, first=False)
    values = model(rows)
    return values.astype(np.float32) if keep_single and rows.dtype == np.float32 else values


def labels_of(values: Any, classes: np.ndarray) -> Any:
    """The class of the largest value in each row."""
    if is_dask(values):
        return values.map_blocks(labels_of, classes, drop_axis=1, dtype=classes.dtype)
    return classes[winning_columns(values)]


def check_linear(
    features: Any, coef: np.ndarray, intercept: np.ndarray, n_outputs: int | None = None, *, name: str = "coef_"
) -> None:
    """An error unless the parts of a linear model fit each other, for models that come from files."""
    width = row_map(features).signature.shape[0]
    if coef.ndim != 2 or coef.shape[1] != width:
        raise ValueError(f"{name} has shape {coef.shape}, which does not fit a feature map of {width} columns")
    if intercept.shape != coef.shape[:1]:
        raise ValueError(f"intercept_ has shape {intercept.shape}, which does not fit {name} of shape {coef.shape}")
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError(f"{name} and intercept_ must be finite")
    if n_outputs is not None and coef.shape[0] != n_outputs:
        raise ValueError(f"{name} has {coef.shape[0]} rows, but the classes need {n_outputs}")


def check_kernel_model(model: KernelModel, n_features: int, n_outputs: int | None = None) -> None:
    """An error unless a kernel model fits its learner, for models that come from files."""
    if n_outputs not in (None, model.width):
        raise ValueError(f"the kernel model has {model.width} outputs, but the classes need {n_outputs}")
    if model.placement.n_features not in (None, n_features):
        raise ValueError(
            f"the kernel model takes rows of {model.placement.n_features} columns, but the learner has {n_features}"
        )
    placed = model.placement.n_outputs(n_features)
    if model.rows.shape[1] != placed:
        raise ValueError(
            f"the kernel model has rows of {model.rows.shape[1]} columns, but its placement gives {placed}"
        )
