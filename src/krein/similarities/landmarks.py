r"""Landmarks for Nyström: which rows stand for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from krein._core.checks import one_of
from krein._core.clusters import cluster_centers
from krein._core.rows import as_rows
from krein._core.threads import quiet_blas
from krein.similarities.similarity import KernelSimilarity, Similarity
from krein.similarities.spectrum import signed_root, signed_spectrum

__all__ = ["LANDMARK_RULES", "krein_leverage_scores", "select_landmarks"]

LANDMARK_RULES = ("auto", "leverage", "uniform", "kmeans")  # in the order in which errors list them

_POOL = 2000  # rows with leverage scores: at least so many
_POOL_PER_LANDMARK = 8  # and at least so many for each landmark
_PIVOTS = 256  # rows that the scores are computed from: at least so many, and at least one per landmark
_RIDGE = 10.0  # in units of the eigenvalue after the last one wanted; less favors outliers, at more error on the rest
_EIGENVALUE_TOL = 1e-10  # of the largest: smaller eigenvalues of the pivots are noise, and so is the least ridge
_LEAST_SCORE = 1e-300  # so that a row of score 0 has a logarithm
_CLUSTER_ROWS = 20  # rows to cluster for each center
_LEAST_CLUSTER_ROWS = 2000  # and at least so many


def select_landmarks(similarity: Similarity, X: Any, count: int, rule: Any, rng: np.random.Generator) -> Any:
    """Landmarks by name, or those given by the user.

    Parameters
    ----------
    similarity : Similarity
    X : array or CSR matrix
        Placed training rows.
    count : int
        Landmarks wanted; at most as many as there are rows.
    rule : {"auto", "leverage", "uniform", "kmeans"} or array
        An array holds rows (or, for a precomputed similarity, indices of training objects). ``"auto"`` is ``"kmeans"`` for a
        kernel of this library on dense rows, else ``"leverage"``.
    rng : numpy.random.Generator

    Returns
    -------
    landmarks
        As ``similarity.block`` takes them.
    """
    if not isinstance(rule, str):
        return _given(similarity, X, rule)
    one_of(rule, "landmarks", LANDMARK_RULES, otherwise=", or an array of rows")
    if rule == "auto":
        rule = "kmeans" if isinstance(similarity, KernelSimilarity) and not sp.issparse(X) else "leverage"
    if rule == "kmeans" and not similarity.has_vectors:
        raise ValueError("landmarks='kmeans' averages rows, which a precomputed kernel does not have; use 'leverage'")
    n = X.shape[0]
    count = min(count, n)
    if count == n:
        return similarity.landmarks(X, np.arange(n))
    if rule == "kmeans":
        return _centers(similarity, X, count, rng)
    if rule == "uniform":
        return similarity.landmarks(X, np.sort(rng.choice(n, size=count, replace=False)))
    pool = np.sort(rng.choice(n, size=min(n, max(_POOL, _POOL_PER_LANDMARK * count)), replace=False))
    scores = krein_leverage_scores(similarity, X, pool, count, rng)
    # The largest of log score + Gumbel noise are a sample without replacement, in proportion to the scores.
    races = np.log(np.maximum(scores, _LEAST_SCORE)) + rng.gumbel(size=pool.size)
    return similarity.landmarks(X, np.sort(pool[np.argsort(-races, kind="stable")[:count]]))


def krein_leverage_scores(
    similarity: Similarity, X: Any, pool: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    r"""Approximate Kreĭn ridge leverage scores of some rows.

    .. math:: \ell_i = \bigl[\,|K|\,(|K| + \lambda I)^{-1}\bigr]_{ii}

    :math:`|K|` has the absolute eigenvalues of K [1]_. It is replaced by its Nyström approximation from uniformly drawn
    pivots, and :math:`\lambda` is ten times the eigenvalue after the ``count``-th.

    Parameters
    ----------
    similarity : Similarity
    X : array or CSR matrix
        Placed training rows.
    pool : ndarray of int
        The rows wanted.
    count : int
        Landmarks that will be drawn by the scores.
    rng : numpy.random.Generator
        Draws the pivots.

    Returns
    -------
    ndarray of shape (len(pool),)
        Between 0 and 1.

    References
    ----------
    .. [1] D. Oglic and T. Gärtner. "Scalable learning in reproducing kernel Kreĭn spaces". ICML, 2019.
    """
    pivots = np.sort(rng.choice(pool, size=min(pool.size, max(_PIVOTS, count)), replace=False))
    landmarks = similarity.landmarks(X, pivots)
    square, block = similarity.square(X, landmarks), similarity.block(X[pool], landmarks)
    with quiet_blas():
        root, _, _ = signed_root(signed_spectrum(square), _EIGENVALUE_TOL)
        if not root.shape[1]:
            return np.zeros(pool.size)
        features = np.asarray(block, dtype=np.float64) @ root
        gram = features.T @ features
        spectrum = np.maximum(linalg.eigvalsh(gram, check_finite=False)[::-1], 0.0)
        ridge = _RIDGE * spectrum[min(count, spectrum.size - 1)] + _EIGENVALUE_TOL * spectrum[0]
        gram[np.diag_indices_from(gram)] += ridge
        factor = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        inside = linalg.solve_triangular(factor, features.T, lower=True, overwrite_b=True, check_finite=False)
    return np.asarray(np.einsum("ij,ij->j", inside, inside))


def _centers(similarity: Similarity, X: Any, count: int, rng: np.random.Generator) -> Any:
    n = X.shape[0]
    size = min(n, max(_LEAST_CLUSTER_ROWS, _CLUSTER_ROWS * count))
    picked = np.sort(rng.choice(n, size=size, replace=False))
    centers = cluster_centers(X[picked], count, rng).astype(X.dtype)
    # A center at the origin has no direction; on a sphere it is a sign of symmetric data, and a row serves as well.
    zero = np.flatnonzero(~np.any(centers, axis=1))
    if zero.size:
        rows = X[picked[: zero.size]]
        centers[zero] = rows.toarray() if sp.issparse(rows) else rows
    return similarity.place(centers, "the centers")


def _given(similarity: Similarity, X: Any, rule: Any) -> Any:
    if similarity.has_vectors:
        shape = rule.shape if sp.issparse(rule) else np.shape(rule)
        if len(shape) != 2 or shape[1] != X.shape[1] or not shape[0]:
            raise ValueError(
                f"landmarks must be rows like those of X, shape (n_landmarks, {X.shape[1]}), got shape {shape}"
            )
        return similarity.place(as_rows(rule, "landmarks").astype(X.dtype), "landmarks")
    given = np.asarray(rule)
    if given.ndim != 1 or not given.size or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            "landmarks of a precomputed kernel must be indices of training objects, a one-dimensional array of integers, got "
            f"shape {given.shape} and dtype {given.dtype}"
        )
    if given.min() < 0 or given.max() >= X.shape[0]:
        raise ValueError(f"landmarks must be indices from 0 to {X.shape[0] - 1}, got {given.min()} to {given.max()}")
    return given
