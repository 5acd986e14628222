r"""The one hot loop of the library: projections of the rows, their cosines and sines, in one pass.

.. math:: x \mapsto \bigl[a_j \cos(\omega_j \cdot x)\bigr]_{j<s},\ \bigl[a_j \sin(\omega_j \cdot x)\bigr]_{j<s}

The arguments :math:`\omega_j \cdot x` never leave the cache: blocks of rows are projected into a small tile, and the
tile's cosines and sines are written straight to their place in the output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from krein._core.directions import hadamard_order, structured_rows
from krein.features._blocks import (
    SCRATCH_BYTES,
    FloatArray,
    Work,
    aligned_empty,
    check_output,
    check_type,
    compiled_kernels,
    flat_output,
    in_c_order,
    map_through_buffer,
    plain_rows,
    rows_per_block,
    share_rows,
    thread_count,
)

__all__ = ["PANEL_BYTES", "TRIG_WORK", "packed_frequencies", "trig_map", "hadamard_frequencies", "hadamard_trig_map"]

PANEL_BYTES = 1 << 24  # frequencies that are packed at once, whatever their number
TRIG_WORK = 32  # multiply–adds that a sine and a cosine are worth


def trig_map(
    X: ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix,
    frequencies: FloatArray,
    amplitudes: FloatArray,
    out: FloatArray,
    *,
    n_threads: int | None = None,
) -> FloatArray:
    r"""Trigonometric features, written to ``out``.

    .. math:: \bigl[a_j \cos(\omega_j \cdot x)\bigr]_{j<s},\ \bigl[a_j \sin(\omega_j \cdot x)\bigr]_{j<s}

    Notes
    -----
    Cosine and sine are within 2 ulp (of 1) of those of the computed argument; rounding in the projection adds to that in
    proportion to the argument. NaN and infinities give NaN in their own row only.

    The features of a row do not depend on the other rows, on the blocks or on the number of threads, to the last bit. Safe to be
    called from several threads at once. Memory besides ``out``: at most 32 MiB, as long as sixteen frequencies take less than
    that. Cost: :math:`O(n s d)`, or :math:`O(s)` per non-zero of sparse rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, frequencies = np.array([[np.pi, 1.0]]), np.array([[1.0, 0.0], [0.5, 0.0]])
    >>> trig_map(X, frequencies, np.array([1.0, 2.0]), np.empty((1, 4))).round(12) + 0.0
    array([[-1.,  0.,  0.,  2.]])
    """
    rows: Any = scipy.sparse.csr_array(X) if scipy.sparse.issparse(X) else np.asarray(X)
    if scipy.sparse.issparse(rows):
        rows.check_format(full_check=True)  # the compiled loop follows its indices without looking
    _check_map(rows.shape, frequencies, amplitudes, out)
    if out.size == 0:
        return out
    kernels = compiled_kernels()
    if not in_c_order(out):
        return map_through_buffer(
            lambda part, buffer: trig_map(rows[part], frequencies, amplitudes, buffer, n_threads=n_threads), out
        )
    (n, d), s = rows.shape, len(amplitudes)
    threads = thread_count(n * s * (d + TRIG_WORK), n_threads)
    block = rows_per_block(n, (d + 2 * s) * out.itemsize, threads)
    make_worker = _csr_worker if scipy.sparse.issparse(rows) else _dense_worker
    panel = max(PANEL_BYTES // (max(d, 1) * out.itemsize) // 16, 1) * 16
    for first in range(0, s, panel):
        part = slice(first, min(first + panel, s))
        worker = make_worker(kernels, rows, frequencies[part], np.array(amplitudes[part]), out, first)
        share_rows(worker, n, block, threads)
    return out


def _check_map(shape: tuple[int, ...], frequencies: FloatArray, amplitudes: FloatArray, out: FloatArray) -> None:
    """Refuse arrays that do not fit each other."""
    if len(shape) != 2:
        raise ValueError(f"X must have two dimensions, got shape {shape}; a single row is X.reshape(1, -1)")
    if amplitudes.ndim != 1:
        raise ValueError(f"amplitudes must have one dimension, got shape {amplitudes.shape}")
    (n, d), s = shape, len(amplitudes)
    if frequencies.shape != (s, d):
        raise ValueError(
            f"frequencies must have shape (n_frequencies, n_features) = {(s, d)} to go with amplitudes and X, "
            f"got {frequencies.shape}"
        )
    check_output(out, n, s)
    check_type(out.dtype, frequencies=frequencies, amplitudes=amplitudes)


@dataclass(frozen=True, eq=False)
class PackedFrequencies:
    """Frequencies as the compiled loops take them.

    Parameters
    ----------
    packed : ndarray
        In panels ``(panel, coordinate, frequency)``.
    reach : float
        Largest length of a frequency.
    limit : float
        Largest argument of the fast sine and cosine.
    groups, panels : int
        Groups of rows, and panels, that are worked on at once.
    tile_rows : int
        Rows of a group.
    """

    packed: FloatArray
    reach: float
    limit: float
    groups: int
    panels: int
    tile_rows: int

    def scratch(self) -> tuple[FloatArray, FloatArray]:
        """Memory for packed rows, and for a tile of arguments: one thread's own."""
        _, d, columns = self.packed.shape
        rows = aligned_empty((self.groups * self.tile_rows * d,), self.packed.dtype)
        return rows, aligned_empty((self.tile_rows, self.panels * columns), self.packed.dtype)


def packed_frequencies(kernels: ModuleType, frequencies: FloatArray) -> PackedFrequencies:
    """Pack frequencies once, for all rows."""
    d, dtype = frequencies.shape[1], frequencies.dtype
    packed = _pack(frequencies, kernels.tile_columns(dtype))
    # Wide tiles write long stretches of the output, but their frequencies should stay in the level-2 cache.
    panels = min(32, len(packed), max(1, SCRATCH_BYTES // max(packed[:1].nbytes, 1)))
    groups = min(32, max(1, SCRATCH_BYTES // 2 // (max(d, 1) * kernels.TILE_ROWS * dtype.itemsize)))
    reach = float(np.sqrt(np.einsum("ij,ij->i", frequencies, frequencies, dtype=np.float64).max(initial=0.0)))
    return PackedFrequencies(packed, reach, kernels.argument_limit(dtype), groups, panels, kernels.TILE_ROWS)


def _dense_worker(
    kernels: ModuleType, X: FloatArray, frequencies: FloatArray, amplitudes: FloatArray, out: FloatArray, first: int
) -> Callable[[], Work]:
    """Workers that map blocks of dense rows to the columns from ``first`` on."""
    waves = packed_frequencies(kernels, frequencies)
    flat, stride = flat_output(out)
    gap = out.shape[1] // 2

    def worker() -> Work:
        group, tile = waves.scratch()

        def work(lo: int, hi: int) -> None:
            x = plain_rows(X[lo:hi], out.dtype)
            at = lo * stride + first
            kernels.dense_block(
                x, waves.packed, amplitudes, waves.reach, waves.limit, flat, at, stride, gap, group, tile
            )

        return work

    return worker


def _pack(frequencies: FloatArray, columns: int) -> FloatArray:
    """Frequencies in panels ``(panel, coordinate, frequency)`` of some columns, the last one padded with zeros."""
    s, d = frequencies.shape
    packed = aligned_empty((-(-s // columns), d, columns), frequencies.dtype)
    whole = s // columns
    packed[:whole] = frequencies[: whole * columns].reshape(whole, columns, d).transpose(0, 2, 1)
    if whole < len(packed):
        packed[whole, :, : s - whole * columns] = frequencies[whole * columns :].T
        packed[whole, :, s - whole * columns :] = 0
    return packed


def _csr_worker(
    kernels: ModuleType,
    X: scipy.sparse.csr_array,
    frequencies: FloatArray,
    amplitudes: FloatArray,
    out: FloatArray,
    first: int,
) -> Callable[[], Work]:
    """Workers that map blocks of sparse rows to the columns from ``first`` on."""
    s, dtype = len(amplitudes), out.dtype
    transposed = aligned_empty((X.shape[1], s), dtype)
    transposed[:] = frequencies.T
    flat, stride = flat_output(out)
    limit, gap = kernels.argument_limit(dtype), out.shape[1] // 2

    def worker() -> Work:
        tile = aligned_empty((s,), dtype)

        def work(lo: int, hi: int) -> None:
            indptr = X.indptr[lo : hi + 1]
            part = slice(indptr[0], indptr[-1])
            # One index type for the kernel, whichever scipy chose; the copies are those of one block.
            indices = plain_rows(X.indices[part], np.dtype(np.intp))
            data = plain_rows(X.data[part], dtype)
            ends = indptr.astype(np.intp) - part.start
            at = lo * stride + first
            kernels.csr_block(ends, indices, data, transposed, amplitudes, limit, flat, at, stride, gap, tile)

        return work

    return worker


def hadamard_frequencies(signs: NDArray[Any], radii: FloatArray, dim: int) -> FloatArray:
    r"""The frequencies of :func:`hadamard_trig_map` as an explicit matrix.

    .. math:: \omega_j = r_j \sqrt{p/d}\,\bigl(p^{-3/2} H D_3 H D_2 H D_1\bigr)_{j \bmod p,\, :d}
              \quad\text{with the signs of block } \lfloor j/p \rfloor

    Notes
    -----
    The rows of :math:`p^{-3/2} H D_3 H D_2 H D_1` are orthonormal. Cut to d coordinates their squared norm has mean
    :math:`d/p` over random signs, which the factor :math:`\sqrt{p/d}` makes up for: :math:`E\|\omega_j\|^2 = r_j^2`, with
    equality without the mean if :math:`d = p`. For norms that are :math:`r_j` exactly, divide the radii by the norms that
    this function gives for radii of one.
    """
    _check_signs(signs, radii, dim)
    scale = radii.astype(np.float64) * np.sqrt(signs.shape[2] / dim)
    frequencies = structured_rows(signs, len(radii), dim) * scale[:, None]
    return np.asarray(frequencies, dtype=radii.dtype)


def hadamard_trig_map(
    X: ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix,
    signs: NDArray[Any],
    radii: FloatArray,
    amplitudes: FloatArray,
    out: FloatArray,
    *,
    n_threads: int | None = None,
) -> FloatArray:
    r"""Trigonometric features with structured orthogonal frequencies, written to ``out``.

    .. math:: \bigl[a_j \cos(\omega_j \cdot x)\bigr]_{j<s},\ \bigl[a_j \sin(\omega_j \cdot x)\bigr]_{j<s}

    Equal, up to rounding, to ``trig_map(X, hadamard_frequencies(signs, radii, X.shape[1]), amplitudes, out)``.

    Notes
    -----
    As for :func:`krein.features.waves.trig_map`, the features of a row depend on no other row and on no number of threads, to
    the last bit. Cost: :math:`O(n s \log d)`.
    """
    rows: Any = scipy.sparse.csr_array(X) if scipy.sparse.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {rows.shape}; a single row is X.reshape(1, -1)")
    (n, d), s = rows.shape, len(amplitudes)
    _check_signs(signs, radii, d)
    if radii.shape != amplitudes.shape:
        raise ValueError(f"radii and amplitudes must have the same shape, got {radii.shape} and {amplitudes.shape}")
    check_output(out, n, s)
    check_type(out.dtype, radii=radii, amplitudes=amplitudes)
    if out.size == 0:
        return out
    kernels = compiled_kernels()
    if not in_c_order(out):
        return map_through_buffer(
            lambda part, buffer: hadamard_trig_map(rows[part], signs, radii, amplitudes, buffer, n_threads=n_threads),
            out,
        )
    p = signs.shape[2]
    threads = thread_count(n * s * (3 * p.bit_length() + TRIG_WORK), n_threads)
    block = rows_per_block(n, (d + 2 * s) * out.itemsize, threads)
    share_rows(_hadamard_worker(kernels, rows, signs, radii, amplitudes, out), n, block, threads)
    return out


def _check_signs(signs: NDArray[Any], radii: FloatArray, dim: int) -> None:
    p = hadamard_order(dim)
    if signs.ndim != 3 or signs.shape[1:] != (3, p):
        raise ValueError(
            f"signs must have shape (n_blocks, 3, {p}), three diagonals of the order that {dim} features need, "
            f"got {signs.shape}"
        )
    if radii.ndim != 1:
        raise ValueError(f"radii must have one dimension, got shape {radii.shape}")
    if len(radii) > len(signs) * p:
        raise ValueError(
            f"{len(signs)} blocks of {p} frequencies cannot give {len(radii)}; use {-(-len(radii) // p)} blocks"
        )


def _scales(radii: FloatArray, dim: int, p: int) -> FloatArray:
    """What turns rows of H D₃ H D₂ H D₁ into frequencies: r √(p/d) p^(−3/2) = r / (p √d)."""
    return radii / radii.dtype.type(p * np.sqrt(dim))


def _hadamard_worker(
    kernels: ModuleType, X: FloatArray, signs: NDArray[Any], radii: FloatArray, amplitudes: FloatArray, out: FloatArray
) -> Callable[[], Work]:
    """Workers that map blocks of rows."""
    (_, d), p, dtype = X.shape, signs.shape[2], out.dtype
    lanes = kernels.lanes(dtype)
    diagonals = np.ascontiguousarray(signs[: -(-len(radii) // p)], dtype)
    scales, amplitudes = _scales(radii, d, p), np.array(amplitudes)
    # A row of the orthogonal matrix has norm one, so no argument is larger than this times the norm of x.
    reach = float(np.abs(radii).max() * np.sqrt(p / d))
    flat, stride = flat_output(out)
    limit, gap = kernels.argument_limit(dtype), out.shape[1] // 2

    def worker() -> Work:
        rows, v = aligned_empty((d * lanes,), dtype), aligned_empty((max(p, lanes) * lanes,), dtype)
        tile = aligned_empty((lanes, max(p, lanes)), dtype)

        def work(lo: int, hi: int) -> None:
            x = plain_rows(_dense(X[lo:hi]), dtype)
            at = lo * stride
            kernels.hadamard_block(x, diagonals, scales, amplitudes, reach, limit, flat, at, stride, gap, rows, v, tile)

        return work

    return worker


def _dense(rows: Any) -> FloatArray:
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows)
