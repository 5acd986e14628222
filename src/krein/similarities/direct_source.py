"""Similarities of which any block can be had at no great cost: kernels of this library, and matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from krein._core.memory import check_memory
from krein.features.sections import Sections
from krein.kernels import Kernel
from krein.kernels.kernel import in_range
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.matrix_checks import check_kind, check_symmetric, symmetric_part

if TYPE_CHECKING:
    from krein.similarities.similarity import BlockSource

__all__ = ["DirectSource", "KernelSimilarity", "PrecomputedSimilarity", "TrainingMatrix"]

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


@final
@dataclass(frozen=True)
class KernelSimilarity:
    """A kernel of this library; landmarks are rows."""

    kernel: Kernel

    has_vectors: ClassVar[bool] = True  # rows are points that can be averaged

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel of krein.kernels, got {self.kernel!r}")

    def place(self, X: Any, name: str = "X") -> Any:
        """Rows in the form the other methods take them."""
        return self.kernel.place(X, f"the sparse matrix {name}" if sp.issparse(X) else name)

    def settled(self, X: Any) -> KernelSimilarity:
        """The similarity with all it has to learn from placed training rows; an error if they cannot be used."""
        return self

    def landmarks(self, X: Any, rows: np.ndarray) -> Any:
        """The landmarks that are these rows of placed training data."""
        return X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities of placed rows to landmarks."""
        return self.kernel.gram(X, landmarks)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities among landmarks."""
        return in_range(self.kernel, self.kernel.gram(landmarks), "the landmarks", "the landmarks")

    def against(self, landmarks: Any) -> Callable[[Any, np.ndarray], None]:
        """`block` for many rows and always the same landmarks, written into an array."""
        if sp.issparse(landmarks):
            return partial(_write_block, self, landmarks)
        return Sections(self.kernel, np.asarray(landmarks, dtype=np.float64)).write

    def self_similarities(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Similarities of some rows with themselves."""
        return np.full(rows.size, float(self.kernel.radial(np.zeros(1))[0]))

    def training(self, X: Any) -> TrainingMatrix:
        """The whole matrix of placed training rows."""
        n = X.shape[0]
        check_memory(
            3.0 * 8 * n * n, f"a problem with the whole kernel matrix of {n:,} rows", "use a learner with features"
        )
        return TrainingMatrix(self, X, np.asarray(self.kernel.gram(X), dtype=np.float64), n * (n + 1) // 2)


@final
@dataclass(frozen=True)
class PrecomputedSimilarity:
    """Rows of a matrix of similarities to all training objects; a landmark is the number of a training object.

    Parameters
    ----------
    kernel : DistanceKernel or None, default=None
        What makes similarities of the entries, where those are distances.
    """

    kernel: DistanceKernel | None = None

    has_vectors: ClassVar[bool] = False

    def place(self, X: Any, name: str = "X") -> Any:
        return X

    def settled(self, X: Any) -> PrecomputedSimilarity:
        if X.shape[0] != X.shape[1]:
            kind, way_out = "distances", "for rows of numbers name a distance, such as 'euclidean'"
            if self.kernel is None:
                kind = "similarities"
                way_out = (
                    "a block of similarities to some landmarks needs landmarks: their numbers among the rows, or the matrix of "
                    "their similarities to each other"
                )
            raise ValueError(
                f"'precomputed' is fitted on a square matrix of {kind} between training objects, got shape {X.shape}; {way_out}"
            )
        self.check(X, "the precomputed matrix")
        return self.learned(X)

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

    def landmarks(self, X: Any, rows: np.ndarray) -> np.ndarray:
        return rows

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        columns = _dense(X if landmarks is None else X[:, landmarks])
        return columns if self.kernel is None else self.kernel.similarity(columns)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return symmetric_part(self.block(X if landmarks is None else X[landmarks], landmarks))

    def self_similarities(self, X: Any, rows: np.ndarray) -> np.ndarray:
        diagonal = np.asarray(X.diagonal()[rows], dtype=np.float64)
        return diagonal if self.kernel is None else self.kernel.similarity(diagonal)

    def against(self, landmarks: Any) -> Callable[[Any, np.ndarray], None]:
        return partial(_write_block, self, landmarks)

    def training(self, X: Any) -> TrainingMatrix:
        settled = self.settled(X)
        return TrainingMatrix(settled, None, np.asarray(settled.square(X, None), dtype=np.float64), 0)


DirectSource = KernelSimilarity | PrecomputedSimilarity


def _write_block(similarity: DirectSource, landmarks: Any, X: Any, out: np.ndarray) -> None:
    out[:] = similarity.block(X, landmarks)


def _dense(block: Any) -> np.ndarray:
    return np.asarray(block.toarray() if sp.issparse(block) else block)
