"""What Nyström needs of a similarity: blocks of values between rows and landmarks, wherever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein.kernels import Kernel

__all__ = ["CallableSimilarity", "KernelSimilarity", "PrecomputedSimilarity", "Similarity", "as_similarity"]

_ASYMMETRY = 1e-6  # relative to the largest entry: above rounding in float32, below any real asymmetry


class Similarity(ABC):
    """A symmetric function of two rows, given by blocks of its matrix."""

    @abstractmethod
    def place(self, X: Any) -> Any:
        """Rows in the form `block` takes them."""

    @abstractmethod
    def check_training(self, X: Any) -> None:
        """Refuse placed training rows that cannot be used."""

    @abstractmethod
    def landmarks(self, X: Any, rows: np.ndarray) -> Any:
        """The landmarks that are these rows of placed training data."""

    @abstractmethod
    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities of placed rows to landmarks, shape (n_rows, n_landmarks)."""

    @property
    @abstractmethod
    def has_vectors(self) -> bool:
        """Whether rows are points that can be averaged."""

    def square(self, landmarks: Any, placed: Any) -> np.ndarray:
        """Similarities among landmarks, in float64 and symmetric to the last bit."""
        matrix = np.asarray(self.block(placed, landmarks), dtype=np.float64)
        return (matrix + matrix.T) / 2.0


@final
class KernelSimilarity(Similarity):
    """A kernel of this library."""

    has_vectors = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def place(self, X: Any) -> Any:
        return self.kernel.place(X, "the sparse matrix X" if sp.issparse(X) else "X")

    def check_training(self, X: Any) -> None:
        return

    def landmarks(self, X: Any, rows: np.ndarray) -> Any:
        return X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.kernel(X, landmarks)


@final
class CallableSimilarity(Similarity):
    """A function of two matrices of rows."""

    has_vectors = True

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def place(self, X: Any) -> Any:
        return X

    def check_training(self, X: Any) -> None:
        some = X[: min(32, X.shape[0])]
        _refuse_asymmetric(np.asarray(self.block(some, some), dtype=np.float64), "the matrix that the callable returns")

    def landmarks(self, X: Any, rows: np.ndarray) -> Any:
        return X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        values = np.asarray(self.function(X, landmarks))
        if values.shape != (X.shape[0], landmarks.shape[0]):
            raise ValueError(
                f"a callable kernel must return one value per pair of rows, shape {(X.shape[0], landmarks.shape[0])}, got "
                f"{values.shape}; wrap a function of two rows as sklearn.metrics.pairwise_kernels does, or compute the "
                "matrix and use kernel='precomputed'"
            )
        if not np.isfinite(values).all():
            raise ValueError("the callable kernel returned NaN or infinity; define its value for every pair of rows")
        return values


@final
class PrecomputedSimilarity(Similarity):
    """Rows of a matrix of similarities to all training objects."""

    has_vectors = False

    def place(self, X: Any) -> Any:
        return X

    def check_training(self, X: Any) -> None:
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' is fitted on a square matrix of similarities between training objects, got shape "
                f"{X.shape}; only transform takes rectangular blocks (new objects by training objects)"
            )
        for start in range(0, X.shape[0], 1024):  # in blocks: no copy of the whole matrix
            rows = slice(start, start + 1024)
            left, right = X[rows], X[:, rows].T
            left, right = (part.toarray() if sp.issparse(part) else part for part in (left, right))
            _refuse_asymmetric(left, "the precomputed matrix", right, start)

    def landmarks(self, X: Any, rows: np.ndarray) -> np.ndarray:
        return rows

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        columns = X[:, landmarks]
        return columns.toarray() if sp.issparse(columns) else columns


def _refuse_asymmetric(left: np.ndarray, what: str, right: np.ndarray | None = None, start: int = 0) -> None:
    right = left.T if right is None else right
    gap = np.abs(left - right)
    largest = float(np.abs(left).max(initial=0.0))
    if gap.max(initial=0.0) > _ASYMMETRY * largest:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"{what} must be symmetric, but entries ({i + start}, {j}) and ({j}, {i + start}) are {left[i, j]:.6g} and "
            f"{right[i, j]:.6g}; use the symmetric part (K + K.T) / 2"
        )


def as_similarity(kernel: Any) -> Similarity:
    """A similarity from what the parameter ``kernel`` may be."""
    if isinstance(kernel, Kernel):
        return KernelSimilarity(kernel)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return PrecomputedSimilarity()
        raise ValueError(
            f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r}; kernels by name come "
            "from krein.kernels.parse_kernel"
        )
    if callable(kernel):
        return CallableSimilarity(kernel)
    raise TypeError(
        f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r} of type "
        f"{type(kernel).__name__}"
    )
