"""What Nyström and the exact learners need of a similarity: blocks of values, wherever they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.rows import row_blocks
from krein._core.threads import within_budget
from krein.kernels import DeltaGaussian, Kernel
from krein.similarities.symmetry import check_symmetric, symmetric_part

__all__ = ["CallableSimilarity", "KernelSimilarity", "PrecomputedSimilarity", "Similarity", "as_similarity"]

_CHECKED = 32  # rows, spread over all, on which a callable is tested for symmetry: a thousand evaluations
_CALLED = 512  # rows per side given to a callable at a time when a symmetric matrix is made


class Similarity(ABC):
    """A symmetric function of two objects, given by blocks of its matrix.

    Rows are placed once (`place`); landmarks are whatever `block` compares rows with: rows themselves, or numbers of training
    objects where there is nothing but a matrix.
    """

    @property
    @abstractmethod
    def has_vectors(self) -> bool:
        """Whether rows are points that can be averaged."""

    @property
    @abstractmethod
    def bears_threads(self) -> bool:
        """Whether `block` may be called from several threads at once."""

    @abstractmethod
    def place(self, X: Any, name: str = "X") -> Any:
        """Rows in the form the other methods take them.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
        name : str, default="X"
            What to call the rows in an error.

        Returns
        -------
        array or CSR matrix of the same shape and dtype
        """

    @abstractmethod
    def check_training(self, X: Any) -> None:
        """Refuse placed training rows that cannot be used.

        Parameters
        ----------
        X : array or CSR matrix
            Placed rows.
        """

    @abstractmethod
    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        """The landmarks that are these rows of placed training data.

        Parameters
        ----------
        X : array or CSR matrix
            Placed training rows.
        rows : ndarray of int, default=None
            None means all of them.

        Returns
        -------
        landmarks
            As `block` and `square` take them.
        """

    @abstractmethod
    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities of placed rows to landmarks.

        Parameters
        ----------
        X : array or CSR matrix of n_rows rows
        landmarks : as `landmarks` returns them

        Returns
        -------
        ndarray of shape (n_rows, n_landmarks), float32 or float64
        """

    @abstractmethod
    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        """Similarities among landmarks.

        Parameters
        ----------
        X : array or CSR matrix
            Placed training rows; used where landmarks are numbers of them.
        landmarks : as `landmarks` returns them

        Returns
        -------
        ndarray of shape (n_landmarks, n_landmarks), float32 or float64
            Symmetric to the last bit.
        """


@final
@dataclass(frozen=True)
class KernelSimilarity(Similarity):
    """A kernel of this library.

    Parameters
    ----------
    kernel : Kernel
    """

    kernel: Kernel

    has_vectors = True
    bears_threads = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel of krein.kernels, got {self.kernel!r}")

    def place(self, X: Any, name: str = "X") -> Any:
        return self.kernel.place(X, f"the sparse matrix {name}" if sp.issparse(X) else name)

    def check_training(self, X: Any) -> None:
        return

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        return X if rows is None else X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.kernel.gram(X, landmarks)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return self.kernel.gram(landmarks)


@final
@dataclass(frozen=True)
class CallableSimilarity(Similarity):
    """A function of two matrices of rows.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the matrix of similarities of the rows of X (first axis) to those of Y.
    """

    function: Callable[[Any, Any], Any]

    has_vectors = True
    bears_threads = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable with two matrices of rows, got {self.function!r}")

    def place(self, X: Any, name: str = "X") -> Any:
        return X

    def check_training(self, X: Any) -> None:
        some = X[np.unique(np.linspace(0, X.shape[0] - 1, min(_CHECKED, X.shape[0])).astype(int))]
        check_symmetric(self.block(some, some), _FROM_CALLABLE)

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> Any:
        return X if rows is None else X[rows]

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        with within_budget():  # not quiet: the user's function may have all threads that this caller has
            values = self.function(X, landmarks)
        values = np.asarray(values.toarray() if sp.issparse(values) else values)
        if values.shape != (X.shape[0], landmarks.shape[0]):
            raise ValueError(
                f"a callable kernel must return one value per pair of rows, shape {(X.shape[0], landmarks.shape[0])}, got "
                f"{values.shape}; wrap a function of two rows as sklearn.metrics.pairwise_kernels does, or compute the "
                "matrix and use kernel='precomputed'"
            )
        if values.dtype.kind not in "fiub":
            raise ValueError(f"a callable kernel must return real numbers, got an array of dtype {values.dtype}")
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
        if not np.isfinite(values).all():
            raise ValueError("the callable kernel returned NaN or infinity; define its value for every pair of rows")
        return values

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        # each pair of blocks is evaluated once, and those on the diagonal are tested for symmetry
        n = landmarks.shape[0]
        square: np.ndarray | None = None
        for rows in row_blocks(n, _CALLED):
            here = landmarks[rows]
            values = self.block(here, here)
            check_symmetric(values, _FROM_CALLABLE)
            if square is None:
                if n <= _CALLED:
                    return symmetric_part(values)
                square = np.empty((n, n), dtype=values.dtype)
            square[rows, rows] = symmetric_part(values)
            for columns in row_blocks(rows.start, _CALLED):
                square[rows, columns] = self.block(here, landmarks[columns])
                square[columns, rows] = square[rows, columns].T
        return np.empty((0, 0)) if square is None else square


@final
@dataclass(frozen=True)
class PrecomputedSimilarity(Similarity):
    """Rows of a matrix of similarities to all training objects; a landmark is the number of a training object."""

    has_vectors = False
    bears_threads = True

    def place(self, X: Any, name: str = "X") -> Any:
        return X

    def check_training(self, X: Any) -> None:
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' is fitted on a square matrix of similarities between training objects, got shape "
                f"{X.shape}; only new objects come as rectangular blocks (new objects by training objects)"
            )
        check_symmetric(X, "the precomputed matrix")

    def landmarks(self, X: Any, rows: np.ndarray | None = None) -> np.ndarray | None:
        return rows

    def block(self, X: Any, landmarks: Any) -> np.ndarray:
        columns = X if landmarks is None else X[:, landmarks]
        return np.asarray(columns.toarray() if sp.issparse(columns) else columns)

    def square(self, X: Any, landmarks: Any) -> np.ndarray:
        return symmetric_part(self.block(X if landmarks is None else X[landmarks], landmarks))


_FROM_CALLABLE = "the matrix that the callable returns"


def as_similarity(kernel: Any) -> Similarity:
    """A similarity from what the parameter ``kernel`` may be.

    Parameters
    ----------
    kernel : Kernel, callable ``(X, Y) -> matrix``, "precomputed" or None
        None means ``DeltaGaussian()``.

    Returns
    -------
    Similarity
    """
    if kernel is None:
        return KernelSimilarity(DeltaGaussian())
    if isinstance(kernel, Kernel):
        return KernelSimilarity(kernel)
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return PrecomputedSimilarity()
        raise ValueError(
            f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r}; kernels by name come "
            "from krein.kernels.parse_kernel"
        )
    if callable(kernel) and not isinstance(kernel, type):  # a class is no function: DeltaGaussian for DeltaGaussian()
        return CallableSimilarity(kernel)
    raise TypeError(
        f"kernel must be a kernel of krein.kernels, a callable or 'precomputed', got {kernel!r} of type "
        f"{type(kernel).__name__}"
    )
