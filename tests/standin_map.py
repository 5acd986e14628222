"""A feature map with a signature that is small, quick and owes nothing to the maps under test elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krein.estimators.maps.base import SignedFeatureMap


@dataclass(frozen=True, eq=False)
class Cosines:
    """Cosines and sines of fixed frequencies, each with an amplitude and a sign."""

    frequencies: np.ndarray
    amplitudes: np.ndarray
    signature: np.ndarray

    @property
    def n_features(self):
        return self.frequencies.shape[0]

    def __call__(self, X):
        angle = np.asarray(X @ self.frequencies)
        Z = np.hstack([np.cos(angle), np.sin(angle)]) * np.tile(self.amplitudes, 2)
        return Z.astype(X.dtype)


class CosineMap(SignedFeatureMap):
    """Random cosines and sines with signs that alternate; depends on the seed and the number of columns of X only."""

    def __init__(self, kernel=None, n_components=40, length=1.0, random_state=0):
        self.kernel = kernel
        self.n_components = n_components
        self.length = length
        self.random_state = random_state

    def _fit_map(self, X, y, rng):
        pairs = self.n_components // 2
        frequencies = 0.3 * rng.normal(size=(X.shape[1], pairs))
        amplitudes = self.length * rng.uniform(0.2, 1.0, size=pairs)
        sign = np.where(np.arange(pairs) % 3 == 2, -1.0, 1.0)
        return Cosines(frequencies, amplitudes, np.concatenate([sign, sign]))
