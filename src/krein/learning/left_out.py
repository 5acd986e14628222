r"""What a linear model on features says of the rows it was fitted on, had each not been there.

.. math:: \hat y_{-i} = \frac{\hat y_i - h_i y_i}{1 - h_i}, \qquad
          h_i = w_i \bigl[(z_i - \bar z)^\top (G + n\lambda R)^{-1} (z_i - \bar z) + 1/n\bigr]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import linalg

from krein._core.threads import blas_threads
from krein.learning.sums import CenteredSums
from krein.rows.feature_blocks import Features, feature_blocks

__all__ = ["LeftOutModel", "left_out_model"]

_LARGEST_HAT = 1.0 - 1e-6  # of h: where rounding makes it 1, a row still has a prediction


@final
@dataclass(frozen=True, eq=False)
class LeftOutModel:
    """A fitted linear model with the leverage of each row.

    Parameters
    ----------
    features : Features
    coef : ndarray of shape (n_outputs, n_components)
    intercept : ndarray of shape (n_outputs,)
    factor : ndarray of shape (n_components, n_components)
        Upper triangular R with :math:`R^\\top R` the system.
    mean : ndarray of shape (n_components,)
    constant : float
        What the intercept adds to h: 1/n, or 0 without one.
    """

    features: Features
    coef: np.ndarray
    intercept: np.ndarray
    factor: np.ndarray
    mean: np.ndarray
    constant: float

    def __call__(self, X: Any, targets: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Predictions of rows that were fitted on, each without itself."""
        out = np.empty(targets.shape)
        for block in feature_blocks(self.features, X, checked=True):
            Z = block.Z.astype(np.float64, copy=False)
            with blas_threads(float(Z.shape[0]) * self.factor.size):
                inner = linalg.solve_triangular(self.factor, (Z - self.mean).T, trans="T", check_finite=False)
            hat = np.einsum("ij,ij->j", inner, inner) + self.constant
            if weight is not None:
                hat *= weight[block.index]
            hat = np.minimum(hat, _LARGEST_HAT)[:, None]
            fitted = Z @ self.coef.T + self.intercept
            out[block.index] = (fitted - hat * targets[block.index]) / (1.0 - hat)
        return out


def left_out_model(
    features: Features, sums: CenteredSums, lam: tuple[float, float], coef: np.ndarray, intercept: np.ndarray
) -> LeftOutModel:
    """Factorize the system of a fitted ridge model once for all rows."""
    system = sums.gram.copy()
    system[np.diag_indices_from(system)] += sums.weight * np.where(features.signature > 0, *lam)
    try:
        with blas_threads(float(system.shape[0]) ** 3 / 3.0):
            factor = linalg.cholesky(system, check_finite=False)
    except linalg.LinAlgError:  # λ below rounding: eigenvalues can be kept above it
        values, vectors = linalg.eigh(system)
        least = np.finfo(np.float64).eps * values[-1] * values.size
        factor = linalg.qr(np.sqrt(np.maximum(values, least))[:, None] * vectors.T, mode="r")[0]
    constant = 1.0 / sums.weight if sums.intercept else 0.0
    return LeftOutModel(features, coef, intercept, factor, sums.mean, constant)
