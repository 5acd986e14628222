"""Fitting a feature map inside another estimator: on a bounded sample of rows that have been checked already."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from krein.learning.columns import ColumnSummary
from krein.learning.first_pass import FirstPass, look_at_matrix
from krein.learning.stream import Features

__all__ = [
    "CheckedFeatures",
    "ColumnScaledMap",
    "check_features",
    "copy_input_tags",
    "fit_features",
    "look_for",
    "wants_columns",
]


class ColumnScaledMap(ABC):
    """A feature map that scales columns, and would rather know their range in all rows than in a sample.

    A learner that passes over all rows before it fits its map summarizes the columns on the way, and calls `fit_sample`
    instead of ``fit``.
    """

    @abstractmethod
    def fit_sample(self, X: Any, columns: ColumnSummary) -> Self:
        """Fit on a sample of rows whose columns are known.

        Parameters
        ----------
        X : array of shape (n_sampled, n_features)
        columns : krein.learning.columns.ColumnSummary
            Range, mean and variance of each column over all rows.

        Returns
        -------
        self
        """


@final
@dataclass(frozen=True, eq=False)
class CheckedFeatures(Features):
    """A fitted map as a function of rows that are known to be finite, in a plain array whatever output is configured.

    Parameters
    ----------
    features : a fitted feature map
    """

    features: Any

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column, shape (n_components,)."""
        return np.asarray(self.features.signature_)

    def __call__(self, X: Any) -> np.ndarray:
        """Features of the rows, shape (n_rows, n_components)."""
        with config_context(assume_finite=True):
            return np.asarray(self.features.transform(X))


def check_features(features: Any) -> None:
    """An error that names the parameter if `features` is no estimator.

    Parameters
    ----------
    features : transformer or None
    """
    if features is not None and not isinstance(features, BaseEstimator):
        raise TypeError(
            f"features must be a feature map with a signature or None, got {features!r} of type {type(features).__name__}; "
            "use krein.SignedFourierFeatures(), krein.KreinNystroem() or a map of krein.baselines"
        )


def fit_features(features: Any, sample: Any, random_state: Any, columns: ColumnSummary | None = None) -> Any:
    """A fitted clone of `features`, or of the default map; an error if it has no signature.

    Parameters
    ----------
    features : transformer or None
    sample : array or CSR matrix of shape (n_rows, n_features)
        Finite.
    random_state : as in scikit-learn
        For the default map only; a map that is passed in has its own.
    columns : ColumnSummary or None, default=None
        For a `ColumnScaledMap`.

    Returns
    -------
    the fitted map
    """
    if features is None:
        from krein.estimators.maps.fourier import SignedFourierFeatures  # late: a user of another map does not need it

        fitted = SignedFourierFeatures(random_state=random_state)
    else:
        fitted = clone(features)
    with config_context(assume_finite=True):
        if isinstance(fitted, ColumnScaledMap) and columns is not None:
            fitted.fit_sample(sample, columns)
        else:
            fitted.fit(sample)
    try:
        fitted.signature_  # noqa: B018
    except AttributeError as error:
        raise TypeError(
            f"features must be a map with a signature, but {type(fitted).__name__} has no signature_ after fit; use "
            "krein.SignedFourierFeatures, krein.KreinNystroem or a map of krein.baselines"
        ) from error
    return fitted


def wants_columns(features: Any) -> bool:
    """Whether a map wants to know the range of columns in all rows.

    Parameters
    ----------
    features : transformer or None

    Returns
    -------
    bool
    """
    return isinstance(features, ColumnScaledMap)


def look_for(features: Any, X: Any, weight: np.ndarray | None = None) -> tuple[Any, FirstPass, bool]:
    """What a map that is yet to be fitted needs to know of a matrix of rows, or of similarities if it takes those.

    Parameters
    ----------
    features : transformer or None
    X : ndarray, memory map or CSR matrix of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,), default=None

    Returns
    -------
    X : as given, or as floating point numbers
    seen : FirstPass
    checked : bool
        Whether all rows were found to be finite, see `krein.learning.first_pass.look_at_matrix`.
    """
    pairwise = features is not None and bool(get_tags(features).input_tags.pairwise)
    return look_at_matrix(X, weight, summarize=wants_columns(features), whole=pairwise)


def copy_input_tags(tags: Any, features: Any) -> None:
    """Take over what kind of rows the feature map takes: sparse or dense, rows or similarities.

    Parameters
    ----------
    tags : sklearn.utils.Tags
        Changed in place.
    features : transformer or None
    """
    inner = get_tags(features).input_tags if isinstance(features, BaseEstimator) else None
    tags.input_tags.sparse = True if inner is None else inner.sparse
    tags.input_tags.pairwise = False if inner is None else inner.pairwise
