"""Directions on the unit sphere: independent, or orthogonal in blocks."""

from __future__ import annotations

import numpy as np

__all__ = ["independent_directions", "orthogonal_directions"]


def independent_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Independent rows, each uniform on the sphere."""
    vectors = rng.standard_normal((n, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def orthogonal_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Rows orthogonal within blocks of ``dim``, each uniform on the sphere (Haar: QR with the signs of R's diagonal)."""
    blocks = [np.empty((0, dim))]
    for first in range(0, n, dim):
        q, r = np.linalg.qr(rng.standard_normal((dim, min(dim, n - first))))
        blocks.append((q * np.where(np.diagonal(r) < 0, -1.0, 1.0)).T)
    return np.concatenate(blocks)
