"""A feature map on scaled columns, so that the scaling travels with the model."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from krein.estimators.learners.streaming import fit_features
from krein.files.models import SavableMixin

__all__ = ["ScaledFeatures"]

_SCALINGS = ("minmax", "standard")


@final
class ScaledFeatures(SavableMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Columns brought to one scale, then a feature map: ``features.transform((X - low) / width)``.

    Parameters
    ----------
    features : transformer with a ``signature_``, default=None
        As in `KreinRidge`.
    scaling : {"minmax", "standard"}, default="minmax"
        Columns to [0, 1] by the least and greatest value of the rows fitted on, other rows clipped to it; or to mean zero
        and variance one. A constant column becomes 0.
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
    >>> from krein.estimators.maps.scaled import ScaledFeatures
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
        if self.scaling not in _SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(map(repr, _SCALINGS))}, got {self.scaling!r}")
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        if self.scaling == "minmax":
            self.low_ = X.min(axis=0).astype(np.float64)
            width = X.max(axis=0).astype(np.float64) - self.low_
        else:
            self.low_ = X.mean(axis=0, dtype=np.float64)
            width = X.std(axis=0, dtype=np.float64)
        # a spread of rounding size is no spread
        constant = width <= 1e-12 * np.maximum(1.0, np.abs(self.low_))
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
        return self.features_.transform(self._scale(X))

    def _scale(self, X: Any) -> np.ndarray:
        assert not sp.issparse(X)
        scaled = ((X - self.low_) / self.width_).astype(X.dtype)
        return np.clip(scaled, 0.0, 1.0, out=scaled) if self.scaling == "minmax" else scaled

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
