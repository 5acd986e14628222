r"""Structured orthogonal frequencies and their features, by the fast Walsh–Hadamard transform.

.. math:: \omega_j = r_j \sqrt{p/d}\,\bigl(p^{-3/2} H D_3 H D_2 H D_1\bigr)_{j, :d}

with :math:`H` the Hadamard matrix of order :math:`p = 2^{\lceil \log_2 d \rceil}` (entries ±1) and random signs on the
diagonals :math:`D_i` [1]_. All :math:`p` projections of a row take :math:`O(p \log p)` and not :math:`O(p d)`.

References
----------
.. [1] F. X. Yu, A. T. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar. "Orthogonal random features". NeurIPS, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from krein._core.directions import hadamard_order, structured_rows
from krein.features._blocks import (
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
from krein.features.trig import TRIG_WORK

__all__ = ["hadamard_frequencies", "hadamard_trig_map"]


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
    As for :func:`krein.features.trig.trig_map`, the features of a row depend on no other row and on no number of threads, to
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
