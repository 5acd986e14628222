"""A feature map on scaled columns, so that the scaling travels with the model."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from krein._core.checks import one_of
from krein.estimators.maps.fitting import ColumnScaledMap, check_features, fit_features
from krein.files.models import SavableMixin
from krein.learning.columns import ColumnSummary

__all__ = ["ScaledFeatures"]

_SCALINGS = ("minmax", "standard")
_SPREAD = 1e-12  # of the size of a column, below which its spread is rounding


@final
class ScaledFeatures(ColumnScaledMap, SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Columns brought to one scale, then a feature map: ``features.transform((X - low) / width)``.

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        As in `KreinRidge`.
    scaling : {"minmax", "standard"}, default="minmax"
        Columns to [0, 1] by the least and greatest value of the rows fitted on, other rows clipped to it; or to mean zero
        and variance one. A constant column becomes 0. Inside a learner the rows fitted on are all rows it learns from, by
        their weights, although the map itself is fitted on a sample of them.
    random_state : int, RandomState or None, default=None
        For the default feature map.

    Attributes
    ----------
    low_, width_ : ndarray of shape (n_features,)
    features_ : the fitted feature map
    signature_ : ndarray of shape (n_components,)

    Examples
    --------
    >>> import numpy as np
    >>> from krein import ScaledFeatures
    >>> X = np.array([[0.0, 100.0], [1.0, 300.0], [4.0, 200.0]])
    >>> ScaledFeatures(random_state=0).fit(X).width_
    array([  4., 200.])
    """

    def __init__(self, features: Any = None, *, scaling: str = "minmax", random_state: Any = None) -> None:
        self.features = features
        self.scaling = scaling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the scale of the columns, and fit the map on scaled rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        columns = ColumnSummary.of(X)
        assert columns is not None  # validate_data refuses a matrix without rows
        return self._fit(X, columns)

    def fit_sample(self, X: Any, columns: ColumnSummary) -> Self:
        """Scale by the range of all rows, and fit the map on a sample of them.

        Parameters
        ----------
        X : array of shape (n_sampled, n_features)
        columns : krein.learning.columns.ColumnSummary

        Returns
        -------
        self
        """
        self._check_parameters()
        return self._fit(validate_data(self, X, dtype=[np.float64, np.float32]), columns)

    def _check_parameters(self) -> None:
        check_features(self.features)
        one_of(self.scaling, "scaling", _SCALINGS)

    def _fit(self, X: np.ndarray, columns: ColumnSummary) -> Self:
        if self.scaling == "minmax":
            self.low_, width = columns.least, columns.greatest - columns.least
        else:
            self.low_, width = columns.mean, np.sqrt(columns.variance)
        constant = width <= _SPREAD * np.maximum(1.0, np.abs(self.low_))
        self.width_ = np.where(constant, np.inf, width)
        self.features_ = fit_features(self.features, self._scale(X), self.random_state)
        self.signature_ = self.features_.signature_
        self._n_features_out = self.signature_.shape[0]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of the rows of X.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components), float32 if X is float32, else float64
        """
        check_is_fitted(self, "signature_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return np.asarray(self.features_.transform(self._scale(X)))

    def _scale(self, X: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = ((X - self.low_) / self.width_).astype(X.dtype)
        return np.clip(scaled, 0.0, 1.0, out=scaled) if self.scaling == "minmax" else scaled

    def _check_loaded(self) -> None:
        if "signature_" not in vars(self):
            return
        if not np.array_equal(self.signature_, self.features_.signature_):
            raise ValueError("signature_ is not that of the fitted map")
        if self.low_.ndim != 1 or self.low_.shape != self.width_.shape:
            raise ValueError(
                f"low_ and width_ have shapes {self.low_.shape} and {self.width_.shape}; expected one entry a column"
            )
        if not np.isfinite(self.low_).all() or not (self.width_ > 0.0).all():
            raise ValueError("low_ must be finite and width_ positive")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
