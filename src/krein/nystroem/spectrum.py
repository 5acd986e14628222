r"""Spectra with signs: which eigenvalues of a symmetric matrix to keep, its signed root, and its flipped self."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.checks import one_of, real
from krein._core.threads import blas_threads, quiet_blas
from krein.similarities.matrix_checks import symmetric_part

__all__ = [
    "CLEAR_OF_ROUNDING",
    "SignedSpectrum",
    "best_cut",
    "check_fraction",
    "check_tol",
    "compress_features",
    "cut_by_halves",
    "positive_root",
    "signed_root",
    "signed_spectrum",
    "significant",
]

# Relative difference below which two eigenvalues are of one size: more than rounding, less than any meaning
_TIED = 1e-9
_CLEAR = 1e3  # times the rounding of an eigenvalue: those above are there in any factor
# Of the largest singular value: smaller columns of features are rounding, whose squares are divided by
_COLUMN_TOL = 1e-7

# Truncations that "auto" compares, relative to the largest eigenvalue, the coarsest first.
_COARSE_CUTS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
_FINE_CUTS = (1e-8, 1e-10, 1e-12)  # below the rounding of similarities in float32, so for float64 only
# A coarser cut with at most so much more error is taken: smaller features, more stable in rounding
_NEARLY_AS_GOOD = 1.02
_LEAST_ERROR = {4: 1e-6, 8: 1e-12}  # by bytes a number, relative to the matrix: smaller errors are rounding, and alike
# By bytes a number, relative to the largest eigenvalue: where a positive matrix has no smaller one, a cut only adds to the error
CLEAR_OF_ROUNDING = {4: 1e-5, 8: 1e-10}
_FEW = 8  # landmarks: fewer are not divided into halves


@final
@dataclass(frozen=True, eq=False)
class SignedSpectrum:
    r"""Eigenvalues and eigenvectors of a symmetric matrix, :math:`K = U \Lambda U^\top`, the largest absolute value first.

    Parameters
    ----------
    values : ndarray of shape (n,)
    vectors : ndarray of shape (n, n)
        One eigenvector a column.
    """

    values: np.ndarray
    vectors: np.ndarray

    def __post_init__(self) -> None:
        n = self.values.shape[0]
        if self.values.shape != (n,) or self.vectors.shape != (n, n):
            raise ValueError(
                f"a spectrum needs one eigenvector a value, got shapes {self.values.shape} and {self.vectors.shape}"
            )

    @property
    def n_negative(self) -> int:
        """Number of negative eigenvalues beyond rounding."""
        return int(np.count_nonzero(self.values[: significant(self.values)] < 0.0))

    def flipped(self) -> np.ndarray:
        r"""The positive matrix :math:`|K| = U |\Lambda| U^\top`."""
        matrix = (self.vectors * np.abs(self.values)) @ self.vectors.T
        return symmetric_part(matrix)

    def clipped(self) -> np.ndarray:
        r"""The nearest positive semidefinite matrix, :math:`U \max(\Lambda, 0) U^\top`."""
        return symmetric_part((self.vectors * np.maximum(self.values, 0.0)) @ self.vectors.T)

    def flip_of(self, rows: np.ndarray) -> np.ndarray:
        r"""Columns of :math:`C = U\, \mathrm{sign}(\Lambda)\, U^\top`, which takes similarities to flipped ones.

        :math:`k(x)^\top C` for a new object is what the flipped matrix has for an old one, as :math:`K C = |K|`.
        """
        return np.asarray((self.vectors * np.where(self.values < 0.0, -1.0, 1.0)) @ self.vectors[rows].T)


def signed_spectrum(matrix: np.ndarray) -> SignedSpectrum:
    """Decompose a symmetric matrix, in an order and with signs that do not depend on the last bits.

    Eigenvalues of one size are ordered positive before negative, and the first of the largest entries of each eigenvector is
    positive.

    Examples
    --------
    >>> import numpy as np
    >>> signed_spectrum(np.array([[0.0, 2.0], [2.0, 0.0]])).values.round(12)
    array([ 2., -2.])
    """
    with quiet_blas(), blas_threads(float(matrix.shape[0]) ** 3):
        values, vectors = np.linalg.eigh(np.asarray(matrix, dtype=np.float64))
    order = _largest_first(values)
    return SignedSpectrum(values[order], _upright(vectors[:, order]))


def significant(values: np.ndarray, tol: float = 0.0) -> int:
    """How many of the eigenvalues count, from the first on.

    Those larger in absolute value than ``tol`` times the first, and larger than rounding (n times the precision of float64);
    values of one size are kept together, so that a cut never goes through an eigenspace.
    """
    sizes = np.abs(values)
    if not sizes.size or sizes[0] == 0.0:
        return 0
    least = max(tol, sizes.size * float(np.finfo(np.float64).eps)) * sizes[0]
    count = int(np.count_nonzero(sizes > least * (1.0 - _TIED)))
    while count < sizes.size and sizes[count] > sizes[count - 1] * (1.0 - _TIED):
        count += 1
    return count


def signed_root(spectrum: SignedSpectrum, tol: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""The map :math:`U|\Lambda|^{-1/2}` of a symmetric matrix, its signs and eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> root, signature, _ = signed_root(signed_spectrum(K), 1e-8)
    >>> bool(np.allclose((K @ root * signature) @ (K @ root).T, K))
    True
    """
    rank = significant(spectrum.values, tol)
    kept = spectrum.values[:rank]
    return spectrum.vectors[:, :rank] / np.sqrt(np.abs(kept)), np.where(kept < 0.0, -1.0, 1.0), kept


def positive_root(matrix: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray] | None:
    r"""A triangle :math:`T` with :math:`TT^\top = K^{-1}` and the eigenvalues of K, at half of the cost of eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> root, values = positive_root(np.array([[4.0, 2.0], [2.0, 2.0]]), 0.0)
    >>> root.round(12)
    array([[ 0.707..., 0.        ],
           [-0.707..., 0.707...]])
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if not (np.diagonal(matrix) > 0.0).all():
        return None
    with quiet_blas():
        factor, failed = linalg.lapack.dpotrf(matrix[::-1, ::-1], lower=1)
        if failed:
            return None
        with blas_threads(float(matrix.shape[0]) ** 3):
            values = np.linalg.eigvalsh(matrix)[::-1]
        if significant(values, max(tol, _CLEAR * values.size * float(np.finfo(np.float64).eps))) < values.size:
            return None
        inverse, _ = linalg.lapack.dtrtri(factor, lower=1)
    return np.ascontiguousarray(inverse[::-1, ::-1].T), values


def compress_features(features: np.ndarray, signature: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    r"""The combinations of signed features that best approximate their own kernel on a sample, in fewer columns.

    With :math:`\Phi = QR` the kernel is :math:`Q\,(R J R^T)\,Q^T`; its eigenvectors of largest absolute eigenvalue are the best
    approximation of that rank.
    """
    _, sizes, rows = linalg.svd(features, full_matrices=False)
    kept = sizes > _COLUMN_TOL * sizes.max(initial=0.0)
    sizes, rows = sizes[kept], rows[kept]
    scaled = sizes[:, None] * rows
    values, vectors = np.linalg.eigh((scaled * signature) @ scaled.T)
    order = _largest_first(values)[:width]
    turn = _upright((rows.T / sizes) @ (vectors[:, order] * np.sqrt(np.abs(values[order]))))
    return turn, np.where(values[order] < 0.0, -1.0, 1.0)


def _largest_first(values: np.ndarray) -> np.ndarray:
    """An order by size; among values of one size positive ones first, then as they come."""
    sizes = np.abs(values)
    order = np.argsort(-sizes, kind="stable")
    ranked = sizes[order]
    group = np.concatenate([[0], np.cumsum(ranked[1:] < ranked[:-1] * (1.0 - _TIED))])[: ranked.size]
    return order[np.lexsort((values[order] < 0.0, group))]


def _upright(vectors: np.ndarray) -> np.ndarray:
    """Columns with signs such that the first of the entries of largest absolute value is positive."""
    sizes = np.abs(vectors)
    first = (sizes >= sizes.max(axis=0, initial=0.0) * (1.0 - _TIED)).argmax(axis=0) if vectors.size else []
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


def best_cut(spectrum: SignedSpectrum, left: np.ndarray, right: np.ndarray, exact: np.ndarray, precision: int) -> float:
    """The coarsest truncation whose error on some pairs is nearly the least."""
    cuts = _COARSE_CUTS if precision == 4 else _COARSE_CUTS + _FINE_CUTS
    with quiet_blas():
        root, signature, values = signed_root(spectrum)
        features = np.asarray(left, dtype=np.float64) @ root
        others = features if right is left else np.asarray(right, dtype=np.float64) @ root
        errors, done = np.empty(len(cuts)), 0
        residual = np.array(exact, dtype=np.float64)
        for i, cut in enumerate(cuts):
            rank = significant(values, cut)
            if rank > done:  # a finer cut adds columns to those of the coarser
                new = slice(done, rank)
                residual -= (features[:, new] * signature[new]) @ others[:, new].T
            errors[i], done = np.linalg.norm(residual), rank
        least = _LEAST_ERROR[precision] * float(np.linalg.norm(exact))
    return cuts[int(np.flatnonzero(errors <= _NEARLY_AS_GOOD * np.maximum(errors.min(), least))[0])]


def cut_by_halves(
    block: np.ndarray, square: np.ndarray, rng: np.random.Generator, precision: int, n_rows: int
) -> float:
    """A truncation from nothing but the columns of the landmarks: half of them explain the columns of the other half."""
    count = square.shape[0]
    if count < _FEW:
        return (_COARSE_CUTS if precision == 4 else _FINE_CUTS)[-1]
    order = rng.permutation(count)
    seen, unseen = np.sort(order[: count // 2]), np.sort(order[count // 2 :])
    rows = np.sort(rng.choice(block.shape[0], size=min(n_rows, block.shape[0]), replace=False))
    spectrum = signed_spectrum(square[np.ix_(seen, seen)])
    some = block[rows]
    return best_cut(spectrum, some[:, seen], square[np.ix_(unseen, seen)], some[:, unseen], precision)


def check_tol(tol: Any) -> float | None:
    """A float from 0 to below 1, or None for "auto"."""
    if isinstance(tol, str):
        one_of(tol, "eigenvalue_tol", ("auto",), otherwise=" or a number from 0 to below 1")
        return None
    return check_fraction(tol)


def check_fraction(tol: Any) -> float:
    """A float from 0 to below 1."""
    number = real(tol, "eigenvalue_tol")
    if not 0.0 <= number < 1.0:
        raise ValueError(f"eigenvalue_tol must be 'auto' or a number from 0 to below 1, got {tol!r}")
    return number
