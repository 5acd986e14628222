"""Ridge on a matrix of similarities, tested on held-out objects: one eigendecomposition per fold for all regularizations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krein.learning.dense import symmetric_eigen

__all__ = ["RIDGES", "dealt_folds", "held_out_predictions"]

RIDGES = np.logspace(-5.0, 1.0, 13)  # of the mean size of the eigenvalues


def dealt_folds(n: int, folds: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Objects assigned at random to folds of equal size."""
    fold = rng.permutation(n) % folds
    for held in range(folds):
        yield np.flatnonzero(fold != held), np.flatnonzero(fold == held)


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
