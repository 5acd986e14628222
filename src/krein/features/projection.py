r"""The best signed combination of the drawn columns on a sample of rows, compressed to fewer.

On rows Y take :math:`\Phi(Y) = U\Sigma V^T`, the Kreĭn Gram matrix :math:`U^T k(Y, Y)\,U = Q\Lambda Q^T`, and map x to
:math:`\Phi(x)\,V\Sigma^{-1}Q|\Lambda|^{1/2}` with signature sign Λ, keeping the largest :math:`|\Lambda|`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.threads import blas_threads
from krein.features.calibration import Gram, held_out_gram, relative_error
from krein.features.choice import first_nearly_best
from krein.features.feature_map import FeatureMap

__all__ = ["Projection", "project"]

TRUNCATIONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # of the largest singular value, the coarsest first
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


def project(wide: FeatureMap, n_outputs: int, fit_rows: np.ndarray, check_rows: np.ndarray, gram: Gram) -> Projection:
    """Compress the columns of a map to `n_outputs`, the truncation chosen on rows not used for the fit.

    Of truncations with nearly equal errors the coarsest is taken, see `krein.features.choice`.

    Parameters
    ----------
    wide : FeatureMap
        Without projection, with more columns than `n_outputs`.
    n_outputs : int
    fit_rows, check_rows : ndarray of shape (m, dim)
        More fit rows than columns, several times as many to be safe.
        Placed.
    gram : callable
        ``gram(A, B)`` is the exact kernel matrix of placed rows.

    Returns
    -------
    Projection
    """
    columns = wide.columns(fit_rows)
    with blas_threads(columns.size * columns.shape[1]):
        values, vectors = np.linalg.eigh(columns.T @ columns)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = [int(np.count_nonzero(values > truncation**2 * values[0])) for truncation in TRUNCATIONS]
    whitened = vectors[:, : kept[-1]] / np.sqrt(values[: kept[-1]])
    middle = whitened.T @ _quadratic_form(columns, fit_rows, gram) @ whitened
    # Directions are sorted, so a truncation keeps the first of them; all of one are judged before any is rotated.
    exact = held_out_gram(check_rows, gram)
    checked = wide.columns(check_rows) @ whitened
    others = checked[: exact.shape[1]]

    def error(rank: int) -> float:
        return float(np.linalg.norm(checked[:, :rank] @ middle[:rank, :rank] @ others[:, :rank].T - exact))

    ranks = sorted(set(kept))
    size = float(np.linalg.norm(exact)) or 1.0
    rank = ranks[first_nearly_best([error(rank) / size for rank in ranks])]
    spectrum, rotation = np.linalg.eigh(middle[:rank, :rank])
    order = np.argsort(-np.abs(spectrum), kind="stable")[:n_outputs]
    matrix = (whitened[:, :rank] @ rotation[:, order]) * np.sqrt(np.abs(spectrum[order]))
    signs = np.where(spectrum[order] < 0, -1.0, 1.0)
    missing = n_outputs - order.size
    if missing:  # fewer directions than asked for: the rest of the columns are zero
        matrix = np.pad(matrix, ((0, 0), (0, missing)))
        signs = np.pad(signs, (0, missing), constant_values=1.0)
    chosen = replace(wide, projection=matrix, projected_signature=signs)
    return Projection(chosen, TRUNCATIONS[kept.index(rank)], relative_error(chosen, check_rows, exact))


def _quadratic_form(columns: np.ndarray, rows: np.ndarray, gram: Gram) -> np.ndarray:
    """Φᵀ k(Y, Y) Φ, without ever holding k(Y, Y)."""
    total = np.zeros((columns.shape[1],) * 2)
    for start in range(0, rows.shape[0], _ROWS_PER_BLOCK):
        block = slice(start, start + _ROWS_PER_BLOCK)
        exact = gram(rows[block], rows)
        with blas_threads(2 * exact.shape[0] * columns.size):
            total += columns[block].T @ (exact @ columns)
    return (total + total.T) / 2
