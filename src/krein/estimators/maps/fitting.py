"""Fitting a feature map inside another estimator: on a bounded sample of rows that have been checked already."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from krein._core.errors import ExportError
from krein.estimators.exporting import ExportMixin
from krein.estimators.maps.objects import takes_objects
from krein.export import Expression, translate
from krein.learning.path import Regularizer
from krein.learning.tuning.choice import Choice
from krein.rows import look as looks
from krein.rows.feature_blocks import Features
from krein.rows.look import Examples, FirstPass, look_at_matrix
from krein.similarities import Objects

__all__ = [
    "CheckedFeatures",
    "DataChosenMap",
    "check_features",
    "check_signature",
    "copy_input_tags",
    "fit_features",
    "is_chosen",
    "look_for",
    "map_to_fit",
    "more_rows",
    "training_features",
    "wants_columns",
]


class DataChosenMap(ABC):
    """A feature map that is chosen by the targets, or by the columns of all rows rather than of a sample.

    A learner that passes over all rows before it fits its map summarizes the columns on the way, keeps some rows with their
    targets, and calls `choose` and `fit_choice` instead of ``fit``.
    """

    @property
    @abstractmethod
    def chooses(self) -> bool:
        """Whether there is a kernel to choose."""

    @abstractmethod
    def choose(
        self,
        seen: FirstPass,
        *,
        lams: np.ndarray | None = None,
        regularizer: Regularizer = "hilbert",
        intercept: bool = True,
        exact_rows: int | None = None,
        width: int | None = None,
    ) -> Choice:
        """Placement, kernel and λ from what was seen of a table.

        Parameters
        ----------
        seen : FirstPass
        lams : ndarray of shape (n_lams,), default=None
            Values of λ a learner may take; None for a grid.
        regularizer : {"hilbert", "two", "krein"}, default="hilbert"
        intercept : bool, default=True
        exact_rows : int or None, default=None
            Most rows of an exact problem that is to be solved; None where features will be fitted.
        width : int or None, default=None
            Of those features; None for the map's own.

        Returns
        -------
        Choice
        """

    @abstractmethod
    def fit_choice(self, seen: FirstPass, choice: Choice) -> Self:
        """Fit the features of what was chosen.

        Parameters
        ----------
        seen : FirstPass
        choice : Choice

        Returns
        -------
        self
        """


@final
@dataclass(frozen=True, eq=False)
class CheckedFeatures(Features):
    """A fitted map as a function of rows that are known to be finite, in a plain array whatever output is configured."""

    features: Any

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column, shape (n_components,)."""
        return np.asarray(self.features.signature_)

    def __call__(self, X: Any) -> np.ndarray:
        """Features of the rows, shape (n_rows, n_components)."""
        with config_context(assume_finite=True):
            return np.asarray(self.features.transform(X))


@translate.register
def _(part: CheckedFeatures, rows: Expression) -> Expression:
    if not isinstance(part.features, ExportMixin):
        raise ExportError(f"{type(part.features).__name__} cannot be exported: it is not a feature map of this library")
    return part.features._formula(rows)


@final
@dataclass(frozen=True, eq=False)
class KnownFeatures(Features):
    """Rows that are features already."""

    signs: np.ndarray

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column, shape (n_components,)."""
        return self.signs

    def __call__(self, X: Any) -> np.ndarray:
        """The rows themselves."""
        return np.asarray(X)


def check_features(features: Any) -> None:
    """An error that names the parameter if `features` is no estimator."""
    if features is not None and not isinstance(features, BaseEstimator):
        raise TypeError(
            f"features must be a feature map with a signature or None, got {features!r} of type {type(features).__name__}; "
            "use krein.SignedFourierFeatures(), krein.KreinNystroem() or a map of krein.baselines"
        )


def map_to_fit(features: Any, random_state: Any) -> Any:
    """A clone of `features`, or the map that is meant by None."""
    if features is not None:
        return clone(features)
    from krein.estimators.maps.tuned import TunedFeatures  # late: it is a map itself

    return TunedFeatures(random_state=random_state)


def is_chosen(features: Any) -> bool:
    """Whether the kernel is chosen from the data."""
    return features is None or (isinstance(features, DataChosenMap) and features.chooses)


def wants_columns(features: Any) -> bool:
    """Whether a map wants to know the range of columns in all rows."""
    return features is None or isinstance(features, DataChosenMap)


def fit_features(
    features: Any, seen: FirstPass, random_state: Any, choice: Choice | None = None, *, width: int | None = None
) -> Any:
    """A fitted clone of `features`, or of the default map; an error if it has no signature."""
    if seen.fitted is not None:
        return seen.fitted
    fitted = map_to_fit(features, random_state)
    if features is None and width is not None:
        fitted.set_params(n_components=width)
    with config_context(assume_finite=True):
        if isinstance(fitted, DataChosenMap):
            return fitted.fit_choice(seen, fitted.choose(seen) if choice is None else choice)
        fitted.fit(seen.sample)
    check_signature(fitted)
    return fitted


def check_signature(fitted: Any) -> None:
    """An error if a fitted map has no signature."""
    try:
        fitted.signature_  # noqa: B018  # for the error alone
    except AttributeError as error:
        raise TypeError(
            f"features must be a map with a signature, but {type(fitted).__name__} has no signature_ after fit; use "
            "krein.SignedFourierFeatures, krein.KreinNystroem or a map of krein.baselines"
        ) from error


def look_for(
    features: Any,
    X: Any,
    weight: np.ndarray | None = None,
    examples: Examples | None = None,
    *,
    always: bool = False,
) -> tuple[Any, FirstPass, bool]:
    """What a map that is yet to be fitted needs to know of a matrix of rows, or of similarities if it takes those.

    A map of objects is fitted on the way, and the rows that come back are the features of the objects.
    """
    if takes_objects(features) and (isinstance(X, Objects) or X.shape[0] <= looks.FEATURE_ROWS):
        Z, seen = _fit_on_objects(features, X, weight, None if examples is None else examples.y)
        return Z, seen, True
    pairwise = features is not None and bool(get_tags(features).input_tags.pairwise)
    chosen_by = examples if always or is_chosen(features) else None
    return look_at_matrix(X, weight, summarize=wants_columns(features), whole=pairwise, examples=chosen_by)


def _fit_on_objects(
    features: Any, X: Any, weight: np.ndarray | None, y: np.ndarray | None
) -> tuple[np.ndarray, FirstPass]:
    """Fit a map on all objects of positive weight; nothing is evaluated again for their features."""
    n = X.shape[0]
    present = np.arange(n) if weight is None else np.flatnonzero(weight > 0.0)
    if not present.size:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    fitted = clone(features)
    X, y = (X, y) if present.size == n else (X[present], None if y is None else y[present])
    Z = np.asarray(fitted.fit_transform(X, y))
    if present.size < n:
        some, Z = Z, np.zeros((n, Z.shape[1]), dtype=Z.dtype)
        Z[present] = some
    return Z, FirstPass(Z, None, n_rows=n, fitted=fitted)


def training_features(fitted: Any, seen: FirstPass) -> Features:
    """From the rows that `look_for` gave to features: the fitted map, or nothing at all where the rows are features already."""
    return CheckedFeatures(fitted) if seen.fitted is None else KnownFeatures(np.asarray(fitted.signature_))


def more_rows(fitted: Any, X: Any) -> tuple[Any, Features]:
    """More training rows for a map that was fitted on others, as `look_for` gave those: objects as their features."""
    mapped = CheckedFeatures(fitted)
    return (mapped(X), KnownFeatures(mapped.signature)) if takes_objects(fitted) else (X, mapped)


def copy_input_tags(tags: Any, features: Any) -> None:
    """Take over what the feature map takes: sparse or dense rows, similarities, objects."""
    if isinstance(features, BaseEstimator):
        tags.input_tags = get_tags(features).input_tags
    else:
        tags.input_tags.sparse = True
