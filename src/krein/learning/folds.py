"""Errors on held-out rows of a matrix of similarities: folds, a decomposition for each, all regularizations from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from krein.learning.path import Regularizer, dual_problem
from krein.learning.solve import symmetric_eigen
from krein.learning.strengths import RIDGES
from krein.matrices.matrix_diagnosis import PartScores

__all__ = [
    *("PartScores", "Split", "dealt_folds", "fold_scores", "fold_values", "held_out_predictions", "ranked_folds"),
    "score_negative_part",
]

Split = tuple[np.ndarray, np.ndarray]  # rows inside and outside

N_FOLDS = 5
REPEATS = 4  # folds are dealt so often where rows are few
FEW_ROWS = 300


def dealt_folds(n: int, rng: np.random.Generator, repeats: int | None = None) -> Iterator[Split]:
    """Objects assigned at random to five folds of equal size, several times where they are few."""
    for _ in range((REPEATS if n <= FEW_ROWS else 1) if repeats is None else repeats):
        yield from _splits(rng.permutation(n) % min(N_FOLDS, n))


def ranked_folds(gram: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Iterator[Split]:
    """Rows assigned to folds by the rank of their targets, and of equal targets by how similar a row is to all.

    So folds are the same for columns or rows in another order or another unit, and for the matrix itself; each has targets of all
    sizes. Few rows are dealt several times, as one deal hangs much on chance.
    """
    n = y.shape[0]
    folds = min(N_FOLDS, n)
    density = np.round(gram @ weight / (np.abs(gram).max(initial=0.0) * weight.sum() or 1.0), 9)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((density, *y.T[::-1]))] = np.arange(n)
    for repeat in range(REPEATS if n <= FEW_ROWS else 1):
        yield from _splits((rank + (rank // folds) * repeat) % folds)


def _splits(fold: np.ndarray) -> Iterator[Split]:
    for held in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != held), np.flatnonzero(fold == held)


def fold_scores(
    gram: np.ndarray,
    y: np.ndarray,
    lam: np.ndarray,
    regularizer: Regularizer,
    ratio: float = 1.0,
    *,
    center: bool = True,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Mean squared error of each λ on held-out folds; the kernel is decomposed again without each fold.

    Leave-one-out in closed form would be optimistic here: :math:`|K|` of all rows depends on the row that is left out, and where
    the kernel has much negative mass the similarity of a row with itself in :math:`|K|` is nothing a new row has.
    """
    weight = np.ones(gram.shape[0]) if weight is None else weight
    total, held = np.zeros(lam.size), 0.0
    for inside, outside in ranked_folds(gram, y, weight):
        if not inside.size:
            return np.full(lam.size, np.inf)
        K, cross, w = gram[np.ix_(inside, inside)], gram[np.ix_(outside, inside)], weight[inside]
        problem = dual_problem(K, regularizer, ratio, center=center, weight=w)
        held += float(weight[outside].sum())
        for i, value in enumerate(lam):
            dual = problem.coefficients(y[inside], float(w.sum()) * value)
            offset = w @ (y[inside] - K @ dual) / w.sum() if center else 0.0
            total[i] += float(weight[outside] @ np.square(y[outside] - cross @ dual - offset).sum(axis=1))
    total /= held
    return total


def fold_values(
    gram: np.ndarray,
    y: np.ndarray,
    lam: tuple[float, float],
    regularizer: Regularizer,
    *,
    center: bool,
    weight: np.ndarray,
) -> np.ndarray:
    """Predictions of each row without the fold that it is in."""
    values = np.empty(y.shape)
    for inside, outside in islice(ranked_folds(gram, y, weight), min(N_FOLDS, y.shape[0])):
        K, w = gram[np.ix_(inside, inside)], weight[inside]
        problem = dual_problem(K, regularizer, lam[1] / lam[0], center=center, weight=w)
        dual = problem.coefficients(y[inside], float(w.sum()) * lam[0])
        offset = w @ (y[inside] - K @ dual) / w.sum() if center else 0.0
        values[outside] = gram[np.ix_(outside, inside)] @ dual + offset
    return values


def held_out_predictions(
    matrix: np.ndarray, targets: np.ndarray, inside: np.ndarray, outside: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Predictions of ridge with the norm of :math:`|K|`, with and without the negative part of the matrix.

    :math:`|K|` is that of the objects inside alone. Leave-one-out in closed form takes it from all objects, which have seen the
    one left out; where the negative part is large that deceives.
    """
    K, across = matrix[np.ix_(inside, inside)], matrix[np.ix_(outside, inside)]
    means = K.mean(axis=0)
    K = K - means - means[:, None] + means.mean()
    across = across - means - across.mean(axis=1, keepdims=True) + means.mean()
    middle = targets[inside].mean(axis=0)
    values, vectors = symmetric_eigen(0.5 * (K + K.T))
    rotated = vectors.T @ (targets[inside] - middle)
    carried = across @ vectors
    ridges = RIDGES * (float(np.abs(values).mean()) or 1.0)
    shrink = np.sign(values) / (np.abs(values) + ridges[:, None])
    kept = np.einsum("ij,rj,jt->rit", carried, shrink, rotated, optimize=True) + middle
    dropped = np.einsum("ij,rj,jt->rit", carried, np.maximum(shrink, 0.0), rotated, optimize=True) + middle
    return kept, dropped


def score_negative_part(
    matrix: np.ndarray, targets: np.ndarray, rng: np.random.Generator, *, labels: bool
) -> PartScores:
    r"""Repeated five-fold cross-validation of ridge with and without the negative part.

    From one eigendecomposition :math:`U \Lambda U^\top` a fold of the other objects' centered matrix, for all
    regularizations at once; both variants have the same grid and take their best of it, so that neither has an advantage.
    """
    n = matrix.shape[0]
    folds = min(N_FOLDS, n)
    scores = np.zeros((2, RIDGES.size, REPEATS * folds))
    truth = targets.argmax(axis=1)
    spread = float(np.square(targets - targets.mean(axis=0)).sum()) / n or 1.0
    for number, (inside, outside) in enumerate(dealt_folds(n, rng, REPEATS)):
        for part, predicted in enumerate(held_out_predictions(matrix, targets, inside, outside)):
            if labels:
                scores[part, :, number] = (predicted.argmax(axis=2) == truth[outside]).mean(axis=1)
            else:
                error = np.square(predicted - targets[outside]).sum(axis=2).mean(axis=1)
                scores[part, :, number] = 1.0 - error / spread
    best = scores.mean(axis=2).argmax(axis=1)
    kept, dropped = scores[0, best[0]], scores[1, best[1]]
    gains = kept - dropped
    overlap = 1.0 / gains.size + 1.0 / max(folds - 1, 1)  # held-out objects over training objects
    error = float(np.sqrt(gains.var(ddof=1) * overlap)) if gains.size > 1 else np.inf
    return PartScores(float(kept.mean()), float(dropped.mean()), error, "accuracy" if labels else "R2", n)
