r"""Objects as points of a pseudo-Euclidean space, from their distances: classical scaling that keeps the signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from krein._core.rows import row_blocks
from krein._core.threads import quiet_blas
from krein.learning.components import principal_axes
from krein.learning.sums import NormalSums
from krein.matrices.matrix_operator import centered_inner_products, centered_rows, square_means
from krein.nystroem.fitted_nystroem import check_landmarks
from krein.nystroem.spectrum import signed_root, signed_spectrum
from krein.similarities import BlockSource, DirectSource, Similarity

__all__ = ["FittedEmbedding", "fit_embedding"]

_BLOCK = 1024  # objects compared with all landmarks at a time
# Of the largest eigenvalue among landmarks: what is smaller is divided by for objects that are no landmarks, and is noise there.
_LANDMARK_TOL = 1e-3


@final
@dataclass(frozen=True, eq=False)
class FittedEmbedding:
    r"""Coordinates :math:`t(x) = b(x)^\top R - c`, with b the centered inner products with landmarks.

    Parameters
    ----------
    metric : BlockSource
        Whose values are distances.
    landmarks : array or Objects, or ndarray of int for precomputed distances
    means : ndarray of shape (n_landmarks,)
        Mean squared distances of landmarks from each other.
    root : ndarray of shape (n_landmarks, n_components)
    offset : ndarray of shape (n_components,)
    eigenvalues : ndarray of shape (n_components,)
        Of the centered matrix, the largest absolute value first; 0 for columns beyond the rank, which are zero.
    """

    metric: BlockSource
    landmarks: Any
    means: np.ndarray
    root: np.ndarray
    offset: np.ndarray
    eigenvalues: np.ndarray

    def __post_init__(self) -> None:
        check_landmarks(self.metric, self.landmarks)
        if self.landmarks.shape[0] != self.means.size:
            raise ValueError(
                f"means must be those of {self.landmarks.shape[0]} landmarks, got {self.means.size} of them"
            )
        m, width = self.means.size, self.eigenvalues.size
        if self.means.shape != (m,) or self.root.shape != (m, width) or self.offset.shape != (width,):
            raise ValueError(
                f"means, root and offset must be of the same landmarks and columns, got shapes {self.means.shape}, "
                f"{self.root.shape} and {self.offset.shape}"
            )
        for name in ("means", "root", "offset", "eigenvalues"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} must be finite")

    @property
    def signature(self) -> np.ndarray:
        """±1 for each column; columns of zeros count as positive."""
        return np.where(self.eigenvalues < 0.0, -1.0, 1.0)

    def __call__(self, X: Any) -> np.ndarray:
        """Coordinates of placed objects."""
        out = np.empty((X.shape[0], self.eigenvalues.size))
        for rows in row_blocks(X.shape[0], _BLOCK):
            products = centered_rows(self.metric.block(X[rows], self.landmarks), self.means)
            with quiet_blas():
                out[rows] = products @ self.root - self.offset
        return out


def fit_embedding(
    metric: BlockSource,
    X: Any,
    n_components: int,
    n_landmarks: int,
    rng: np.random.Generator,
) -> tuple[FittedEmbedding, np.ndarray]:
    r"""Principal axes of the objects in the space that landmarks span.

    .. math:: -\tfrac12 H D_{LL}^2 H = U \Lambda U^\top, \qquad \phi(x) = b(x)^\top U |\Lambda|^{-1/2}

    are features with the signature of :math:`\Lambda`; the axes are those of `krein.learning.components.principal_axes`, as in
    `krein.KreinPCA`. With all objects as landmarks this is classical scaling, negative eigenvalues included. No distance is
    computed twice.
    """
    n = X.shape[0]
    chosen = np.arange(n) if n_landmarks >= n else np.sort(rng.choice(n, size=n_landmarks, replace=False))
    others = np.setdiff1d(np.arange(n), chosen)
    if isinstance(metric, Similarity):
        trained = metric.training(X[chosen])
        metric, landmarks, distances = trained.similarity, trained.rows, trained.matrix
    else:
        assert isinstance(metric, DirectSource)
        metric = metric.settled(X)
        landmarks = metric.landmarks(X, chosen)
        distances = np.asarray(metric.square(X, landmarks), dtype=np.float64)
    means = square_means(distances)
    with quiet_blas():
        spectrum = signed_spectrum(centered_inner_products(distances))
        root, signature, _ = signed_root(spectrum, _LANDMARK_TOL if others.size else 0.0)
        features = np.empty((n, root.shape[1]))
        features[chosen] = centered_rows(distances, means) @ root
    for part in row_blocks(others.size, _BLOCK):
        block = metric.block(X[others[part]], landmarks)
        with quiet_blas():
            features[others[part]] = centered_rows(block, means) @ root
    width = int(n_components)
    values, turn, offset = np.zeros(width), np.zeros((root.shape[1], width)), np.zeros(width)
    if root.shape[1]:
        sums = NormalSums()
        sums.add(features)
        scatter = sums.centered()
        found = principal_axes(scatter.gram, signature, width)
        kept = slice(found.values.size)
        values[kept], turn[:, kept] = found.values, found.components.T
        offset = scatter.mean @ turn
    with quiet_blas():
        coordinates = features @ turn - offset
        return FittedEmbedding(metric, landmarks, means, root @ turn, offset, values), coordinates
