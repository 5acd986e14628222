"""Distances by name, from the packages that have them: scipy for vectors, aeon for series, rapidfuzz for strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["METRICS", "is_metric", "metric_source", "named_metric"]

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

    return np.asarray(cdist(_vectors(X), _vectors(Y), name, **options))


def _vectors(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _by_aeon(name: str, options: dict[str, Any], X: Any, Y: Any) -> np.ndarray:
    from aeon.distances import pairwise_distance

    left, right = _series(X), _series(Y)
    # aeon looks at the lengths of the second collection only: with one of many lengths before one of equal length it reads
    # beyond its window's matrix, and returns infinity or, worse, something near the truth
    turned = isinstance(left, list) and not isinstance(right, list) and name != "shift_scale_invariant"  # not symmetric
    found = pairwise_distance(*((right, left) if turned else (left, right)), method=name, **options)
    return np.asarray(found.T if turned else found, dtype=np.float64)


def _series(X: Any) -> Any:
    """As aeon takes a collection: one array if all series have one length, else a list."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.astype(np.float64, copy=False)
    series = [np.ascontiguousarray(one, dtype=np.float64) for one in X]
    return np.stack(series) if len({one.shape for one in series}) == 1 else series


def _by_rapidfuzz(name: str, options: dict[str, Any], X: Any, Y: Any) -> np.ndarray:
    from rapidfuzz import distance, process

    scorer = getattr(distance, _RAPIDFUZZ[name]).distance
    return np.asarray(process.cdist(list(X), list(Y), scorer=scorer, **options), dtype=np.float64)
