"""Directions on the unit sphere: independent, in orthogonal blocks, or from a low-discrepancy sequence."""

from __future__ import annotations

import numpy as np

__all__ = ["independent_directions", "orthogonal_directions"]


def independent_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Rows uniform on the sphere, shape (n, dim)."""
    vectors = rng.standard_normal((n, dim))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def orthogonal_directions(n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Rows uniform on the sphere, orthogonal within blocks of dim rows (Haar: QR with the sign of R's diagonal)."""
    blocks = []
    for first in range(0, n, dim):
        count = min(dim, n - first)
        q, r = np.linalg.qr(rng.standard_normal((dim, count)))
        blocks.append((q * np.sign(np.diagonal(r))).T)
    return np.concatenate(blocks) if blocks else np.empty((0, dim))
