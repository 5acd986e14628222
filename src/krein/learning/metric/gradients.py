r"""Average outer products of gradients.

For :math:`f(x) = \sum_i \alpha_i k(\|x - x_i\|)`: :math:`\nabla f(x) = \sum_i \alpha_i \frac{k'(z_i)}{z_i} (x - x_i)`. For waves,
:math:`f(x) = \sum_j a_j \cos \omega_j^\top x + b_j \sin \omega_j^\top x`:
:math:`\nabla f(x) = \sum_j (b_j \cos \omega_j^\top x - a_j \sin \omega_j^\top x)\, \omega_j`.
"""

from __future__ import annotations

from typing import final

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import share
from krein.kernels import Kernel
from krein.kernels.gram import radial_gram

__all__ = ["GradientProducts", "kernel_gradients", "wave_gradients"]

_ROWS_AT_A_TIME = 256


@final
class GradientProducts:
    r"""Running sum of :math:`\sum_x w_x \sum_o \nabla f_o(x)\, \nabla f_o(x)^\top` over rows x and outputs o.

    Sums of blocks of rows merge into those of all rows, on one machine or many.
    """

    def __init__(self, n_features: int) -> None:
        self.products = np.zeros((n_features, n_features))
        self.weight = 0.0

    def add(self, gradients: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add the gradients at some rows."""
        n_rows = gradients.shape[1]
        if weight is not None:
            gradients = gradients * np.sqrt(weight)[:, None]
        flat = gradients.reshape(-1, gradients.shape[2]).astype(np.float64, copy=False)
        self.products += flat.T @ flat
        self.weight += n_rows if weight is None else float(weight.sum())

    def merge(self, other: GradientProducts) -> None:
        """Add what other sums have of other rows."""
        self.products += other.products
        self.weight += other.weight

    @property
    def mean(self) -> np.ndarray:
        """G, the mean over rows, shape (n_features, n_features)."""
        return np.asarray(self.products / max(self.weight, np.finfo(np.float64).tiny))


def kernel_gradients(kernel: Kernel, X: np.ndarray, rows: np.ndarray, dual: np.ndarray) -> np.ndarray:
    """Gradients at rows X of functions of a radial kernel; a row that is one of the centers leaves that center out."""
    origin = rows.mean(axis=0)  # differences do not depend on it, and lose fewer digits
    X, rows = X - origin, rows - origin
    out = np.empty((dual.shape[1], *X.shape))

    def fill(part: slice) -> None:
        slopes = radial_gram(kernel.radial_slope, X[part], rows)
        totals = slopes @ dual
        for o in range(dual.shape[1]):
            out[o, part] = totals[:, o, None] * X[part] - slopes @ (dual[:, o, None] * rows)

    share(fill, row_blocks(X.shape[0], _ROWS_AT_A_TIME))
    return out


def wave_gradients(X: np.ndarray, frequencies: np.ndarray, cosines: np.ndarray, sines: np.ndarray) -> np.ndarray:
    """Gradients at rows X of sums of waves."""
    angles = X @ frequencies.T
    cosine, sine = np.cos(angles), np.sin(angles)
    out = np.empty((cosines.shape[1], X.shape[0], frequencies.shape[1]))
    for o in range(cosines.shape[1]):
        out[o] = (cosine * sines[:, o] - sine * cosines[:, o]) @ frequencies
    return out
