"""The frame of learners on rows: parameters in, rows from wherever they are, a model out, attributes read from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from krein._core.threads import quiet_blas
from krein.estimators.learners.careful import tells_stages, unchanged_on_error
from krein.estimators.learners.input_checks import check_block, check_rows
from krein.estimators.maps.base import TransformerMap, row_map
from krein.estimators.maps.fitting import (
    copy_input_tags,
    count_rows,
    given_map,
    map_source,
    objects_as_features,
    takes_all_at_once,
)
from krein.estimators.mixins import ExportMixin
from krein.export import Expression, translate
from krein.features import RowMap
from krein.files.models import SavableMixin
from krein.learning.chosen_features import MapSource
from krein.learning.leaves.local import LocalModel
from krein.learning.model import LinearModel, Model
from krein.rows.dask_rows import DaskRows, head_row, is_dask, map_rows
from krein.rows.source import Block, ChunkRows, MatrixRows, RowSource
from krein.rows.targets import winning_columns
from krein.similarities import Objects

__all__ = [
    "ProbabilityMixin",
    "RowClassifierMixin",
    "RowLearner",
    "labels_of",
    "row_values",
    "rows_of",
    "takes_columns",
]


class RowLearner(ExportMixin, SavableMixin, BaseEstimator, ABC):
    """Everything but what is learned: a subclass names its targets, calls a function of `krein.learning`, keeps the model."""

    kernel: Any
    features: Any
    random_state: Any
    verbose: bool

    model_: Model
    intercept_: Any

    @property
    @abstractmethod
    def _check_targets(self) -> Callable[[Any, int], np.ndarray]:
        """The check of a block of targets, ``(y, number of its first row) -> y``."""

    @abstractmethod
    def _learn(self, rows: RowSource, source: MapSource) -> None:
        """Fit a model, and set what is learned."""

    @abstractmethod
    def _n_outputs(self) -> int:
        """How many outputs the model must have."""

    # ---- fitting

    @tells_stages
    @unchanged_on_error
    @quiet_blas()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on all rows, in blocks.

        Parameters
        ----------
        X : array, memory map, DataFrame, sparse matrix, dask.array or dask.dataframe of shape (n_samples, n_features)
            Dask collections are fitted through the active scheduler; see the user guide on clusters. Any sequence of objects
            where `kernel` is a function of two of them.
        y : array-like of shape (n_samples,), or (n_samples, n_targets) for regression; or the Dask equivalent
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative, not all zero. A whole-number weight is a number of copies of the row.

        Returns
        -------
        self
        """
        self._learn(*self._rows(X, y, sample_weight))
        return self

    @tells_stages
    @unchanged_on_error
    @quiet_blas()
    def fit_chunks(self, chunks: Iterable[tuple[Any, ...]]) -> Self:
        """Fit from an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, for tables that do not fit in memory.

        A collection that can be iterated again (a list, a `krein.files.tables.TableChunks`) is read once for every pass; the
        result is that of `fit` on all rows. An iterator can be read only once: what is chosen is chosen on its first 50,000
        rows, and a learner that needs several passes refuses it if there are more.

        Parameters
        ----------
        chunks : iterable of tuples

        Returns
        -------
        self
        """
        features, known = self._given_map(), False

        def check(chunk: tuple[Any, ...], start: int) -> Block:
            nonlocal known
            X, y, *rest = chunk
            block = self._block(X, y, rest[0] if rest else None, features, start=start, first=not known)
            if isinstance(block[0], Objects):
                raise TypeError("fit_chunks takes rows of numbers; pass objects to fit, all at once")
            known = True
            return block

        self._learn(ChunkRows(chunks, check), map_source(features, self.random_state))
        return self

    def _given_map(self) -> Any:
        return given_map(self.kernel, self.features, self.random_state)

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, more: bool = False) -> tuple[RowSource, MapSource]:
        """What was given to `fit`, checked."""
        features = given_map(self.kernel, self.features, self.random_state, count_rows(X))
        return rows_of(self, features, self._check_targets, X, y, sample_weight, more=more)

    def _block(self, X: Any, y: Any, sample_weight: Any, features: Any, *, start: int, first: bool) -> Block:
        return check_block(self, features, self._check_targets, X, y, sample_weight, start=start, first=first)

    # ---- predicting

    def _values(self, X: Any) -> Any:
        """Outputs of the model, one column each; lazily for Dask collections."""
        check_is_fitted(self, "model_")
        return row_values(self, X, self._given_map(), self.model_)

    def _linear(self, name: str) -> LinearModel:
        if "model_" not in vars(self):
            raise AttributeError(f"{name} is there after fit")
        model = self.model_.trend if isinstance(self.model_, LocalModel) else self.model_
        if not isinstance(model, LinearModel):
            raise AttributeError(f"{name}: an exact model has no features, see model_.rows and model_.dual")
        return model

    @property
    def features_(self) -> RowMap:
        """The fitted feature map as a function of rows; below leaves that of the global model."""
        return self._linear("features_").features

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features, shape (n_outputs, n_components)."""
        return self._linear("coef_").coef

    # ---- files and other runtimes

    def _formula(self, rows: Expression) -> Expression:
        return translate(self.model_, rows)

    def _n_values(self) -> int:
        return self.model_.width

    def _has_columns(self) -> bool:
        model = vars(self).get("model_")
        return takes_columns(model.features) if isinstance(model, LinearModel) else True

    def _check_loaded(self) -> None:
        # before 0.2 was released the parts of a model were attributes of their own
        parts = {name: self.__dict__.pop(name, None) for name in ("features_", "coef_", "local_")}
        if "intercept_" not in vars(self):
            return
        constant = np.atleast_1d(np.asarray(self.intercept_))
        if vars(self).get("model_") is None:
            if parts["features_"] is None or parts["coef_"] is None:
                raise ValueError("there is neither model_, nor features_ with coef_")
            linear = LinearModel(row_map(parts["features_"]), np.atleast_2d(parts["coef_"]), constant)
            self.model_ = linear if parts["local_"] is None else LocalModel(linear, parts["local_"])
        if self.model_.constant.shape != constant.shape or self.model_.width != self._n_outputs():
            raise ValueError(f"the model has {self.model_.width} outputs, but intercept_ or the classes need others")
        self.model_.check(vars(self).get("n_features_in_"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self)
        return tags


def rows_of(
    learner: Any,
    features: Any,
    check: Callable[[Any, int], np.ndarray] | None,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    more: bool = False,
) -> tuple[RowSource, MapSource]:
    """What a learner was given: rows wherever they are, and where their features come from."""
    source = map_source(features, learner.random_state)
    if is_dask(X):
        check_rows(learner, head_row(X), features, first=True)
        return DaskRows.of(X, y, sample_weight, check), source
    X, y, weight = check_block(learner, features, check, X, y, sample_weight, start=0, first=True)
    if takes_all_at_once(features, X):
        Z, source = objects_as_features(features, X, y, weight)
        return MatrixRows(Z, y, weight, more=more), source
    pairwise = features is not None and bool(get_tags(features).input_tags.pairwise)
    return MatrixRows(X, y, weight, more=more, pairwise=pairwise), source


class RowClassifierMixin(ClassifierMixin):
    """Classification by the largest of several functions of a row; one function for two classes."""

    classes_: np.ndarray
    _values: Callable[[Any], Any]

    def decision_function(self, X: Any) -> Any:
        """Values of the decision functions, positive where a class is likely.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features), or objects

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
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features), or objects

        Returns
        -------
        ndarray of shape (n_samples,), or a lazy dask.array for a Dask collection
        """
        return labels_of(self._values(X), self.classes_)

    def _n_outputs(self) -> int:
        return 1 if self.classes_.size == 2 else int(self.classes_.size)


class ProbabilityMixin(RowClassifierMixin):
    """With probabilities of the classes."""

    @property
    @abstractmethod
    def _log_chances(self) -> Callable[[np.ndarray], np.ndarray]:
        """From values of the decision functions, in columns, to logarithms of probabilities of all classes."""

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features), or objects

        Returns
        -------
        ndarray of shape (n_samples, n_classes); a lazy dask.array for a Dask collection
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask collection of shape (n_samples, n_features), or objects

        Returns
        -------
        ndarray of shape (n_samples, n_classes); a lazy dask.array for a Dask collection
        """
        values = self._values(X)
        if is_dask(values):
            chunks = (values.chunks[0], (self.classes_.size,))
            return values.map_blocks(self._log_chances, dtype=values.dtype, chunks=chunks)
        return self._log_chances(values)


def takes_columns(features: Any) -> bool:
    """Whether a map takes rows of a certain number of columns, as all do but those of objects."""
    inner = features.transformer if isinstance(features, TransformerMap) else None
    return inner._has_columns() if isinstance(inner, SavableMixin) else True


def row_values(learner: Any, X: Any, features: Any, model: Model, *, keep_single: bool = False) -> Any:
    """Outputs of a model for what is given to a learner; lazily for Dask collections."""
    if is_dask(X):
        check_rows(learner, head_row(X), features, first=False)
        return map_rows(model, X, width=model.width)
    rows = check_rows(learner, X, features, first=False)
    values = model(rows)
    return values.astype(np.float32) if keep_single and rows.dtype == np.float32 else values


def labels_of(values: Any, classes: np.ndarray) -> Any:
    """The class of the largest value in each row."""
    if is_dask(values):
        return values.map_blocks(labels_of, classes, drop_axis=1, dtype=classes.dtype)
    return classes[winning_columns(values)]
