"""A feature map with a signature that is small, quick and owes nothing to the maps under test elsewhere."""

from __future__ import annotations

import numpy as np

from krein.estimators.maps.base import SignedFeatureMap
from krein.kernels import Gaussian, Kernel


class CosineMap(SignedFeatureMap):
    """Random cosines and sines with signs that alternate; depends on the seed and the number of columns of X only."""

    def __init__(self, kernel=None, n_components=40, random_state=0):
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def default_kernel(self) -> Kernel:
        return Gaussian(1.0)

    def _fit(self, X, kernel, rng):
        pairs = self.n_components // 2
        self.frequencies_ = 0.3 * rng.normal(size=(X.shape[1], pairs))
        self.amplitudes_ = rng.uniform(0.2, 1.0, size=pairs)
        sign = np.where(np.arange(pairs) % 3 == 2, -1.0, 1.0)
        self.signature_ = np.concatenate([sign, sign])

    def _map(self, X):
        angle = np.asarray(X @ self.frequencies_)
        Z = np.hstack([np.cos(angle), np.sin(angle)]) * np.tile(self.amplitudes_, 2)
        return Z.astype(X.dtype)
