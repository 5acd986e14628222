"""From the parameters of a learner to its features: a map that was given, or a kernel to choose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from krein.estimators.maps.base import as_generator, check_features, check_signature, row_map
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.objects import takes_objects
from krein.estimators.maps.tuned import TunedFeatures
from krein.features import RowMap
from krein.learning.chosen_features import KnownFeatures, MapSource, Tuning, fit_chosen
from krein.learning.limits import default_width
from krein.learning.tuning.choice import Choice
from krein.rows import look as looks
from krein.rows.dask_rows import is_dask
from krein.rows.look import Look
from krein.similarities import KernelSimilarity, Objects, as_similarity, kernel_of

__all__ = [
    "copy_input_tags",
    "count_rows",
    "given_map",
    "map_source",
    "more_rows",
    "objects_as_features",
    "takes_all_at_once",
]


def given_map(kernel: Any, features: Any, random_state: Any, n_rows: int | None = None) -> Any:
    """The feature map that a learner was given in one of two parameters; None where everything is chosen from the data.

    A kernel of this library is tried at several length scales on scaled columns, exactly or through features; any other
    similarity is taken as it is, with landmarks: all objects up to some number, and more slowly more.
    """
    if kernel is None:
        check_features(features)
        return features
    if features is not None:
        raise TypeError("kernel and features were both given; pass a kernel, or the map of features that has one")
    if isinstance(kernel, BaseEstimator):
        return kernel
    similarity = as_similarity(kernel)
    if isinstance(similarity, KernelSimilarity):
        return TunedFeatures(kernel_of(similarity), random_state=random_state)
    return KreinNystroem(kernel, default_width(n_rows or 1), random_state=random_state)


def count_rows(X: Any) -> int | None:
    """How many rows or objects there are; None for Dask collections."""
    if is_dask(X):
        return None
    return int(X.shape[0]) if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else None


def takes_all_at_once(features: Any, X: Any) -> bool:
    """Whether a map is fitted on all of X, whose features come with the fit."""
    return takes_objects(features) and (isinstance(X, Objects) or X.shape[0] <= looks.FEATURE_ROWS)


def map_source(features: Any, random_state: Any) -> MapSource:
    """Where a learner's features come from."""
    if features is None:
        tuning = Tuning()

        def fit_default(look: Look, choice: Choice | None, width: int | None) -> RowMap:
            choice = tuning.choose(look) if choice is None else choice
            wanted = tuning.width(look) if width is None else width
            return fit_chosen(choice, look.distinct, wanted, as_generator(random_state))

        return MapSource(fit_default, tuning)
    if isinstance(features, TunedFeatures):
        given = clone(features)
        asked = given.tuning()

        def fit_tuned(look: Look, choice: Choice | None, width: int | None) -> RowMap:
            choice = asked.choose(look) if choice is None else choice
            rng = as_generator(given.random_state)
            found: RowMap = given.fit_chosen(choice, look.distinct, asked.width(look), rng)
            return found

        return MapSource(fit_tuned, asked)

    def fit_given(look: Look, choice: Choice | None, width: int | None) -> RowMap:
        with config_context(assume_finite=True):
            fitted = clone(features).fit(look.distinct)
        check_signature(fitted)
        return row_map(fitted)

    return MapSource(fit_given)


def objects_as_features(
    features: Any, X: Any, y: np.ndarray | None, weight: np.ndarray | None
) -> tuple[np.ndarray, MapSource]:
    """Fit a map on all objects of positive weight, and go on with their features; nothing is evaluated again for them."""
    n = X.shape[0]
    present = np.arange(n) if weight is None else np.flatnonzero(weight > 0.0)
    if not present.size:
        raise ValueError("sample_weight is zero for all rows, so there is nothing to fit; pass a positive weight")
    fitted = clone(features)
    some = (X, y) if present.size == n else (X[present], None if y is None else y[present])
    Z = np.asarray(fitted.fit_transform(*some))
    if present.size < n:
        whole = np.zeros((n, Z.shape[1]), dtype=Z.dtype)
        whole[present] = Z
        Z = whole
    known = row_map(fitted)
    return Z, MapSource(lambda look, choice, width: KnownFeatures(known.signature), known=known)


def more_rows(features: Any, mapped: RowMap, X: Any) -> tuple[Any, RowMap]:
    """More training rows for a map that was fitted on others: objects as their features."""
    return (mapped(X), KnownFeatures(mapped.signature)) if takes_objects(features) else (X, mapped)


def copy_input_tags(tags: Any, learner: Any) -> None:
    """Take over what a learner's feature map takes: sparse or dense rows, similarities, objects."""
    try:
        features = given_map(learner.kernel, learner.features, learner.random_state)
    except (TypeError, ValueError):  # parameters are checked by fit
        features = None
    if features is None:
        tags.input_tags.sparse = True
    else:
        tags.input_tags = replace(get_tags(features).input_tags)
