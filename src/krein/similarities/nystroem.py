r"""Nyström features of a similarity that need not be positive definite, as plain functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from krein._core.checks import one_of, positive_integer, real
from krein._core.rows import row_blocks
from krein._core.threads import n_threads, quiet_blas, share
from krein.similarities.landmarks import select_landmarks
from krein.similarities.similarity import Similarity
from krein.similarities.spectrum import (
    SignedSpectrum,
    compress_features,
    signed_root,
    signed_spectrum,
    significant,
)

__all__ = ["FittedNystroem", "fit_nystroem"]

# Truncations that "auto" compares, relative to the largest eigenvalue, the coarsest first.
_COARSE_CUTS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
_FINE_CUTS = (1e-8, 1e-10, 1e-12)  # below the rounding of similarities in float32, so for float64 only
_NEARLY_AS_GOOD = (
    1.02  # a coarser cut with at most so much more error is taken: smaller features, more stable in rounding
)
_LEAST_ERROR = {4: 1e-6, 8: 1e-12}  # by bytes a number, relative to the matrix: smaller errors are rounding, and alike
_HELD_OUT = 256  # rows on which truncations are compared
_COMPRESSION_ROWS = 4  # rows for each landmark on which directions are compared
_LEAST_ROWS = 64  # per block, so that many landmarks do not make blocks of single rows
_PAIRS = 2**18  # similarities per block that a thread holds, 2 MiB of them
_CALLED_PAIRS = 2**21  # similarities per block asked of a callable, so that it has work enough for threads of its own


@final
@dataclass(frozen=True, eq=False)
class FittedNystroem:
    r"""Features :math:`\phi(x) = k(x, L)\,R` with a signature; call it with rows.

    Parameters
    ----------
    similarity : Similarity
    landmarks : array or CSR matrix of shape (n_landmarks, n_features), or ndarray of int of shape (n_landmarks,)
        :math:`L`: placed rows, or numbers of training objects for a precomputed similarity.
    root : ndarray of shape (n_landmarks, rank), float32 or float64
        :math:`R`. Products are taken in its type.
    signature : ndarray of shape (n_components,)
        ±1 for each output column. Columns beyond the rank are zero.
    eigenvalues : ndarray of shape (n_eigenvalues,)
        Eigenvalues of the landmark block that are kept, the largest in size first.
    eigenvalue_tol : float
        The relative truncation used.
    """

    similarity: Similarity
    landmarks: Any
    root: np.ndarray
    signature: np.ndarray
    eigenvalues: np.ndarray
    eigenvalue_tol: float

    def __post_init__(self) -> None:
        if not isinstance(self.similarity, Similarity):
            raise ValueError(f"similarity must be a Similarity, got {self.similarity!r}")
        vectors = self.similarity.has_vectors
        landmarks = self.landmarks
        if landmarks.ndim != (2 if vectors else 1) or not landmarks.shape[0]:
            kind = "rows" if vectors else "numbers of training objects"
            raise ValueError(f"landmarks must be {kind}, got an array of shape {landmarks.shape}")
        if landmarks.dtype.kind != ("f" if vectors else "i") or (not vectors and landmarks.min() < 0):
            raise ValueError(f"landmarks must be rows of floats or indices from 0 on, got dtype {landmarks.dtype}")
        root = self.root
        if root.ndim != 2 or root.shape[0] != landmarks.shape[0] or root.dtype not in (np.float32, np.float64):
            raise ValueError(
                f"root must be a matrix of floats with a row for each of {landmarks.shape[0]} landmarks, got shape "
                f"{root.shape} and dtype {root.dtype}"
            )
        if self.signature.ndim != 1 or self.signature.size < root.shape[1] or not (np.abs(self.signature) == 1.0).all():
            raise ValueError(f"signature must hold ±1 for each of at least {root.shape[1]} columns")
        if self.eigenvalues.ndim != 1 or not np.isfinite(self.eigenvalues).all() or not np.isfinite(root).all():
            raise ValueError("root and eigenvalues must be finite")
        object.__setattr__(self, "eigenvalue_tol", _check_fraction(self.eigenvalue_tol))

    @property
    def rank(self) -> int:
        """Number of columns that are not zero."""
        return int(self.root.shape[1])

    def __call__(self, X: Any) -> np.ndarray:
        """Features of rows, checked to be numbers but not placed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), float32 or float64

        Returns
        -------
        ndarray of shape (n_samples, n_components), dtype of X
        """
        placed = self.similarity.place(X)
        out = np.zeros((X.shape[0], self.signature.size), dtype=X.dtype)
        _fill(self.similarity, placed, self.landmarks, self.root, out[:, : self.rank])
        return out


def fit_nystroem(
    similarity: Similarity,
    X: Any,
    n_components: int,
    rng: np.random.Generator,
    *,
    landmarks: Any = "leverage",
    oversampling: int = 1,
    eigenvalue_tol: Any = "auto",
) -> FittedNystroem:
    r"""Nyström features that keep the signs of the eigenvalues.

    .. math:: K(L, L) = U \Lambda U^\top, \qquad \phi(x) = k(x, L)\,U |\Lambda|^{-1/2}, \qquad \sigma = \operatorname{sign} \Lambda

    Our own products and decompositions are done by one thread for each block, so that the result is the same to the last bit
    for any number of threads (as far as the similarity is).

    Parameters
    ----------
    similarity : Similarity
    X : array or CSR matrix of shape (n_samples, n_features), float32 or float64
        Training rows, not placed; for a precomputed similarity the square matrix.
    n_components : int
        Number of output columns. Columns beyond the rank are zero.
    rng : numpy.random.Generator
    landmarks : {"auto", "leverage", "uniform", "kmeans"} or array, default="leverage"
        As in `select_landmarks`.
    oversampling : int, default=1
        Landmarks for each column.
    eigenvalue_tol : float or "auto", default="auto"
        Relative size of the eigenvalues to drop.

    Returns
    -------
    FittedNystroem
    """
    width = positive_integer(n_components, "n_components")
    factor = positive_integer(oversampling, "oversampling")
    tol = _check_tol(eigenvalue_tol)
    X = similarity.place(X)
    similarity.check_training(X)
    landmark_rng, sample_rng = rng.spawn(2)
    chosen = select_landmarks(similarity, X, factor * width, landmarks, landmark_rng)
    square = similarity.square(X, chosen)
    with quiet_blas():
        spectrum = signed_spectrum(square)
    sample = _some_rows(X, _HELD_OUT, sample_rng)
    if tol is None:
        tol = _best_cut(similarity, X, sample, chosen, spectrum, X.dtype.itemsize)
    root, signature, eigenvalues = signed_root(spectrum, tol)
    if eigenvalues.size > width:
        rows = _some_rows(X, _COMPRESSION_ROWS * root.shape[0], sample_rng)
        features = np.empty((rows.size, root.shape[1]), dtype=X.dtype)
        _fill(similarity, X[rows], chosen, root, features)
        with quiet_blas():
            turn, signature = compress_features(features, signature, width)
            root = root @ turn
    padded = np.ones(width)
    padded[: signature.size] = signature
    return FittedNystroem(similarity, chosen, root.astype(X.dtype), padded, eigenvalues[:width], tol)


def _fill(similarity: Similarity, X: Any, landmarks: Any, root: np.ndarray, out: np.ndarray) -> None:
    """Write ``k(X, landmarks) @ root``, block by block, into ``out``; products are taken in the type of ``root``."""
    n, count = X.shape[0], root.shape[0]
    if similarity.bears_threads:  # each thread multiplies its block while that is in its cache

        def work(rows: slice) -> None:
            _multiply(similarity.block(X[rows], landmarks), root, out[rows])

        with quiet_blas():
            share(work, row_blocks(n, max(_LEAST_ROWS, _PAIRS // count)), threads=n_threads())
        return
    for rows in row_blocks(n, max(_LEAST_ROWS, _CALLED_PAIRS // count)):
        block = similarity.block(X[rows], landmarks)  # the user's function may have all threads to itself
        with quiet_blas():
            share(
                partial(_multiply_part, block, root, out[rows]),
                row_blocks(block.shape[0], max(_LEAST_ROWS, _PAIRS // count)),
                threads=n_threads(),
            )


def _multiply(block: np.ndarray, root: np.ndarray, out: np.ndarray) -> None:
    np.matmul(np.asarray(block, dtype=root.dtype), root, out=out, casting="same_kind")


def _multiply_part(block: np.ndarray, root: np.ndarray, out: np.ndarray, rows: slice) -> None:
    _multiply(block[rows], root, out[rows])


def _some_rows(X: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(X.shape[0], size=min(count, X.shape[0]), replace=False))


def _best_cut(
    similarity: Similarity, X: Any, sample: np.ndarray, landmarks: Any, spectrum: SignedSpectrum, precision: int
) -> float:
    """The coarsest truncation whose error on some training rows is nearly the least."""
    exact = similarity.square(X, similarity.landmarks(X, sample))
    block = similarity.block(X[sample], landmarks)
    precision = min(precision, exact.dtype.itemsize)
    cuts = _COARSE_CUTS if precision == 4 else _COARSE_CUTS + _FINE_CUTS
    with quiet_blas():
        root, signature, values = signed_root(spectrum)
        features = np.asarray(block, dtype=np.float64) @ root
        errors = np.empty(len(cuts))
        for i, cut in enumerate(cuts):
            kept = features[:, : significant(values, cut)]
            errors[i] = np.linalg.norm((kept * signature[: kept.shape[1]]) @ kept.T - exact)
        least = _LEAST_ERROR[precision] * float(np.linalg.norm(exact))
    return cuts[int(np.flatnonzero(errors <= _NEARLY_AS_GOOD * np.maximum(errors.min(), least))[0])]


def _check_tol(tol: Any) -> float | None:
    """A float from 0 to below 1, or None for "auto"."""
    if isinstance(tol, str):
        one_of(tol, "eigenvalue_tol", ("auto",), otherwise=" or a number from 0 to below 1")
        return None
    return _check_fraction(tol)


def _check_fraction(tol: Any) -> float:
    number = real(tol, "eigenvalue_tol")
    if not 0.0 <= number < 1.0:
        raise ValueError(f"eigenvalue_tol must be 'auto' or a number from 0 to below 1, got {tol!r}")
    return number
