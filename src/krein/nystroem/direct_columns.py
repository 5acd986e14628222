"""Columns of a kernel of this library or of a matrix, among which landmarks are sought."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from krein._core.pivots import Columns
from krein.similarities.similarity import DirectSimilarity

__all__ = ["DirectColumns"]


@final
class DirectColumns(Columns):
    """Columns of a kernel of this library or of a matrix.

    Parameters
    ----------
    similarity : DirectSimilarity
    X : array or CSR matrix
        Placed rows.
    rows : ndarray of int
        Those among which landmarks are sought.
    """

    def __init__(self, similarity: DirectSimilarity, X: Any, rows: np.ndarray) -> None:
        self.n_rows = rows.size
        self.count = 0
        self._similarity, self._X, self._rows = similarity, X, rows
        self._here = X[rows]

    def diagonal(self) -> np.ndarray:
        self.count += self.n_rows
        return self._similarity.self_similarities(self._X, self._rows)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        self.count += chosen.size * (chosen.size - 1) // 2
        landmarks = self._similarity.landmarks(self._X, self._rows[chosen])
        return np.asarray(self._similarity.square(self._X, landmarks), dtype=np.float64)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        self.count += self.n_rows * chosen.size
        landmarks = self._similarity.landmarks(self._X, self._rows[chosen])
        return np.asarray(self._similarity.block(self._here, landmarks), dtype=np.float64)

    def spare(self, wanted: int) -> float:
        return math.inf
