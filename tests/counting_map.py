"""A stand-in map that counts the rows it turns into features, and notes whether it was told that they are finite."""

from __future__ import annotations

import numpy as np
from sklearn import get_config

from standin_map import CosineMap


class CountingMap(CosineMap):
    """Counts are kept for the class, because learners fit a clone."""

    rows = 0
    told_finite: list[bool] = []

    @classmethod
    def reset(cls) -> None:
        cls.rows, cls.told_finite = 0, []

    def fit(self, X, y=None):
        CountingMap.told_finite.append(get_config()["assume_finite"])
        return super().fit(X)

    def transform(self, X):
        CountingMap.rows += np.shape(X)[0]
        CountingMap.told_finite.append(get_config()["assume_finite"])
        return super().transform(X)
