"""Whether predictions get better or worse with the negative part of a matrix of similarities, by cross-validation."""

from __future__ import annotations

import numpy as np

from krein.learning.folds import N_FOLDS, REPEATS, dealt_folds, held_out_predictions
from krein.learning.strengths import RIDGES
from krein.matrices.matrix_diagnosis import PartScores

__all__ = ["PartScores", "score_negative_part"]


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
