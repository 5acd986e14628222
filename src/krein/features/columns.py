"""Columns of one kind: what a feature map is put together from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import frozen_array
from krein._core.rows import row_blocks, unit_rows
from krein.features.head import HeadBasis
from krein.features.sections import Sections
from krein.features.waves import hadamard_trig_map, trig_map
from krein.kernels import Kernel
from krein.sampling import Frequencies

__all__ = ["Columns", "HeadColumns", "SectionColumns", "WaveColumns"]

_DENSE_ENTRIES = 1 << 19  # of a block of sparse rows made dense for the head, 4 MiB


class Columns(ABC):
    """A group of columns with a signed weight each: column c is :math:`|a_c|^{1/2} b_c(x)`, its sign that of :math:`a_c`."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many."""

    @property
    @abstractmethod
    def column_weights(self) -> np.ndarray:
        """Signed weight of each column."""

    @abstractmethod
    def names(self) -> list[str]:
        """What each column is, without its sign."""

    @abstractmethod
    def write(self, X: Any, out: np.ndarray) -> None:
        """Write the columns of placed rows."""


@final
@dataclass(frozen=True, eq=False)
class HeadColumns(Columns):
    """The columns of a polynomial head."""

    basis: HeadBasis
    weights: np.ndarray

    @property
    def n_columns(self) -> int:
        return self.basis.n_columns

    @property
    def column_weights(self) -> np.ndarray:
        return self.weights

    def names(self) -> list[str]:
        return self.basis.names()

    def write(self, X: Any, out: np.ndarray) -> None:
        amplitudes = np.sqrt(np.abs(self.weights)).astype(out.dtype)
        if not sp.issparse(X):
            self.basis.write(X, amplitudes, out)
            return
        for rows in row_blocks(X.shape[0], max(1, _DENSE_ENTRIES // max(self.basis.dim, 1))):
            self.basis.write(X[rows].toarray(), amplitudes, out[rows])


@final
@dataclass(frozen=True, eq=False)
class WaveColumns(Columns):
    """A cosine and a sine for each frequency, all cosines first; both have the frequency's weight."""

    frequencies: Frequencies
    weights: np.ndarray

    @property
    def n_columns(self) -> int:
        return 2 * len(self.frequencies)

    @property
    def column_weights(self) -> np.ndarray:
        return np.tile(self.weights, 2)

    def names(self) -> list[str]:
        return [f"{kind}{j}" for kind in ("cos", "sin") for j in range(len(self.frequencies))]

    def write(self, X: Any, out: np.ndarray) -> None:
        amplitudes = np.sqrt(np.abs(self.weights)).astype(out.dtype)
        structure = self.frequencies.structure
        if structure is not None:
            hadamard_trig_map(X, structure.signs, structure.radii.astype(out.dtype), amplitudes, out)
        elif len(self.frequencies):
            trig_map(X, self.frequencies.vectors.astype(out.dtype, copy=False), amplitudes, out)


@final
@dataclass(frozen=True, eq=False)
class SectionColumns(Columns):
    r"""Sections of the kernel: :math:`k(x, l)` for each landmark l.

    Parameters
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (n_landmarks, dim)
        Placed rows, at least one.
    """

    kernel: Kernel
    landmarks: np.ndarray

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"sections need a kernel of krein.kernels, got {type(self.kernel).__name__}")
        landmarks = frozen_array(self.landmarks, "landmarks", (None, None))
        if not landmarks.size:
            raise ValueError(f"landmarks must be rows, at least one, got an array of shape {landmarks.shape}")
        if self.kernel.domain == "sphere":
            unit_rows(landmarks, normalize=False, name="landmarks")
        object.__setattr__(self, "landmarks", landmarks)

    @property
    def dim(self) -> int:
        """Entries of a row."""
        return int(self.landmarks.shape[1])

    @property
    def n_columns(self) -> int:
        return int(self.landmarks.shape[0])

    @property
    def column_weights(self) -> np.ndarray:
        return np.ones(self.n_columns)

    def names(self) -> list[str]:
        return [f"section{j}" for j in range(self.n_columns)]

    @cached_property
    def _loop(self) -> Sections:
        return Sections(self.kernel, self.landmarks)

    def write(self, X: Any, out: np.ndarray) -> None:
        self._loop.write(X, out)
