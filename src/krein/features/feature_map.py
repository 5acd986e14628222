"""The feature map: head, cosines and sines with signed weights, kernel sections; optionally a projection onto fewer columns.

A column c with the signed weight :math:`a_c` is :math:`|a_c|^{1/2} b_c(x)`, its sign that of the weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from krein._core.checks import frozen_array, integer
from krein._core.rows import row_blocks, unit_rows
from krein._core.staircase import Staircase
from krein._core.threads import share_with
from krein.features.head import HeadBasis
from krein.features.sections import Sections
from krein.features.waves import hadamard_trig_map, trig_map
from krein.kernels import Kernel
from krein.sampling import Frequencies

__all__ = ["FeatureMap", "HeadColumns", "SectionColumns", "WaveColumns"]

_DENSE_ENTRIES = 1 << 19  # of a block of sparse rows made dense for the head, 4 MiB
_BLOCK_BYTES = 1 << 21  # of columns before a projection, for the rows that a thread has at a time


@final
@dataclass(frozen=True, eq=False)
class HeadColumns:
    """The columns of a polynomial head."""

    basis: HeadBasis
    weights: np.ndarray

    @property
    def n_columns(self) -> int:
        return self.basis.n_columns

    @property
    def column_weights(self) -> np.ndarray:
        return self.weights

    def names(self) -> list[str]:
        return self.basis.names()

    def write(self, X: Any, out: np.ndarray) -> None:
        amplitudes = np.sqrt(np.abs(self.weights)).astype(out.dtype)
        if not sp.issparse(X):
            self.basis.write(X, amplitudes, out)
            return
        for rows in row_blocks(X.shape[0], max(1, _DENSE_ENTRIES // max(self.basis.dim, 1))):
            self.basis.write(X[rows].toarray(), amplitudes, out[rows])


@final
@dataclass(frozen=True, eq=False)
class WaveColumns:
    """A cosine and a sine for each frequency, all cosines first; both have the frequency's weight."""

    frequencies: Frequencies
    weights: np.ndarray

    @property
    def n_columns(self) -> int:
        return 2 * len(self.frequencies)

    @property
    def column_weights(self) -> np.ndarray:
        return np.tile(self.weights, 2)

    def names(self) -> list[str]:
        return [f"{kind}{j}" for kind in ("cos", "sin") for j in range(len(self.frequencies))]

    def write(self, X: Any, out: np.ndarray) -> None:
        amplitudes = np.sqrt(np.abs(self.weights)).astype(out.dtype)
        structure = self.frequencies.structure
        if structure is not None:
            hadamard_trig_map(X, structure.signs, structure.radii.astype(out.dtype), amplitudes, out)
        elif len(self.frequencies):
            trig_map(X, self.frequencies.vectors.astype(out.dtype, copy=False), amplitudes, out)


@final
@dataclass(frozen=True, eq=False)
class SectionColumns:
    r"""Sections of the kernel: :math:`k(x, l)` for each landmark l.

    Parameters
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (n_landmarks, dim)
        Placed rows, at least one.
    """

    kernel: Kernel
    landmarks: np.ndarray

    def __post_init__(self) -> None:
        landmarks = frozen_array(self.landmarks, "landmarks", (None, None))
        if not landmarks.size:
            raise ValueError(f"landmarks must be rows, at least one, got an array of shape {landmarks.shape}")
        if self.kernel.domain == "sphere":
            unit_rows(landmarks, normalize=False, name="landmarks")
        object.__setattr__(self, "landmarks", landmarks)

    @property
    def dim(self) -> int:
        """Entries of a row."""
        return int(self.landmarks.shape[1])

    @property
    def n_columns(self) -> int:
        return int(self.landmarks.shape[0])

    @property
    def column_weights(self) -> np.ndarray:
        return np.ones(self.n_columns)

    def names(self) -> list[str]:
        return [f"section{j}" for j in range(self.n_columns)]

    @cached_property
    def _loop(self) -> Sections:
        return Sections(self.kernel, self.landmarks)

    def write(self, X: Any, out: np.ndarray) -> None:
        self._loop.write(X, out)


@final
@dataclass(frozen=True, eq=False)
class FeatureMap:
    r"""A fixed map :math:`\Phi` with signature :math:`\sigma`: :math:`(\Phi(X)\cdot\sigma)\,\Phi(Y)^T` estimates k(X, Y).

    Columns are the head's, then the cosines, then the sines, each scaled by the root of its weight's size and signed by
    its weight, then sections of the kernel; columns of zeros fill up the width. With a projection T they are multiplied by it
    and the signature is T's own.

    Parameters
    ----------
    basis : HeadBasis
    frequencies : Frequencies
    head_weights : ndarray of shape (n_head,)
        Signed; `basis.weights` unless calibrated.
    wave_weights : ndarray of shape (n_frequencies,)
        Signed; ``frequencies.weights`` unless calibrated.
    padding : int
        Columns of zeros at the end: one for an odd width, and all that a kernel which is its own head has no use for.
    projection : ndarray of shape (n_columns, n_outputs) or None
    projected_signature : ndarray of shape (n_outputs,) or None
    sections : SectionColumns or None
        Only a projection makes sense of them.
    """

    basis: HeadBasis
    frequencies: Frequencies
    head_weights: np.ndarray
    wave_weights: np.ndarray
    padding: int = 0
    projection: np.ndarray | None = None
    projected_signature: np.ndarray | None = None
    sections: SectionColumns | None = None

    def __post_init__(self) -> None:
        if self.basis.dim != self.frequencies.dim:
            raise ValueError(
                f"head and frequencies must be of the same dimension, got {self.basis.dim} and {self.frequencies.dim}"
            )
        if self.sections is not None and self.sections.dim != self.basis.dim:
            raise ValueError(
                f"landmarks must have as many entries as the head's rows, {self.basis.dim}, got {self.sections.dim}"
            )
        integer(self.padding, "padding", least=0)
        arrays = {
            "head_weights": frozen_array(self.head_weights, "head_weights", (self.basis.n_columns,)),
            "wave_weights": frozen_array(self.wave_weights, "wave_weights", (len(self.frequencies),)),
        }
        if (self.projection is None) != (self.projected_signature is None):
            raise ValueError("a projection and its signature come together, got one of them only")
        if self.projection is not None:
            arrays["projection"] = frozen_array(self.projection, "projection", (self.n_columns, None))
            width = arrays["projection"].shape[1]
            arrays["projected_signature"] = frozen_array(self.projected_signature, "projected_signature", (width,))
            if (np.abs(arrays["projected_signature"]) != 1.0).any():
                raise ValueError("projected_signature must be made of +1 and -1, got other numbers")
        for name, array in arrays.items():
            object.__setattr__(self, name, array)

    @property
    def parts(self) -> tuple[HeadColumns | WaveColumns | SectionColumns, ...]:
        """The kinds of columns, in the order of the columns."""
        plain = HeadColumns(self.basis, self.head_weights), WaveColumns(self.frequencies, self.wave_weights)
        return plain if self.sections is None else (*plain, self.sections)

    @property
    def dim(self) -> int:
        """Columns of the rows that are mapped."""
        return self.basis.dim

    @property
    def n_columns(self) -> int:
        """Columns before any projection."""
        return sum(part.n_columns for part in self.parts) + self.padding

    @property
    def n_outputs(self) -> int:
        """Output columns."""
        return self.n_columns if self.projection is None else int(self.projection.shape[1])

    @property
    def rank(self) -> int:
        """Output columns that are not zero for all rows: the rank of the approximation is at most this."""
        if self.projection is not None:
            return int(np.count_nonzero(self.projection.any(axis=0)))
        return int(np.count_nonzero(self.column_weights))

    @property
    def column_weights(self) -> np.ndarray:
        """Signed weight of every column before any projection."""
        return np.concatenate([*(part.column_weights for part in self.parts), np.zeros(self.padding)])

    @property
    def signature(self) -> np.ndarray:
        """±1 for each output column; +1 for columns that are zero."""
        if self.projected_signature is not None:
            return self.projected_signature
        return np.where(self.column_weights < 0, -1.0, 1.0)

    @property
    def plain(self) -> bool:
        """Whether rows are mapped one by one in one pass: no projection, no sections, no fast transform."""
        return self.projection is None and self.sections is None and self.frequencies.structure is None

    def names(self) -> list[str]:
        """Names of the output columns: part, kind and sign, such as ``cos3-``; ``zero0+`` and so on fill up the width."""
        if self.projection is not None:
            kinds = [f"projected{i}" for i in range(self.rank)]  # those that are zero come last
        else:
            kinds = [name for part in self.parts for name in part.names()]
        kinds += [f"zero{i}" for i in range(self.n_outputs - len(kinds))]
        return [kind + ("-" if sign < 0 else "+") for kind, sign in zip(kinds, self.signature, strict=True)]

    def columns(self, X: Any) -> np.ndarray:
        """All columns of rows X before any projection."""
        out = np.empty((X.shape[0], self.n_columns), dtype=X.dtype)
        self._write_columns(X, out)
        return out

    def write(self, X: Any, out: np.ndarray) -> None:
        """Write the features of placed rows."""
        if self.projection is None:
            self._write_columns(X, out)
            return
        # sections are nearly dependent, so that sums of them cancel: double precision, whatever the rows have
        dtype = out.dtype if self.sections is None else np.dtype(np.float64)
        stairs = self._stairs.get(dtype)
        if stairs is None:
            stairs = self._stairs[dtype] = Staircase.of(self.projection.astype(dtype), self.signature)
        step = max(1, _BLOCK_BYTES // (self.n_columns * dtype.itemsize))
        in_place = stairs.in_place and out.dtype == dtype and out.flags.c_contiguous

        def worker() -> Callable[[slice], None]:
            buffer = np.empty((0 if in_place else min(step, X.shape[0]), self.n_columns), dtype=dtype)

            def work(rows: slice) -> None:
                part = out[rows] if in_place else buffer[: rows.stop - rows.start]
                self._write_columns(X[rows].astype(dtype, copy=False), part)
                stairs.multiply(part, part if in_place else out[rows])

            return work

        share_with(worker, row_blocks(X.shape[0], step))

    @cached_property
    def _stairs(self) -> dict[np.dtype[Any], Staircase]:
        """The projection as products with it are taken, by the type they are taken in."""
        return {}

    def _write_columns(self, X: Any, out: np.ndarray) -> None:
        end = self.n_columns - self.padding
        out[:, end:] = 0
        # Waves before the head: their threads share the cost of touching fresh memory, which the head's would bear alone.
        for part in reversed(self.parts):
            start = end - part.n_columns
            part.write(X, out[:, start:end])
            end = start
