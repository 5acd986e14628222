"""What Nyström and the exact learners need of a similarity: blocks of values, wherever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from krein.features.sections import Sections
from krein.kernels import Kernel
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.matrix_checks import check_kind, check_symmetric, symmetric_part

__all__ = ["BlockSource", "DirectSource", "KernelSimilarity", "PrecomputedSimilarity", "TrainingMatrix"]

_LEARNED_FROM = 512  # objects, spread over all, whose entries a kernel of a matrix learns from


@final
@dataclass(frozen=True, eq=False)
class TrainingMatrix:
    """The similarities of all training objects to each other.

    Parameters
    ----------
    similarity : BlockSource
        With all it has learned from them.
    rows : array, CSR matrix, Objects or None
        The training objects as `BlockSource.block` takes landmarks; None where there is nothing but the matrix.
    matrix : ndarray of shape (n, n), float64
        Symmetric to the last bit.
    n_evaluations : int
        How many were computed.
    """

    similarity: BlockSource
    rows: Any
    matrix: np.ndarray
    n_evaluations: int


class BlockSource(ABC):
    """A symmetric function of two objects, given by blocks of its matrix.

    Rows are placed once (`place`); landmarks are whatever `block` compares rows with: objects, rows, or numbers of training
    objects where there is nothing but a matrix.
    """

    @abstractmethod
    def place(self, X: Any, name: str = "X") -> Any:
        """Rows in the form the other methods take them."""

    @abstractmethod
    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities of placed rows to landmarks."""

    @abstractmethod
    def training(self, X: Any) -> TrainingMatrix:
        """The whole matrix of placed training rows."""


class DirectSource(BlockSource):
    """A similarity of which any block can be had at no great cost: a kernel of this library, or a matrix."""

    @property
    @abstractmethod
    def has_vectors(self) -> bool:
        """Whether rows are points that can be averaged."""

    @abstractmethod
    def settled(self, X: Any) -> Self:
        """The similarity with all it has to learn from placed training rows; an error if they cannot be used."""

    @abstractmethod
    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        """The landmarks that are these rows of placed training data."""

    @abstractmethod
    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities among landmarks."""

    def against(self, landmarks: Any) -> Callable[[Any, np.ndarray], None]:
        """`block` for many rows and always the same landmarks."""
        return partial(_write_block, self, landmarks)

    @abstractmethod
    def self_similarities(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Similarities of some rows with themselves."""

    def training(self, X: Any) -> TrainingMatrix:
        settled = self.settled(X)
        rows = settled.landmarks(X)
        matrix = np.asarray(settled.square(X, rows), dtype=np.float64)
        return TrainingMatrix(settled, rows, matrix, X.shape[0] * (X.shape[0] + 1) // 2 if self.has_vectors else 0)


@final
@dataclass(frozen=True)
class KernelSimilarity(DirectSource):
    """A kernel of this library."""

    kernel: Kernel

    has_vectors = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel of krein.kernels, got {self.kernel!r}")

    def place(self, X: Any, name: str = "X") -> Any:
        return self.kernel.place(X, f"the sparse matrix {name}" if sp.issparse(X) else name)

    def settled(self, X: Any) -> Self:
        return self

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        return X if rows is None else X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.kernel.gram(X, landmarks)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.kernel.gram(landmarks)

    def against(self, landmarks: Any) -> Callable[[Any, np.ndarray], None]:
        if sp.issparse(landmarks):
            return super().against(landmarks)
        return Sections(self.kernel, np.asarray(landmarks, dtype=np.float64)).write

    def self_similarities(self, X: Any, rows: np.ndarray) -> np.ndarray:
        return np.full(rows.size, float(self.kernel.radial(np.zeros(1))[0]))


@final
@dataclass(frozen=True)
class PrecomputedSimilarity(DirectSource):
    """Rows of a matrix of similarities to all training objects; a landmark is the number of a training object.

    Parameters
    ----------
    kernel : DistanceKernel or None, default=None
        What makes similarities of the entries, where those are distances.
    """

    kernel: DistanceKernel | None = None

    has_vectors = False

    def place(self, X: Any, name: str = "X") -> Any:
        return X

    def settled(self, X: Any) -> PrecomputedSimilarity:
        if X.shape[0] != X.shape[1]:
            raise ValueError(self._no_square(X.shape))
        self.check(X, "the precomputed matrix")
        return self.learned(X)

    def _no_square(self, shape: tuple[int, ...]) -> str:
        if self.kernel is not None:
            return (
                f"'precomputed' is fitted on the square matrix of distances between training objects, got shape {shape}; for rows "
                "of numbers name a distance, such as 'euclidean'"
            )
        return (
            f"kernel='precomputed' is fitted on a square matrix of similarities between training objects, got shape {shape}; a "
            "block of similarities to some landmarks needs landmarks: their numbers among the rows, or the matrix of their "
            "similarities to each other"
        )

    def check(self, matrix: Any, what: str) -> None:
        """Refuse a square matrix that is not symmetric, or holds distances for similarities or the other way round."""
        check_symmetric(matrix, what, way_out="pass its symmetric part (K + K.T) / 2")
        way_out = (
            "if these are distances, DistanceKernel('precomputed') makes similarities of them; if not, write the similarities of "
            "objects with themselves on the diagonal, or pass DistanceKernel('precomputed', scale=1.0, form='distance')"
            if self.kernel is None
            else "if these are similarities, pass kernel='precomputed'"
        )
        check_kind(matrix, distance=self.kernel is not None, way_out=way_out)

    def learned(self, X: Any) -> PrecomputedSimilarity:
        """The similarity with all that its kernel learns from the entries of a block."""
        if self.kernel is None or not self.kernel.needs_fit:
            return self
        rows, columns = (np.unique(np.linspace(0, n - 1, min(n, _LEARNED_FROM)).astype(int)) for n in X.shape)
        values = _dense(X[rows][:, columns])
        apart = values[rows[:, None] != columns] if X.shape[0] == X.shape[1] else values.ravel()
        return PrecomputedSimilarity(self.kernel.fitted(apart))

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> np.ndarray | None:
        return rows

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        columns = _dense(X if landmarks is None else X[:, landmarks])
        return columns if self.kernel is None else self.kernel.similarity(columns)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return symmetric_part(self.block(X if landmarks is None else X[landmarks], landmarks))

    def self_similarities(self, X: Any, rows: np.ndarray) -> np.ndarray:
        diagonal = np.asarray(X.diagonal()[rows], dtype=np.float64)
        return diagonal if self.kernel is None else self.kernel.similarity(diagonal)


def _write_block(similarity: BlockSource, landmarks: Any, X: Any, out: np.ndarray) -> None:
    out[:] = similarity.block(X, landmarks)


def _dense(block: Any) -> np.ndarray:
    return np.asarray(block.toarray() if sp.issparse(block) else block)
