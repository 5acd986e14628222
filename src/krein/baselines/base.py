"""The base of the baselines: a map given by two hooks, on rows placed in the domain of the kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import issparse

from krein.estimators.maps.base import SignedTransformer
from krein.features.feature_recipe import check_kernel
from krein.kernels import Kernel

__all__ = ["BaselineMap"]


class BaselineMap(SignedTransformer):
    """A baseline map. A subclass defines `default_kernel`, `_fit`, which must set ``signature_``, and `_map`."""

    kernel: Kernel | None
    kernel_: Kernel

    @abstractmethod
    def default_kernel(self) -> Kernel:
        """The kernel meant by ``kernel=None``.

        Returns
        -------
        Kernel
        """

    @abstractmethod
    def _fit(self, X: Any, kernel: Kernel, rng: np.random.Generator) -> None:
        """Learn from placed rows; set ``signature_``."""

    @abstractmethod
    def _map(self, X: Any) -> np.ndarray:
        """Features of placed rows, shape (n_samples, n_components), dtype of X."""

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self.kernel_ = self.default_kernel() if self.kernel is None else check_kernel(self.kernel)
        self._fit(self._placed(X), self.kernel_, rng)

    def _features(self, X: Any) -> np.ndarray:
        return self._map(self._placed(X))

    def _placed(self, X: Any) -> Any:
        return self.kernel_.place(X, "the sparse matrix X" if issparse(X) else "X")
