r"""The best signed combination of a dictionary's columns on a sample of rows, compressed to fewer.

On rows Y take :math:`C(Y) = QR`, :math:`R = U\Sigma V^T`, the Kreĭn Gram matrix :math:`(QU)^T k(Y, Y)\,QU = W\Lambda W^T`, and
map x to :math:`C(x)\,V\Sigma^{-1}W|\Lambda|^{1/2}` with signature sign Λ, the largest :math:`|\Lambda|` first: the first columns of
a decomposition are the best map of any smaller width. The matrix :math:`C^TC` is never formed, as it has half the digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import linalg

from krein._core.staircase import as_staircase
from krein._core.threads import blas_threads
from krein.features.choice import first_nearly_best
from krein.features.feature_map import FeatureMap
from krein.features.held_out import CHECK_COLUMNS, Gram, held_out_gram, relative_error, upper_error

__all__ = ["Decomposed", "Projection", "decompose", "project"]

TRUNCATIONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11)  # of the largest singular value, the coarsest first
_ROWS_PER_BLOCK = 1024  # of the kernel matrix: 64 MiB of it at 8,192 rows


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """What a projection gave.

    Parameters
    ----------
    feature_map : FeatureMap
    truncation : float
        Singular values below this part of the largest were dropped.
    error : float
        Relative error on the rows that chose it.
    """

    feature_map: FeatureMap
    truncation: float
    error: float


@final
@dataclass(frozen=True, eq=False)
class Decomposed:
    """A dictionary whose combinations are sorted: the first of them are the best map of any width.

    Parameters
    ----------
    wide : FeatureMap
        The dictionary.
    matrix : ndarray of shape (n_columns, rank)
        Its columns times this are features.
    signs : ndarray of shape (rank,)
    truncation : float
        Singular values below this part of the largest were dropped.
    checked : ndarray of shape (n_check, rank)
        Features of the rows that chose the truncation.
    exact : ndarray of shape (n_check, at most n_check)
        Their kernel matrix, see `krein.features.held_out.held_out_gram`.
    """

    wide: FeatureMap
    matrix: np.ndarray
    signs: np.ndarray
    truncation: float
    checked: np.ndarray
    exact: np.ndarray

    @property
    def rank(self) -> int:
        """How many directions there are."""
        return int(self.signs.size)

    def feature_map(self, width: int) -> FeatureMap:
        """The best map of some width; columns that there are no directions for are zero. Those of one sign are in no order."""
        missing = max(width - self.rank, 0)
        matrix, signs = self.matrix[:, :width], self.signs[:width]
        if self.wide.sections is not None:  # in double precision; in single a rotation of waves would cost digits
            with blas_threads(float(matrix.size) * matrix.shape[1]):
                matrix, signs = as_staircase(matrix, signs)
        matrix = np.pad(matrix, ((0, 0), (0, missing)))
        signs = np.pad(signs, (0, missing), constant_values=1.0)
        return replace(self.wide, projection=matrix, projected_signature=signs)

    def error(self, width: int) -> float:
        """Relative error of the map of some width on the rows that chose the truncation."""
        return float(np.linalg.norm(self._left(width))) / (float(np.linalg.norm(self.exact)) or 1.0)

    def upper_error(self, width: int) -> float:
        """The same with two standard errors added, see `krein.features.held_out.upper_error`."""
        return upper_error(self._left(width), self.exact)

    def _left(self, width: int) -> np.ndarray:
        """What the map of some width leaves of the kernel matrix."""
        features = self.checked[:, :width]
        others = features[: self.exact.shape[1]] * self.signs[:width]
        return np.asarray(self.exact - features @ others.T)


def project(wide: FeatureMap, n_outputs: int, fit_rows: np.ndarray, check_rows: np.ndarray, gram: Gram) -> Projection:
    """Compress the columns of a map to `n_outputs`, the truncation chosen on rows not used for the fit."""
    (found,) = decompose([wide], fit_rows, check_rows, gram)
    chosen = found.feature_map(n_outputs)
    return Projection(chosen, found.truncation, relative_error(chosen, check_rows, found.exact))


def decompose(
    wides: Sequence[FeatureMap],
    fit_rows: np.ndarray,
    check_rows: np.ndarray,
    gram: Gram,
    check_columns: int = CHECK_COLUMNS,
) -> list[Decomposed]:
    """Sort the combinations of some dictionaries, all on the same rows, so that the kernel matrix is computed once.

    Of truncations with nearly equal errors the coarsest is taken, see `krein.features.choice`.
    """
    landmarks = [wide.sections.landmarks for wide in wides if wide.sections is not None]
    fit_rows = np.concatenate([fit_rows, *landmarks])
    spans = [_Span.of(wide.columns(fit_rows)) for wide in wides]
    middles = _krein_matrices([span.basis for span in spans], fit_rows, gram)
    exact = held_out_gram(check_rows, gram, check_columns)
    found = []
    for wide, span, middle in zip(wides, spans, middles, strict=True):
        checked = wide.columns(check_rows) @ span.whitened
        rank, truncation = _best_rank(span, middle, checked, exact)
        with blas_threads(4.0 * rank**3):
            spectrum, rotation = np.linalg.eigh(middle[:rank, :rank])
        order = np.argsort(-np.abs(spectrum), kind="stable")
        turn = rotation[:, order] * np.sqrt(np.abs(spectrum[order]))
        signs = np.where(spectrum[order] < 0, -1.0, 1.0)
        with blas_threads(float(rank) ** 2 * wide.n_columns):
            matrix = span.whitened[:, :rank] @ turn
        found.append(Decomposed(wide, matrix, signs, truncation, checked[:, :rank] @ turn, exact))
    return found


@final
@dataclass(frozen=True, eq=False)
class _Span:
    """Orthonormal directions of some columns, those of the largest singular values first: columns @ whitened = basis."""

    basis: np.ndarray
    whitened: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray) -> _Span:
        work = float(columns.shape[1]) ** 2 * columns.shape[0]
        with blas_threads(work):
            (r,) = linalg.qr(columns, mode="r", check_finite=False)
            r = r[: columns.shape[1]]
            _, values, right = linalg.svd(r, full_matrices=False, overwrite_a=True, check_finite=False)
        rank = int(np.count_nonzero(values > TRUNCATIONS[-1] * values[:1]))
        whitened = right[:rank].T / values[:rank]
        with blas_threads(
            work
        ):  # with the rounding that features have: those of Q would be cleaner than what is mapped later
            return cls(columns @ whitened, whitened, values[:rank])


def _best_rank(span: _Span, middle: np.ndarray, checked: np.ndarray, exact: np.ndarray) -> tuple[int, float]:
    """How many directions to keep. They are sorted, so all truncations are compared before any direction is rotated."""
    kept = [int(np.count_nonzero(span.values > truncation * span.values[:1])) for truncation in TRUNCATIONS]
    others, size = checked[: exact.shape[1]], float(np.linalg.norm(exact)) or 1.0

    def error(rank: int) -> float:
        weighted = middle[:rank, :rank] @ others[:, :rank].T
        return float(np.linalg.norm(checked[:, :rank] @ weighted - exact)) / size

    ranks = sorted(set(kept))
    rank = ranks[first_nearly_best([error(rank) for rank in ranks])]
    return rank, TRUNCATIONS[kept.index(rank)]


def _krein_matrices(bases: Sequence[np.ndarray], rows: np.ndarray, gram: Gram) -> list[np.ndarray]:
    """Qᵀ k(Y, Y) Q for each basis Q: each pair of rows once, and k(Y, Y) never held whole."""
    totals = [np.zeros((basis.shape[1],) * 2) for basis in bases]
    for start in range(0, rows.shape[0], _ROWS_PER_BLOCK):
        block = slice(start, start + _ROWS_PER_BLOCK)
        exact = gram(rows[block], rows[start:])
        exact[:, : exact.shape[0]] *= 0.5  # pairs within the block are met from both sides
        for basis, total in zip(bases, totals, strict=True):
            with blas_threads(float(exact.size) * basis.shape[1]):
                total += basis[block].T @ (exact @ basis[start:])
    return [total + total.T for total in totals]
