"""Rows that stand for the others: centers of clusters, and pivots, where the similarity is explained least by those before.

Centers are the same for any number of threads. Pivots are those of a randomly pivoted Cholesky factorization, with signs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from krein._core.rows import dense_block, row_blocks
from krein._core.threads import n_threads, quiet_blas, share

__all__ = ["Columns", "cluster_centers", "pivoted_rows"]

_PASSES = 10  # of Lloyd's algorithm at most; Nyström's error hardly changes after the first few
_SETTLED = 0.01  # share of rows that may still change their center when the passes end
_TIED = 1e-9  # of the largest squared length: distances that differ by less are equal, and the first center is taken
_ROUNDS = 4  # so many of those drawn before for each row drawn at the same time
_BLOCK = 1024  # rows whose distances to all centers are held at a time

_PIVOT_ROUNDS = 8  # in which about all landmarks are found; more are nearer to one after the other, and slower
_PROPOSED = 2.0  # rows proposed for each one wanted: about half are turned down
# Of the largest pivot of its round: directions of smaller pivots stay in the residual, where they do no harm
_LEAST_PIVOT = 1e-3
# Rows taken together where no residual tells them apart: a zero diagonal says nothing of one, but of several
_AT_ONCE = 8
_NOTHING = 1e-14  # of the largest similarity: a residual below is rounding


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


class Columns(ABC):
    """The symmetric matrix of similarities of n training objects, as a rule for landmarks sees it."""

    n_rows: int

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Similarities of all objects with themselves, or a guess where they would cost too much."""

    @abstractmethod
    def among(self, chosen: np.ndarray) -> np.ndarray:
        """Similarities among some objects."""

    @abstractmethod
    def take(self, chosen: np.ndarray) -> np.ndarray:
        """Similarities of all objects to some that are landmarks from now on."""

    def spare(self, wanted: int) -> float:
        """Pairs that may be evaluated beyond the columns of landmarks."""
        return math.inf


def pivoted_rows(columns: Columns, count: int, rng: np.random.Generator) -> np.ndarray:
    r"""Rows drawn in proportion to what those before leave unexplained of their similarity to themselves.

    .. math:: \Pr(i) \propto \bigl|K_{ii} - K_{iL} K_{LL}^{-1} K_{Li}\bigr|

    Randomly pivoted Cholesky [1]_ for a matrix that need not be positive: residuals are taken by their size. Rows are proposed in
    blocks and turned down where the others of their block explain them [2]_, so that few rounds are needed. Only columns of
    landmarks are evaluated, the diagonal, and the squares of proposals.

    References
    ----------
    .. [1] Y. Chen, E. Epperly, J. Tropp and R. Webber. "Randomly pivoted Cholesky". Communications on Pure and Applied
       Mathematics, 2025.
    .. [2] E. Epperly, J. Tropp and R. Webber. "Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
       Cholesky". arXiv:2410.03969, 2024.
    """
    n = columns.n_rows
    residual = np.array(columns.diagonal(), dtype=np.float64)
    size = float(np.abs(residual).max(initial=0.0))
    explained = np.empty((n, count))  # features of the rows by the landmarks so far
    signs = np.empty(count)
    found = np.empty(0, dtype=int)
    rank = 0
    while found.size < count:
        weight = np.abs(residual)
        weight[found] = 0.0
        if not weight.max() > _NOTHING * size:  # nothing is left to explain, or nothing is known: all rows alike
            weight = np.ones(n)
            weight[found] = 0.0
            accepted = _propose(weight, min(_AT_ONCE, count - found.size), rng)
        else:
            wanted = count - found.size
            proposals = _propose(weight, _block(columns, count, wanted), rng)
            accepted = _accept(columns, proposals, explained[:, :rank], signs[:rank], wanted, rng)
        block = columns.take(accepted)
        size = max(size, float(np.abs(block).max()))
        with quiet_blas():
            left = block - (explained[:, :rank] * signs[:rank]) @ explained[accepted, :rank].T
            values, vectors = linalg.eigh(0.5 * (left[accepted] + left[accepted].T), check_finite=False)
            kept = np.abs(values) > max(_LEAST_PIVOT * np.abs(values).max(), _NOTHING * size)
            new = left @ (vectors[:, kept] / np.sqrt(np.abs(values[kept])))
        width = new.shape[1]
        explained[:, rank : rank + width], signs[rank : rank + width] = new, np.sign(values[kept])
        residual -= np.square(new) @ signs[rank : rank + width]
        rank += width
        found = np.concatenate([found, accepted])
    return found


def _block(columns: Columns, count: int, wanted: int) -> int:
    """How many rows to propose: few rounds, and no more pairs among proposals than may be spent."""
    spare = columns.spare(wanted)
    most = count if math.isinf(spare) else math.isqrt(max(0, int(spare)))
    return max(1, min(most, math.ceil(_PROPOSED * min(wanted, count / _PIVOT_ROUNDS))))


def _propose(weight: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn in proportion to their weight, each once, in the order in which they came."""
    total = np.cumsum(weight)
    drawn = np.searchsorted(total, rng.random(size) * total[-1], side="right")
    drawn = np.minimum(drawn, np.flatnonzero(weight)[-1])
    _, first = np.unique(drawn, return_index=True)
    return np.asarray(drawn[np.sort(first)])


def _accept(
    columns: Columns,
    proposals: np.ndarray,
    explained: np.ndarray,
    signs: np.ndarray,
    wanted: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Proposals one after the other, each with the share of its residual that those accepted before it leave."""
    chances = rng.random(proposals.size)
    if proposals.size == 1:
        return proposals
    residual = columns.among(proposals) - (explained[proposals] * signs) @ explained[proposals].T
    at_first = np.abs(np.diagonal(residual)).copy()
    accepted: list[int] = []
    for i in range(proposals.size):
        pivot = residual[i, i]
        if abs(pivot) < chances[i] * at_first[i] or (accepted and abs(pivot) <= _LEAST_PIVOT * at_first.max()):
            continue
        accepted.append(i)
        if len(accepted) == wanted:
            break
        if pivot != 0.0:
            residual = residual - np.outer(residual[:, i], residual[i] / pivot)
    return proposals[accepted]
