"""How many eigenvalues of the landmarks' matrix to keep: those that help on pairs they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from krein._core.checks import one_of, real
from krein._core.threads import quiet_blas
from krein.nystroem.spectrum import SignedSpectrum, signed_root, signed_spectrum, significant

__all__ = ["CLEAR_OF_ROUNDING", "best_cut", "check_fraction", "check_tol", "cut_by_halves"]

# Truncations that "auto" compares, relative to the largest eigenvalue, the coarsest first.
_COARSE_CUTS = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
_FINE_CUTS = (1e-8, 1e-10, 1e-12)  # below the rounding of similarities in float32, so for float64 only
# A coarser cut with at most so much more error is taken: smaller features, more stable in rounding
_NEARLY_AS_GOOD = 1.02
_LEAST_ERROR = {4: 1e-6, 8: 1e-12}  # by bytes a number, relative to the matrix: smaller errors are rounding, and alike
# By bytes a number, relative to the largest eigenvalue: where a positive matrix has no smaller one, a cut only adds to the error
CLEAR_OF_ROUNDING = {4: 1e-5, 8: 1e-10}
_FEW = 8  # landmarks: fewer are not divided into halves


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
