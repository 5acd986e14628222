"""The feature map: head columns, cosines and sines with signed weights, and optionally a projection onto fewer columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein.features.head import HeadBasis
from krein.features.trig import trig_map
from krein.features.walsh import hadamard_trig_map
from krein.sampling import Frequencies

__all__ = ["FeatureMap"]

_BLOCK_BYTES = 1 << 24


@final
@dataclass(frozen=True, eq=False)
class FeatureMap:
    r"""A fixed map :math:`\Phi` with signature :math:`\sigma`: :math:`(\Phi(X)\cdot\sigma)\,\Phi(Y)^T` estimates k(X, Y).

    Columns are the head's, then the cosines, then the sines, each scaled by the root of its weight's size and signed by
    its weight; a column of zeros pads an odd width. With a projection T they are multiplied by it and the signature is T's own.

    Parameters
    ----------
    basis : HeadBasis
    frequencies : Frequencies
    head_weights : ndarray of shape (n_head,)
        Signed; `basis.weights` unless calibrated.
    wave_weights : ndarray of shape (n_frequencies,)
        Signed; ``frequencies.weights`` unless calibrated.
    padding : int
        Columns of zeros at the end.
    projection : ndarray of shape (n_columns, n_outputs) or None
    projected_signature : ndarray of shape (n_outputs,) or None
    """

    basis: HeadBasis
    frequencies: Frequencies
    head_weights: np.ndarray
    wave_weights: np.ndarray
    padding: int = 0
    projection: np.ndarray | None = None
    projected_signature: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Columns before any projection."""
        return self.basis.n_columns + 2 * len(self.frequencies) + self.padding

    @property
    def n_outputs(self) -> int:
        """Output columns."""
        return self.n_columns if self.projection is None else self.projection.shape[1]

    @property
    def column_weights(self) -> np.ndarray:
        """Signed weight of every column before any projection."""
        return np.concatenate([self.head_weights, self.wave_weights, self.wave_weights, np.zeros(self.padding)])

    @property
    def signature(self) -> np.ndarray:
        """±1 for each output column; +1 for columns that are zero."""
        if self.projected_signature is not None:
            return self.projected_signature
        return np.where(self.column_weights < 0, -1.0, 1.0)

    def names(self) -> list[str]:
        """Names of the output columns: part, kind and sign."""
        signs = ["-" if s < 0 else "+" for s in self.signature]
        if self.projection is not None:
            return [f"projected{i}{sign}" for i, sign in enumerate(signs)]
        s = len(self.frequencies)
        kinds = self.basis.names() + [f"cos{j}" for j in range(s)] + [f"sin{j}" for j in range(s)]
        kinds += [f"zero{j}" for j in range(self.padding)]
        return [kind + sign for kind, sign in zip(kinds, signs, strict=True)]

    def columns(self, X: Any) -> np.ndarray:
        """All columns of rows X before any projection, shape (n, n_columns), dtype of X."""
        out = np.empty((X.shape[0], self.n_columns), dtype=X.dtype)
        self._write_columns(X, out)
        return out

    @property
    def plain(self) -> bool:
        """Whether rows are mapped one by one in one pass: no projection, no fast transform."""
        return self.projection is None and self.frequencies.structure is None

    def write(self, X: Any, out: np.ndarray) -> None:
        """Features of rows X (dense or CSR), written to `out` of shape (n, n_outputs) and the dtype of X."""
        if self.projection is None:
            self._write_columns(X, out)
            return
        projection = self.projection.astype(out.dtype, copy=False)
        step = max(1, _BLOCK_BYTES // (self.n_columns * out.itemsize))
        buffer = np.empty((min(step, X.shape[0]), self.n_columns), dtype=out.dtype)
        for start in range(0, X.shape[0], step):
            rows = slice(start, min(start + step, X.shape[0]))
            part = buffer[: rows.stop - rows.start]
            self._write_columns(X[rows], part)
            np.matmul(part, projection, out=out[rows])

    def _write_columns(self, X: Any, out: np.ndarray) -> None:
        h, s, dtype = self.basis.n_columns, len(self.frequencies), out.dtype
        # Waves first: their threads share the cost of touching fresh memory, which the head's thread would bear alone.
        amplitudes = np.sqrt(np.abs(self.wave_weights)).astype(dtype)
        waves, structure = out[:, h : h + 2 * s], self.frequencies.structure
        if structure is not None:
            radii = structure.radii.astype(dtype)
            hadamard_trig_map(X, structure.signs, radii, amplitudes, waves)
        else:
            vectors = self.frequencies.vectors.astype(dtype, copy=False)
            trig_map(X, vectors, amplitudes, waves)
        if h:
            amplitudes = np.sqrt(np.abs(self.head_weights)).astype(dtype)
            step = max(1, _BLOCK_BYTES // (8 * max(self.basis.dim, 1) * 4))
            for start in range(0, X.shape[0], step):
                rows = slice(start, min(start + step, X.shape[0]))
                block = X[rows]
                self.basis.write(block.toarray() if sp.issparse(block) else block, amplitudes, out[rows, :h])
        out[:, h + 2 * s :] = 0
