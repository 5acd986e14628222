"""Kernel sections k(x, l) of many rows at some landmarks: distances, and a table of the radial function, in one compiled pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from krein._core.rows import dense_block, row_blocks, row_norms
from krein.features._blocks import (
    FloatArray,
    Work,
    check_writable,
    compiled_kernels,
    flat_output,
    in_c_order,
    map_through_buffer,
    plain_rows,
    rows_per_block,
    share_rows,
    thread_count,
)
from krein.features.radial_table import BITS, RadialTable, radial_table
from krein.features.trig import PackedFrequencies, packed_frequencies
from krein.kernels import Kernel

__all__ = ["Sections", "compiled_gram"]

_CLOSE = 1e-5  # of ‖x‖² + ‖l‖²: squared distances below have lost too many digits
_ROOM = 4.0  # distances that are provided for, in lengths of the farthest landmark from the middle
_VALUE_WORK = 16  # multiply–adds that a value of the kernel is worth
_DIAMETER = 2.0  # of the sphere
_FARTHEST = 1e100  # reach of rows whose distances have squares
_FEW = 0.05  # of the values of a block that are missing, and are filled in one by one


@final
@dataclass(frozen=True, eq=False)
class Sections:
    """The function that writes k(X, L); it holds what does not depend on the rows.

    Parameters
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (n_landmarks, dim), float64
        Placed rows.
    table : RadialTable, default=None
        Of the kernel's radial function, where there is one already; it is made for distances as these landmarks have them. A
        kernel that does not know all distances has none, and is asked itself.
    """

    kernel: Kernel
    landmarks: np.ndarray
    table: RadialTable | None = None

    def __post_init__(self) -> None:
        if self.table is None:
            object.__setattr__(self, "table", _table_for(self.kernel, self.landmarks))

    @cached_property
    def _middle(self) -> np.ndarray:
        return np.asarray(self.landmarks.mean(axis=0))  # fewer digits cancel around it

    @cached_property
    def _packed(self) -> tuple[PackedFrequencies, np.ndarray]:
        centered = self.landmarks - self._middle
        return packed_frequencies(compiled_kernels(), centered), np.einsum("ij,ij->i", centered, centered)

    def write(self, X: Any, out: FloatArray) -> None:
        """Write k(x, l) for all rows and landmarks.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, dim)
            Placed rows.
        out : ndarray of shape (n, n_landmarks), float64
            May be a slice of columns of a larger array.

        Notes
        -----
        A value does not depend on the other rows, on the blocks or on the number of threads, to the last bit. Values differ
        from those of `Kernel.gram` by 1e-14 of the largest, or by rounding of the distance.
        """
        (n, d), s = X.shape, len(self.landmarks)
        if out.shape != (n, s) or d != self.landmarks.shape[1] or out.dtype != np.float64:
            raise ValueError(
                f"out must be float64 of shape {(n, s)} and X have {self.landmarks.shape[1]} columns, got {out.dtype}, "
                f"{out.shape} and {d}"
            )
        check_writable(out)
        if not out.size:
            return
        if not in_c_order(out):
            map_through_buffer(lambda rows, buffer: self.write(X[rows], buffer), out)
            return
        if self.table is None:
            for rows in row_blocks(n, rows_per_block(n, (d + s) * out.itemsize, 1)):
                out[rows] = self.kernel.gram(X[rows], self.landmarks)
            return
        kernels, (packed, squares), table = compiled_kernels(), self._packed, self.table
        flat, stride = flat_output(out)
        coefficients = table.coefficients.reshape(-1)

        def worker() -> Work:
            group, tile = packed.scratch()

            def work(lo: int, hi: int) -> None:
                x = plain_rows(dense_block(X, slice(lo, hi)) - self._middle, out.dtype)
                missing = kernels.section_block(
                    *(x, packed.packed, squares, coefficients, table.first, BITS, _CLOSE),
                    *(flat, lo * stride, stride, group, tile),
                )
                if missing:
                    self._fill_in(X, slice(lo, hi), missing, out[lo:hi])

            return work

        threads = thread_count(n * s * (d + _VALUE_WORK), None)
        share_rows(worker, n, rows_per_block(n, (d + s) * out.itemsize, threads), threads)

    def _fill_in(self, X: Any, rows: slice, missing: int, out: np.ndarray) -> None:
        """What the table does not have, by the kernel itself."""
        if missing > _FEW * out.size:
            out[:] = self.kernel.gram(X[rows], self.landmarks)
            return
        i, j = np.nonzero(np.isnan(out))
        x = dense_block(X, rows)
        for part in row_blocks(i.size, max(1, 2**18 // x.shape[1])):
            z = row_norms(x[i[part]] - self.landmarks[j[part]])
            if self.kernel.domain == "sphere":
                np.minimum(z, _DIAMETER, out=z)  # more is rounding
            out[i[part], j[part]] = self.kernel.radial(z)


def compiled_gram(kernel: Kernel, rows: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of two blocks of placed rows that gives their kernel matrix, with one table for all blocks.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray of shape (m, dim)
        Placed rows, whose distances the table is made for.

    Returns
    -------
    callable
        ``gram(A, B)``, an ndarray of float64.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> compiled_gram(Gaussian(1.0), X)(X[:1], X).round(4)
    array([[1.    , 0.6065, 0.0111]])
    """
    table = _table_for(kernel, rows)
    if table is None:
        return kernel.gram

    def gram(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        out = np.empty((left.shape[0], right.shape[0]))
        Sections(kernel, right, table).write(left, out)
        return out

    return gram


def _table_for(kernel: Kernel, rows: np.ndarray) -> RadialTable | None:
    """The table of a kernel for distances that rows like these have."""
    if not kernel.known_everywhere:
        return None
    if kernel.domain == "sphere":
        return radial_table(kernel.radial, _DIAMETER)
    reach = float(row_norms(rows - rows.mean(axis=0)).max(initial=0.0))
    return radial_table(kernel.radial, _ROOM * reach) if 0.0 < reach < _FARTHEST else None
