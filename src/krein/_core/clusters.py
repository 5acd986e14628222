"""Centers of clusters, the same for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from krein._core.rows import dense_block, row_blocks
from krein._core.threads import n_threads, quiet_blas, share

__all__ = ["cluster_centers"]

_PASSES = 10  # of Lloyd's algorithm at most; Nyström's error hardly changes after the first few
_SETTLED = 0.01  # share of rows that may still change their center when the passes end
_TIED = 1e-9  # of the largest squared length: distances that differ by less are equal, and the first center is taken
_ROUNDS = 4  # so many of those drawn before for each row drawn at the same time
_BLOCK = 1024  # rows whose distances to all centers are held at a time


def cluster_centers(X: Any, count: int, rng: np.random.Generator, *, passes: int | None = None) -> np.ndarray:
    """Centers of clusters of rows: Lloyd's algorithm from centers drawn far from each other [1]_.

    All sums are taken in double precision, by one thread for each block of rows, and ties go to the first center: the result is
    the same to the last bit for any number of threads, and does not hang on the last bits of a distance.

    References
    ----------
    .. [1] D. Arthur and S. Vassilvitskii. "k-means++: the advantages of careful seeding". SODA, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(cluster_centers(X, 2, np.random.default_rng(0)).ravel().tolist())
    [0.5, 10.5]
    """
    X = X.astype(np.float64)
    middle = 0.0 if sp.issparse(X) else X.mean(axis=0)  # fewer digits cancel in squared distances
    X = X - middle if not sp.issparse(X) else X
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    tie = _TIED * float(squares.max(initial=0.0))
    with quiet_blas():
        centers = dense_block(X, _far_rows(X, squares, count, rng))
        labels = np.full(X.shape[0], -1)
        for _ in range(_PASSES if passes is None else passes):
            before, labels = labels, _nearest(X, centers, tie)
            if np.count_nonzero(before != labels) <= _SETTLED * labels.size:
                break
            centers = _means(X, labels, centers)
    return np.asarray(centers + middle)


def _far_rows(X: Any, squares: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn in proportion to the squared distance from those drawn before, several at a time once there are many."""
    n = X.shape[0]
    least = _TIED * n * max(float(squares.max(initial=0.0)), float(np.finfo(np.float64).tiny))
    drawn = np.empty(count, dtype=int)
    gap = np.ones(n)  # squared distance to the nearest row drawn
    done, chances = 0, rng.random(count)
    while done < count:
        total = np.cumsum(gap)
        if done and total[-1] <= least:  # no row is left that differs from those drawn: the first of the others
            drawn[done:] = np.setdiff1d(np.arange(n), drawn[:done])[: count - done]
            break
        some = chances[done : done + max(1, done // _ROUNDS)]
        new = np.unique(np.minimum(np.searchsorted(total, some * total[-1], side="right"), n - 1))
        to_new = squares[:, None] + squares[new] - 2.0 * np.asarray(X @ dense_block(X, new).T)
        nearest = np.maximum(to_new.min(axis=1), 0.0)
        gap = np.minimum(gap, nearest) if done else nearest
        gap[new] = 0.0
        drawn[done : done + new.size] = new
        done += new.size
    return drawn


def _nearest(X: Any, centers: np.ndarray, tie: float) -> np.ndarray:
    """The number of the center nearest to each row, the first of those within a tie."""
    labels = np.empty(X.shape[0], dtype=int)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)

    def assign(rows: slice) -> None:
        distances = half - np.asarray(X[rows] @ centers.T)  # half the squared distance, but for the row's own length
        labels[rows] = (distances <= distances.min(axis=1, keepdims=True) + tie).argmax(axis=1)

    share(assign, row_blocks(X.shape[0], _BLOCK), threads=n_threads())
    return labels


def _means(X: Any, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The mean of each cluster; a center without rows stays where it is."""
    n, count = X.shape[0], centers.shape[0]
    sizes = np.bincount(labels, minlength=count)
    if sp.issparse(X):
        members = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(count, n))
        sums = (members @ X).toarray()
    else:
        sums = np.zeros(centers.shape)
        filled = np.flatnonzero(sizes)
        ends = np.cumsum(sizes)
        sums[filled] = np.add.reduceat(X[np.argsort(labels, kind="stable")], (ends - sizes)[filled], axis=0)
    means = sums / np.maximum(sizes, 1)[:, None]
    return np.where(sizes[:, None] > 0, means, centers)
