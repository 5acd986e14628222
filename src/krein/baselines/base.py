"""The base of the baselines: a map given by two hooks, on rows placed in the domain of the kernel and mapped by blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from krein._core.rows import row_blocks
from krein._core.threads import share
from krein.estimators.maps.base import SignedTransformer
from krein.kernels import Kernel
from krein.measures.build import check_kernel

__all__ = ["EDITIONS", "BaselineMap", "map_rows"]

EDITIONS = ("modern", "published")  # as good as known today; as its authors published it

_BLOCK_BYTES = 1 << 22  # input, output and scratch of one block: they stay in a core's cache
_WORTH_THREADS = 1 << 20  # bytes of output from which on threads pay


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


def map_rows(X: Any, width: int, fill: Callable[[Any, np.ndarray], None], *, scratch: float = 1.0) -> np.ndarray:
    """The output of a map, filled block by block; blocks are shared among threads."""
    out = np.empty((X.shape[0], width), dtype=X.dtype)
    row_bytes = (X.shape[1] + (1.0 + scratch) * width) * out.itemsize
    blocks = row_blocks(X.shape[0], max(64, int(_BLOCK_BYTES / row_bytes)))
    share(lambda rows: fill(X[rows], out[rows]), blocks, threads=None if out.nbytes >= _WORTH_THREADS else 1)
    return out
