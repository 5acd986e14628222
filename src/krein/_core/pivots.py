"""Landmarks one after the other, where the similarity is explained least by those before: randomly pivoted Cholesky, with signs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg

from krein._core.threads import quiet_blas

__all__ = ["Columns", "pivoted_rows"]

_ROUNDS = 8  # in which about all landmarks are found; more are nearer to one after the other, and slower
_PROPOSED = 2.0  # rows proposed for each one wanted: about half are turned down
# Of the largest pivot of its round: directions of smaller pivots stay in the residual, where they do no harm
_LEAST_PIVOT = 1e-3
# Rows taken together where no residual tells them apart: a zero diagonal says nothing of one, but of several
_AT_ONCE = 8
_NOTHING = 1e-14  # of the largest similarity: a residual below is rounding


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

    @abstractmethod
    def spare(self, wanted: int) -> float:
        """Pairs that may be evaluated beyond the columns of landmarks."""


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
    return max(1, min(most, math.ceil(_PROPOSED * min(wanted, count / _ROUNDS))))


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
