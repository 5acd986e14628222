r"""Landmarks for Nyström: which rows stand for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from krein.similarities.similarity import Similarity

__all__ = ["LANDMARK_RULES", "krein_leverage_scores", "select_landmarks"]

LANDMARK_RULES = ("leverage", "uniform", "kmeans")

_POOL = 2000  # rows with leverage scores: at least so many, and at least 8 per landmark
_PIVOTS = 256  # rows that the scores are computed from: at least so many, and at least one per landmark
_RIDGE = 10.0  # in units of the eigenvalue after the last one wanted; less favours outliers, at more error on the rest
_KMEANS_ROWS = 20  # per centre


def select_landmarks(similarity: Similarity, X: Any, count: int, rule: Any, rng: np.random.Generator) -> Any:
    """Landmarks by name, or those given by the user.

    Parameters
    ----------
    similarity : Similarity
    X : placed training rows
    count : int
        Landmarks wanted; at most as many as there are rows.
    rule : {"leverage", "uniform", "kmeans"} or array
        An array holds rows (or, for a precomputed similarity, indices of training objects).
    rng : numpy.random.Generator

    Returns
    -------
    landmarks : as ``similarity.block`` takes them
    """
    if not isinstance(rule, str):
        return _given(similarity, X, rule)
    if rule not in LANDMARK_RULES:
        known = ", ".join(map(repr, LANDMARK_RULES))
        raise ValueError(f"landmarks must be one of {known}, or an array of rows, got {rule!r}")
    n = X.shape[0]
    count = min(count, n)
    if rule == "kmeans":
        if not similarity.has_vectors:
            raise ValueError(
                "landmarks='kmeans' averages rows, which a precomputed kernel does not have; use 'leverage'"
            )
        return _centres(similarity, X, count, rng)
    if rule == "uniform" or count == n:
        return similarity.landmarks(X, np.sort(rng.choice(n, size=count, replace=False)))
    pool = np.sort(rng.choice(n, size=min(n, max(_POOL, 8 * count)), replace=False))
    scores = krein_leverage_scores(similarity, X, pool, count, rng)
    # The largest of log score + Gumbel noise are a sample without replacement, in proportion to the scores.
    races = np.log(np.maximum(scores, 1e-300)) + rng.gumbel(size=pool.size)
    return similarity.landmarks(X, np.sort(pool[np.argsort(-races)[:count]]))


def krein_leverage_scores(
    similarity: Similarity, X: Any, pool: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    r"""Approximate Kreĭn ridge leverage scores of some rows.

    .. math:: \ell_i = \bigl[\,|K|\,(|K| + \lambda I)^{-1}\bigr]_{ii}

    :math:`|K|` has the absolute eigenvalues of K [1]_. It is replaced by its Nyström approximation from uniformly drawn
    pivots, and :math:`\lambda` is ten times the eigenvalue after the ``count``-th.

    References
    ----------
    .. [1] D. Oglic and T. Gärtner. "Scalable learning in reproducing kernel Kreĭn spaces". ICML, 2019.
    """
    pivots = rng.choice(pool, size=min(pool.size, max(_PIVOTS, count)), replace=False)
    landmarks = similarity.landmarks(X, pivots)
    values, vectors = linalg.eigh(similarity.square(landmarks, X[pivots]))
    kept = np.abs(values) > 1e-10 * np.abs(values).max(initial=1e-300)
    features = np.asarray(similarity.block(X[pool], landmarks), dtype=np.float64)
    features = features @ (vectors[:, kept] / np.sqrt(np.abs(values[kept])))
    spectrum, basis = linalg.eigh(features.T @ features)
    spectrum = np.maximum(spectrum, 0.0)
    ridge = _RIDGE * spectrum[::-1][min(count, spectrum.size - 1)] if spectrum.size else 0.0
    ridge += 1e-10 * spectrum.max(initial=1e-300)
    return ((features @ basis) ** 2 / (spectrum + ridge)).sum(axis=1)


def _centres(similarity: Similarity, X: Any, count: int, rng: np.random.Generator) -> Any:
    from sklearn.cluster import KMeans  # late: it takes longer to import than everything else here

    n = X.shape[0]
    picked = np.sort(rng.choice(n, size=min(n, max(2000, _KMEANS_ROWS * count)), replace=False))
    seed = int(rng.integers(2**31))
    centres = KMeans(n_clusters=count, n_init=1, max_iter=30, random_state=seed).fit(X[picked]).cluster_centers_
    # A centre at the origin has no direction; on a sphere it is a sign of symmetric data, and a row serves as well.
    zero = ~np.any(centres, axis=1)
    if zero.any():
        rows = X[picked[: int(zero.sum())]]
        centres[zero] = rows.toarray() if sp.issparse(rows) else rows
    return similarity.place(centres.astype(X.dtype))


def _given(similarity: Similarity, X: Any, rule: Any) -> Any:
    given = np.asarray(rule)
    if similarity.has_vectors:
        if given.ndim != 2 or given.shape[1] != X.shape[1] or not given.shape[0]:
            raise ValueError(
                f"landmarks must be rows like those of X, shape (n_landmarks, {X.shape[1]}), got shape {given.shape}"
            )
        return similarity.place(given.astype(X.dtype))
    if given.ndim != 1 or not given.size or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            "landmarks of a precomputed kernel must be indices of training objects, a one-dimensional array of integers, got "
            f"shape {given.shape} and dtype {given.dtype}"
        )
    if given.min() < 0 or given.max() >= X.shape[0]:
        raise ValueError(f"landmarks must be indices from 0 to {X.shape[0] - 1}, got {given.min()} to {given.max()}")
    return given
