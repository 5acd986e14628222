"""Fitting a feature map inside another estimator: on a bounded sample of rows that have been checked already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from krein.estimators.maps.base import as_generator, check_signature, row_map
from krein.estimators.maps.objects import takes_objects
from krein.estimators.maps.tuned import TunedFeatures
from krein.features import RowMap
from krein.learning.chosen_features import Tuning, fit_chosen
from krein.learning.tuning.choice import Choice
from krein.rows import look as looks
from krein.rows.look import Examples, FirstPass, look_at_matrix
from krein.similarities import Objects

__all__ = [
    "copy_input_tags",
    "fit_features",
    "is_chosen",
    "look_for",
    "more_rows",
    "training_features",
    "tuning_of",
    "wants_columns",
]


@final
@dataclass(frozen=True, eq=False)
class KnownFeatures:
    """Rows that are features already."""

    signs: np.ndarray

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column, shape (n_components,)."""
        return self.signs

    @property
    def n_features(self) -> int:
        """Columns of the rows."""
        return int(self.signs.size)

    def __call__(self, X: Any) -> np.ndarray:
        """The rows themselves."""
        return np.asarray(X)


def tuning_of(features: Any) -> Tuning | None:
    """What is chosen where a learner is given these features; None where they are a map as it is."""
    if features is None:
        return Tuning()
    return features.tuning() if isinstance(features, TunedFeatures) else None


def is_chosen(features: Any) -> bool:
    """Whether the kernel is chosen from the data."""
    return features is None or (isinstance(features, TunedFeatures) and features.kernels is not None)


def wants_columns(features: Any) -> bool:
    """Whether a map wants to know the range of columns in all rows."""
    return features is None or isinstance(features, TunedFeatures)


def fit_features(
    features: Any, seen: FirstPass, random_state: Any, choice: Choice | None = None, *, width: int | None = None
) -> Any:
    """The map of a choice as a value, or a fitted clone of the map that was given."""
    if seen.fitted is not None:
        return seen.fitted
    tuning = tuning_of(features)
    with config_context(assume_finite=True):
        if tuning is None:
            fitted = clone(features).fit(seen.sample)
            check_signature(fitted)
            return fitted
        choice = tuning.choose(seen) if choice is None else choice
        if features is not None:
            own = clone(features)
            return own.fit_chosen(choice, seen.sample, tuning.width(seen), as_generator(own.random_state))
        wanted = tuning.width(seen) if width is None else width
        return fit_chosen(choice, seen.sample, wanted, as_generator(random_state))


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


def training_features(fitted: Any, seen: FirstPass) -> RowMap:
    """From the rows that `look_for` gave to features: the fitted map, or nothing at all where the rows are features already."""
    return row_map(fitted) if seen.fitted is None else KnownFeatures(row_map(fitted).signature)


def more_rows(fitted: Any, X: Any) -> tuple[Any, RowMap]:
    """More training rows for a map that was fitted on others, as `look_for` gave those: objects as their features."""
    mapped = row_map(fitted)
    return (mapped(X), KnownFeatures(mapped.signature)) if takes_objects(fitted) else (X, mapped)


def copy_input_tags(tags: Any, features: Any) -> None:
    """Take over what the feature map takes: sparse or dense rows, similarities, objects."""
    if isinstance(features, BaseEstimator):
        tags.input_tags = get_tags(features).input_tags
    else:
        tags.input_tags.sparse = True
