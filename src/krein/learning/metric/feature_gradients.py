r"""Gradients of a linear model on features, in closed form: sums of their outer products stream, and add up over machines.

A model is :math:`f(x) = \sum_c w_c \phi_c(x)` with columns of three kinds: waves, sections of a kernel, and a polynomial head in
the coordinates :math:`u = x - c` and :math:`a = \|u\|^2 / s`,

.. math:: p(a) + \sum_i u_i q_i(a) + u^\top D u, \qquad
          \nabla = \tfrac{2}{s}\Bigl(p'(a) + \sum_j u_j q_j'(a)\Bigr) u + q(a) + (D + D^\top) u .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein.features.columns import HeadColumns, SectionColumns, WaveColumns
from krein.features.feature_map import FeatureMap
from krein.learning.metric.gradients import GradientProducts, kernel_gradients, wave_gradients

__all__ = ["FeatureGradients"]


@final
@dataclass(frozen=True, eq=False)
class FeatureGradients:
    """Gradients of linear functions of the features of a map.

    Parameters
    ----------
    feature_map : FeatureMap
        Of a kernel on all of space.
    coef : ndarray of shape (n_functions, n_outputs)
        Of each function, a coefficient for each column of the map.
    """

    feature_map: FeatureMap
    coef: np.ndarray

    def __post_init__(self) -> None:
        width = self.feature_map.n_outputs
        if self.coef.ndim != 2 or self.coef.shape[1] != width:
            raise ValueError(f"coef must have a column for each of {width} features, got shape {self.coef.shape}")
        if self.feature_map.basis.sphere:
            raise ValueError("gradients are those of a map on all of space, and this one is on the sphere")

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Gradients at placed rows, shape (n_functions, n_rows, n_features), float64."""
        X = np.asarray(X, dtype=np.float64)
        found = self.feature_map
        coef = self.coef if found.projection is None else self.coef @ found.projection.T
        out = np.zeros((coef.shape[0], *X.shape))
        start = 0
        for part in found.parts:
            mine = coef[:, start : start + part.n_columns]
            start += part.n_columns
            if not part.n_columns:
                continue
            if isinstance(part, SectionColumns):
                out += kernel_gradients(part.kernel, X, part.landmarks, mine.T)
                continue
            mine = mine * np.sqrt(np.abs(part.column_weights))
            if isinstance(part, WaveColumns):
                cosines, sines = np.split(mine.T, 2)
                out += wave_gradients(X, part.frequencies.vectors, cosines, sines)
            elif isinstance(part, HeadColumns):
                out += _head_gradients(part, X, mine)
        return out

    def add(self, sums: GradientProducts, start: int, X: Any, y: Any = None, weight: np.ndarray | None = None) -> None:
        """Add the outer products of the gradients at a block of rows, as `krein.rows.dask_rows.DaskRows.reduce` calls it."""
        sums.add(self(X), weight)


def _head_gradients(part: HeadColumns, X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    basis = part.basis
    u = X - basis.center
    a = np.square(u).sum(axis=1) / basis.scale
    radial, linear, dim = basis.radial_mix.shape[0], basis.linear_mix.shape[0], basis.dim
    powers = np.stack([a**m for m in range(max(radial, linear, 1))])
    slopes = np.stack([m * a ** max(m - 1, 0) for m in range(len(powers))])
    out = np.empty((coef.shape[0], *X.shape))
    for function, weights in enumerate(coef):
        p = basis.radial_mix @ weights[:radial]
        q = basis.linear_mix @ weights[radial : radial + linear * dim].reshape(linear, dim)
        along = p @ slopes[:radial] + np.einsum("ij,ij->i", u, slopes[:linear].T @ q)
        out[function] = 2.0 / basis.scale * along[:, None] * u + powers[:linear].T @ q
        if basis.degree >= 2:
            products = np.zeros((dim, dim))
            products[np.triu_indices(dim)] = weights[radial + linear * dim :]
            out[function] += u @ (products + products.T)
    return out
