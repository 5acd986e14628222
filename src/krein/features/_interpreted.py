"""The instructions of :mod:`krein.features._vectors` in plain numpy, for ``NUMBA_DISABLE_JIT=1``.

Where numba does not compile, the loops of :mod:`krein.features._kernels` run as the Python functions they are: slowly, with the
same results up to rounding. That is for a debugger or a coverage report.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["Tile", "butterfly"]


class Tile:
    """The register tile of a processor.

    Parameters
    ----------
    rows : int
        Rows of packed data.
    vectors, vector_bytes : int
        Vectors of packed frequencies, and their size.
    """

    def __init__(self, rows: int, vectors: int, vector_bytes: int) -> None:
        self.rows, self.vectors, self.vector_bytes = rows, vectors, vector_bytes

    def project(
        self, x: np.ndarray, x_at: int, w: np.ndarray, w_at: int, depth: int, t: np.ndarray, t_at: int, t_stride: int
    ) -> None:
        """``t[r, c] = sum_k x[k, r] w[k, c]`` for one tile of packed rows and packed frequencies."""
        columns = self.vectors * self.vector_bytes // t.itemsize
        left = x[x_at : x_at + depth * self.rows].reshape(depth, self.rows)
        right = w[w_at : w_at + depth * columns].reshape(depth, columns)
        for r, row in enumerate(left.T @ right):
            t[t_at + r * t_stride :][:columns] = row

    def deinterleave(self, v: np.ndarray, at: int, t: np.ndarray, t_at: int, t_stride: int) -> None:
        """``t[r, c] = v[c, r]`` for as many rows and columns as a vector has lanes."""
        lanes = self.vector_bytes // v.itemsize
        for r, row in enumerate(v[at : at + lanes * lanes].reshape(lanes, lanes).T):
            t[t_at + r * t_stride :][:lanes] = row


def butterfly(stages: int, vector_bytes: int) -> Callable[[np.ndarray, int, int], None]:
    """``stages`` stages of the transform on the 2^stages vectors at ``at``, ``at + step``, …"""

    def run(v: np.ndarray, at: int, step: int) -> None:
        lanes = vector_bytes // v.itemsize
        places = [slice(at + i * step, at + i * step + lanes) for i in range(2**stages)]
        values = [v[place].copy() for place in places]
        for stage in range(stages):
            for i in range(2**stages):
                if not i >> stage & 1:
                    a, b = values[i], values[i + 2**stage]
                    values[i], values[i + 2**stage] = a + b, a - b
        for place, value in zip(places, values, strict=True):
            v[place] = value

    return run
