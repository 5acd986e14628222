"""Kernel sections k(x, l) of many rows at some landmarks: distances and the radial function, in one compiled pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from krein._core.rows import dense_block, row_blocks, row_norms
from krein.features import _blocks as blocks
from krein.features.radial_values import BITS, DEGREE, DIAMETER, RadialPolynomial, RadialValues, radial_values
from krein.features.waves import PackedFrequencies, packed_frequencies
from krein.kernels import Kernel

__all__ = ["Sections", "compiled_gram"]

_CLOSE = 1e-5  # of ‖x‖² + ‖l‖²: squared distances below have lost too many digits
_VALUE_WORK = 16  # multiply–adds that a value of the kernel is worth
_FEW = 0.05  # of the values of a row that are missing, and are filled in one by one


@final
@dataclass(frozen=True, eq=False)
class Sections:
    """The function that writes k(X, L); it holds what does not depend on the rows.

    Parameters
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (n_landmarks, dim), float64
        Placed rows.
    values : RadialValues, default=None
        Of the kernel's radial function, where there are some already; they are made for distances as these landmarks have them.
    """

    kernel: Kernel
    landmarks: np.ndarray
    values: RadialValues | None = None

    def __post_init__(self) -> None:
        if self.values is None:
            object.__setattr__(self, "values", radial_values(self.kernel, self.landmarks))

    @cached_property
    def _packed(self) -> tuple[np.ndarray, PackedFrequencies, np.ndarray]:
        """The middle of the landmarks, and around it, where fewer digits cancel, their coordinates and squared lengths."""
        middle = self.landmarks.mean(axis=0)
        centered = self.landmarks - middle
        packed = packed_frequencies(blocks.compiled_kernels(), centered)
        return middle, packed, np.einsum("ij,ij->i", centered, centered)

    def write(self, X: Any, out: blocks.FloatArray) -> None:
        """Write k(x, l) for all rows and landmarks.

        Notes
        -----
        A value does not depend on the other rows, on the blocks or on the number of threads, to the last bit. Values differ
        from those of `Kernel.gram` by 2e-14 of the largest (2.5e-7 in single precision), or by rounding of the distance.
        """
        (n, d), s = X.shape, len(self.landmarks)
        if out.shape != (n, s) or d != self.landmarks.shape[1]:
            raise ValueError(
                f"out must have shape {(n, s)} and X {self.landmarks.shape[1]} columns, got {out.shape} and {d}"
            )
        blocks.check_writable(out)
        if not out.size:
            return
        if not blocks.in_c_order(out):
            blocks.map_through_buffer(lambda rows, buffer: self.write(X[rows], buffer), out)
            return
        if self.values is None:
            for rows in row_blocks(n, blocks.rows_per_block(n, (d + s) * out.itemsize, 1)):
                out[rows] = self.kernel.gram(X[rows], self.landmarks)
            return
        polynomial = self.values.polynomial(out.dtype)
        flat, stride = blocks.flat_output(out)

        def worker() -> blocks.Work:
            middle, packed, _ = self._packed
            scratch = packed.scratch()

            def work(lo: int, hi: int) -> None:
                x = blocks.plain_rows(dense_block(X, slice(lo, hi)) - middle, np.dtype(np.float64))
                missing = self._loop(x, polynomial, flat, lo * stride, stride, *scratch)
                many = np.flatnonzero(missing > _FEW * s)  # row by row: how many rows a block has must not matter
                if polynomial is not None and many.size:
                    by_table = np.empty((many.size, s), out.dtype)
                    missing[many] = self._loop(x[many], None, by_table.reshape(-1), 0, s, *scratch)
                    values = out[lo + many]
                    out[lo + many] = np.where(np.isnan(values), by_table, values)
                if missing.any():
                    self._fill_in(X, lo + np.flatnonzero(missing), out)

            return work

        threads = blocks.thread_count(n * s * (d + _VALUE_WORK), None)
        blocks.share_rows(worker, n, blocks.rows_per_block(n, (d + s) * out.itemsize, threads), threads)

    def _loop(
        self,
        x: blocks.FloatArray,
        polynomial: RadialPolynomial | None,
        flat: blocks.FloatArray,
        start: int,
        stride: int,
        *scratch: Any,
    ) -> np.ndarray:
        """The compiled pass over one block, by a polynomial or by the table; how many values of each row are missing."""
        assert self.values is not None
        _, packed, squares = self._packed
        if polynomial is None:
            table = self.values.table
            how = (np.empty(0, flat.dtype), False, 0.0, 0.0, table.coefficients.reshape(-1), table.first)
        else:
            nothing = np.empty(DEGREE + 1)
            how = (polynomial.coefficients, polynomial.root, polynomial.middle, polynomial.scale, nothing, 0)
        missing = np.empty(len(x), dtype=np.int64)
        blocks.compiled_kernels().section_block(
            *(x, packed.packed, squares, *how, BITS, _CLOSE, flat, start, stride, *scratch, missing)
        )
        return missing

    def _fill_in(self, X: Any, rows: np.ndarray, out: np.ndarray) -> None:
        """What the loop does not have of some rows, by the kernel itself; from differences, as products depend on the block."""
        x, values = dense_block(X, rows), out[rows]
        i, j = np.nonzero(np.isnan(values))
        for part in row_blocks(i.size, max(1, 2**18 // x.shape[1])):
            z = row_norms(x[i[part]] - self.landmarks[j[part]])
            if self.kernel.domain == "sphere":
                np.minimum(z, DIAMETER, out=z)  # more is rounding
            values[i[part], j[part]] = self.kernel.radial(z)
        out[rows] = values


def compiled_gram(kernel: Kernel, rows: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of two blocks of placed rows that gives their kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> compiled_gram(Gaussian(1.0), X)(X[:1], X).round(4)
    array([[1.    , 0.6065, 0.0111]])
    """
    values = radial_values(kernel, rows)
    if values is None:
        return kernel.gram

    def gram(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        out = np.empty((left.shape[0], right.shape[0]))
        Sections(kernel, right, values).write(left, out)
        return out

    return gram
