"""Whether predictions get better or worse with the negative part of a matrix of similarities, by cross-validation."""

from __future__ import annotations

import numpy as np

from krein.learning.matrix_folds import RIDGES, dealt_folds, held_out_predictions
from krein.matrices.matrix_diagnosis import PartScores

__all__ = ["PartScores", "score_negative_part"]

_FOLDS = 5
_REPEATS = 4


def score_negative_part(
    matrix: np.ndarray, targets: np.ndarray, rng: np.random.Generator, *, labels: bool
) -> PartScores:
    r"""Repeated five-fold cross-validation of ridge with and without the negative part.

    From one eigendecomposition :math:`U \Lambda U^\top` a fold of the other objects' centered matrix, for all
    regularizations at once; both variants have the same grid and take their best of it, so that neither has an advantage.
    """
    n = matrix.shape[0]
    folds = min(_FOLDS, n)
    scores = np.zeros((2, RIDGES.size, _REPEATS * folds))
    truth = targets.argmax(axis=1)
    spread = float(np.square(targets - targets.mean(axis=0)).sum()) / n or 1.0
    for repeat in range(_REPEATS):
        for held, (inside, outside) in enumerate(dealt_folds(n, folds, rng)):
            for part, predicted in enumerate(held_out_predictions(matrix, targets, inside, outside)):
                if labels:
                    score = (predicted.argmax(axis=2) == truth[outside]).mean(axis=1)
                else:
                    score = 1.0 - np.square(predicted - targets[outside]).sum(axis=2).mean(axis=1) / spread
                scores[part, :, repeat * folds + held] = score
    best = scores.mean(axis=2).argmax(axis=1)
    kept, dropped = scores[0, best[0]], scores[1, best[1]]
    gains = kept - dropped
    overlap = 1.0 / gains.size + 1.0 / max(folds - 1, 1)  # held-out objects over training objects
    error = float(np.sqrt(gains.var(ddof=1) * overlap)) if gains.size > 1 else np.inf
    return PartScores(float(kept.mean()), float(dropped.mean()), error, "accuracy" if labels else "R2", n)
