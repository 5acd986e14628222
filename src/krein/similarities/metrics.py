"""Distances by name, from the packages that have them: scipy for vectors, aeon for series, rapidfuzz for strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from krein.similarities.objects import Objects

__all__ = ["METRICS", "is_metric", "metric_source", "named_metric", "prepared"]

_SCIPY = (
    *("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra"),
    *("braycurtis", "hamming", "jaccard", "jensenshannon"),
)
_AEON = (
    *("dtw", "ddtw", "wdtw", "wddtw", "adtw", "shape_dtw", "dtw_gi", "soft_dtw", "msm", "twe", "erp", "edr", "lcss"),
    *("sbd", "shift_scale_invariant"),
)
_RAPIDFUZZ = {
    "levenshtein": "Levenshtein",
    "damerau_levenshtein": "DamerauLevenshtein",
    "indel": "Indel",
    "osa": "OSA",
    "lcs": "LCSseq",
    "jaro": "Jaro",
    "jaro_winkler": "JaroWinkler",
    "string_hamming": "Hamming",
    "prefix": "Prefix",
    "postfix": "Postfix",
}
METRICS: Mapping[str, tuple[str, ...]] = {"scipy": _SCIPY, "aeon": _AEON, "rapidfuzz": tuple(_RAPIDFUZZ)}


def metric_source(name: str) -> str:
    """The package that has a distance.

    Examples
    --------
    >>> metric_source("levenshtein")
    'rapidfuzz'
    """
    for package, names in METRICS.items():
        if name in names:
            return package
    known = "; ".join(f"{package}: {', '.join(names)}" for package, names in METRICS.items())
    raise ValueError(f"metric must be 'precomputed', a function or a known name, got {name!r}; known are {known}")


def is_metric(name: str) -> bool:
    """Whether a distance has this name."""
    return any(name in names for names in METRICS.values())


def prepared(name: str, objects: Objects, what: str = "X") -> Objects:
    """Objects as a distance of this name takes them: rows of numbers, series or strings; an error that says what they are."""
    package, data = metric_source(name), objects.data
    one = next(iter(objects[:1].one_by_one()), None)
    if package == "rapidfuzz":
        if getattr(data, "ndim", 1) == 2 and data.shape[1] == 1 and not sp.issparse(data):  # a column of a table
            objects = Objects(np.asarray(data, dtype=object)[:, 0].tolist())
            one = objects.data[0] if len(objects) else None
        if hasattr(objects.data, "shape") and len(objects.data.shape) > 1:
            raise ValueError(
                f"the distance {name!r} is of strings, got {what} of {_kind(objects, one)}; pass a list of strings"
            )
        others = ((i, one) for i, one in enumerate(objects.one_by_one()) if not isinstance(one, Sequence))
        place, one = next(others, (None, None))
        if place is not None:
            raise ValueError(
                f"the distance {name!r} is of strings, got {what} with one of type {type(one).__name__} at place {place}; pass "
                "a list of strings, without those that are missing"
            )
        return objects
    if package == "scipy" and name == "jaccard" and isinstance(one, set | frozenset):
        return objects
    try:
        if package == "scipy":
            rows = objects.data if sp.issparse(data) else np.asarray(data)
            rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
            if rows.ndim == 2:
                return Objects(rows)
        else:
            series = [np.asarray(one, dtype=np.float64) for one in objects.one_by_one()]
            if all(one.ndim in (1, 2) and one.size for one in series):
                return objects
    except (TypeError, ValueError):
        pass
    wanted = (
        "rows of numbers"
        if package == "scipy"
        else "series of numbers, arrays of shape (length,) or (channels, length)"
    )
    raise ValueError(
        f"the distance {name!r} is of {wanted}, got {what} of {_kind(objects, one)}; 'levenshtein' is for strings, 'jaccard' for "
        "sets, 'dtw' for series of any lengths, and a function of two objects for all others"
    )


def _kind(objects: Objects, one: Any) -> str:
    return f"shape {objects.data.shape}" if hasattr(objects.data, "shape") else f"objects of type {type(one).__name__}"


def named_metric(name: str, options: Mapping[str, Any] | None = None) -> Callable[[Any, Any], np.ndarray]:
    """A distance as a function of two sequences of objects.

    Examples
    --------
    >>> named_metric("cityblock")([[0.0, 0.0]], [[1.0, 2.0]])
    array([[3.]])
    """
    package, given = metric_source(name), dict(options or {})
    if find_spec(package) is None:
        raise ImportError(f"the distance {name!r} needs {package}; install it with: pip install {package}")
    function = {"scipy": _by_scipy, "aeon": _by_aeon, "rapidfuzz": _by_rapidfuzz}[package]
    return partial(function, name, given)  # which worker processes can be sent


def _by_scipy(name: str, options: dict[str, Any], X: Any, Y: Any) -> np.ndarray:
    from scipy.spatial.distance import cdist

    if isinstance(X, list) and X and isinstance(X[0], set | frozenset):  # rows of their indicators
        places = {element: place for place, element in enumerate(set().union(*X, *Y))}
        X, Y = (np.array([[element in one for element in places] for one in side]) for side in (X, Y))
        return np.asarray(cdist(X, Y, name, **options))
    X, Y = (np.asarray(side.toarray() if sp.issparse(side) else side, dtype=np.float64) for side in (X, Y))
    return np.asarray(cdist(X, Y, name, **options))


def _by_aeon(name: str, options: dict[str, Any], X: Any, Y: Any) -> np.ndarray:
    from aeon.distances import pairwise_distance

    left, right = _series(X), _series(Y)
    # aeon looks at the lengths of the second collection only: with one of many lengths before one of equal length it reads
    # beyond its window's matrix, and returns infinity or, worse, something near the truth
    turned = isinstance(left, list) and not isinstance(right, list) and name != "shift_scale_invariant"  # not symmetric
    found = pairwise_distance(*((right, left) if turned else (left, right)), method=name, **options)
    return np.asarray(found.T if turned else found, dtype=np.float64)


def _series(X: Any) -> Any:
    """As aeon takes a collection: an array of three dimensions if all series have one length, else a list.

    Of an array of two dimensions aeon finds out from the other collection whether it is one series of several channels.
    """
    series = [np.atleast_2d(np.ascontiguousarray(one, dtype=np.float64)) for one in X]
    return np.stack(series) if len({one.shape for one in series}) == 1 else series


def _by_rapidfuzz(name: str, options: dict[str, Any], X: Any, Y: Any) -> np.ndarray:
    from rapidfuzz import distance, process

    scorer = getattr(distance, _RAPIDFUZZ[name]).distance
    return np.asarray(process.cdist(list(X), list(Y), scorer=scorer, **options), dtype=np.float64)
