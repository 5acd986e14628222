"""A stand-in map that counts the rows it turns into features, and notes whether its fit was told that they are finite."""

from __future__ import annotations

import numpy as np
from sklearn import get_config

from standin_map import CosineMap, Cosines


class CountedCosines(Cosines):
    def __call__(self, X):
        CountingMap.rows += np.shape(X)[0]
        return super().__call__(X)


class CountingMap(CosineMap):
    """Counts are kept for the class, because learners fit a clone."""

    rows = 0
    told_finite: list[bool] = []

    @classmethod
    def reset(cls) -> None:
        cls.rows, cls.told_finite = 0, []

    def _fit_map(self, X, y, rng):
        CountingMap.told_finite.append(get_config()["assume_finite"])
        return CountedCosines(**vars(super()._fit_map(X, y, rng)))
