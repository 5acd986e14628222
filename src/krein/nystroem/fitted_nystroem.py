r"""Nyström features of a similarity that need not be positive definite, as a function of rows or objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from krein._core.rows import check_finite, row_blocks
from krein._core.staircase import Staircase
from krein._core.threads import n_threads, quiet_blas, share
from krein.kernels import Kernel
from krein.nystroem.spectrum import check_fraction
from krein.similarities.direct_source import DirectSource
from krein.similarities.objects import Objects
from krein.similarities.similarity import BlockSource, Similarity

__all__ = ["FittedNystroem", "check_landmarks", "fill_features"]

_LEAST_ROWS = 64  # per block, so that many landmarks do not make blocks of single rows
_PAIRS = 2**18  # similarities per block that a thread holds, 2 MiB of them
_CALLED_PAIRS = 2**23  # similarities asked of a callable at a time, 64 MiB of them: what is held, beside the features


@final
@dataclass(frozen=True, eq=False)
class FittedNystroem:
    r"""Features :math:`\phi(x) = k(x, L)\,R` with a signature; call it with rows.

    Parameters
    ----------
    similarity : BlockSource
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), Objects, or ndarray of int of shape (n_landmarks,)
        :math:`L`: placed rows, objects, or numbers of training objects for a precomputed similarity.
    root : ndarray of shape (n_landmarks, rank), float32 or float64
        :math:`R`. Products are taken in its type.
    signature : ndarray of shape (n_components,)
        ±1 for each output column. Columns beyond the rank are zero.
    eigenvalues : ndarray of shape (n_eigenvalues,)
        Eigenvalues of the landmark block that are kept, the largest absolute value first.
    eigenvalue_tol : float
        The relative truncation used.
    """

    similarity: BlockSource
    landmarks: Any
    root: np.ndarray
    signature: np.ndarray
    eigenvalues: np.ndarray
    eigenvalue_tol: float

    def __post_init__(self) -> None:
        if not isinstance(self.similarity, BlockSource):
            raise ValueError(f"similarity must be a source of blocks, got {self.similarity!r}")
        check_landmarks(self.similarity, self.landmarks)
        root = self.root
        if root.ndim != 2 or root.shape[0] != self.landmarks.shape[0] or root.dtype not in (np.float32, np.float64):
            raise ValueError(
                f"root must be a matrix of floats with a row for each of {self.landmarks.shape[0]} landmarks, got shape "
                f"{root.shape} and dtype {root.dtype}"
            )
        if self.signature.ndim != 1 or self.signature.size < root.shape[1] or not (np.abs(self.signature) == 1.0).all():
            raise ValueError(f"signature must hold ±1 for each of at least {root.shape[1]} columns")
        if self.eigenvalues.ndim != 1 or not np.isfinite(self.eigenvalues).all() or not np.isfinite(root).all():
            raise ValueError("root and eigenvalues must be finite")
        object.__setattr__(self, "eigenvalue_tol", check_fraction(self.eigenvalue_tol))

    @property
    def n_features(self) -> int | None:
        """Columns of the rows it takes; None for objects, and for similarities to training objects."""
        return int(self.landmarks.shape[1]) if len(self.landmarks.shape) == 2 else None

    @property
    def rank(self) -> int:
        """Number of columns that are not zero."""
        return int(self.root.shape[1])

    @cached_property
    def _against(self) -> Callable[[Any, np.ndarray], None]:
        assert isinstance(self.similarity, DirectSource)
        return self.similarity.against(self.landmarks)

    @cached_property
    def _stairs(self) -> Staircase:
        return Staircase.of(self.root, self.signature)

    def __call__(self, X: Any) -> np.ndarray:
        """Features of rows or objects, not placed."""
        placed = self.similarity.place(X)
        out = np.empty((placed.shape[0], self.signature.size), dtype=placed.dtype)
        out[:, self.rank :] = 0
        if isinstance(self.similarity, DirectSource):
            fill_features(self._against, placed, self._stairs, out[:, : self.rank])
            kernel = self.similarity.kernel
            if isinstance(kernel, Kernel) and not kernel.facts.bounded:
                check_finite(out)
            return out
        for rows in row_blocks(placed.shape[0], max(_LEAST_ROWS, _CALLED_PAIRS // self.root.shape[0])):
            self.multiply(self.similarity.block(placed[rows], self.landmarks), out[rows])
        return out

    def multiply(self, block: np.ndarray, out: np.ndarray) -> None:
        """Write features of rows whose similarities to the landmarks are known."""
        known = partial(_write_rows, block)
        fill_features(known, np.arange(block.shape[0]), self._stairs, out[:, : self.rank])


def fill_features(against: Callable[[Any, np.ndarray], None], X: Any, root: Staircase, out: np.ndarray) -> None:
    """Write ``k(X, landmarks) @ root``, block by block; each thread multiplies its block while that is in its cache."""
    n_landmarks = root.shape[0]
    same = out.dtype == root.dtype
    in_place = root.in_place and (out.flags.c_contiguous or not same)

    def work(rows: slice) -> None:
        here = out[rows] if same else np.empty((rows.stop - rows.start, root.shape[1]), dtype=root.dtype)
        block = here if in_place else np.empty((rows.stop - rows.start, n_landmarks), dtype=root.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # kernels that grow are looked at in the end
            against(X[rows], block)
            root.multiply(block, here)
        if not same:
            out[rows] = here

    with quiet_blas():
        share(work, row_blocks(X.shape[0], max(_LEAST_ROWS, _PAIRS // n_landmarks)), threads=n_threads())


def _write_rows(block: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    out[:] = block[rows[0] : rows[-1] + 1]


def check_landmarks(similarity: BlockSource, landmarks: Any) -> None:
    """An error unless landmarks are what the similarity compares with."""
    if isinstance(similarity, Similarity):
        if not isinstance(landmarks, Objects) or not len(landmarks):
            raise ValueError(f"landmarks must be objects, got a value of type {type(landmarks).__name__}")
        return
    vectors = isinstance(similarity, DirectSource) and similarity.has_vectors
    if landmarks.ndim != (2 if vectors else 1) or not landmarks.shape[0]:
        kind = "rows" if vectors else "numbers of training objects"
        raise ValueError(f"landmarks must be {kind}, got an array of shape {landmarks.shape}")
    if landmarks.dtype.kind != ("f" if vectors else "i") or (not vectors and landmarks.min() < 0):
        raise ValueError(f"landmarks must be rows of floats or indices from 0 on, got dtype {landmarks.dtype}")
