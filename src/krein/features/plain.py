"""Dense rows placed in their region and mapped in one compiled pass: what `transform` does, nearly always."""

from __future__ import annotations

import math

import numpy as np

from krein._core.rows import UNIT_TOLERANCE, check_magnitude
from krein.features._blocks import (
    FloatArray,
    Work,
    aligned_empty,
    check_writable,
    compiled_kernels,
    flat_output,
    plain_rows,
    rows_per_block,
    share_rows,
    thread_count,
)
from krein.features.feature_map import FeatureMap
from krein.features.region import LOWEST, Region
from krein.features.trig import PANEL_BYTES, TRIG_WORK, packed_frequencies

__all__ = ["plain_map"]

_BLOCK_BYTES = 1 << 22  # of rows and their output: a block that has to be copied stays in a core's cache
_LENGTHS, _UNITS, _SIGNS, _FAR = range(4)  # places of the counts that the compiled pass keeps


def plain_map(feature_map: FeatureMap, region: Region, X: FloatArray, out: FloatArray) -> int | None:
    """Features of dense rows, not placed yet, written to ``out``.

    Every row is brought to unit length where the region asks for it, checked and mapped while it is in the cache; rows are shared
    among threads.
    """
    dtype, (n, d), s = out.dtype, X.shape, len(feature_map.frequencies)
    if not feature_map.plain or s * d * out.itemsize > PANEL_BYTES:
        return None
    _check_fit(feature_map, region, X, out)
    if not out.size:
        return 0
    kernels, head = compiled_kernels(), feature_map.basis
    waves = packed_frequencies(kernels, feature_map.frequencies.vectors.astype(dtype, copy=False))
    scales = region.sphere and region.normalize and not region.found
    off = UNIT_TOLERANCE if region.sphere and not scales else math.inf
    middle = plain_rows(region.center, np.dtype(np.float64))
    place = (off, LOWEST if region.non_negative else -math.inf, middle, region.reach)
    columns = (
        head.n_columns,
        *head.compiled(np.sqrt(np.abs(feature_map.head_weights)), dtype),
        waves.packed,
        np.sqrt(np.abs(feature_map.wave_weights)).astype(dtype),
        waves.reach,
        waves.limit,
        feature_map.padding,
    )
    flat, stride = flat_output(out)
    counts: list[np.ndarray] = []

    def worker() -> Work:
        scratch, found = waves.scratch(), np.zeros(4, dtype=np.int64)
        unit = aligned_empty((waves.groups * waves.tile_rows, d), dtype)
        counts.append(found)

        def work(lo: int, hi: int) -> None:
            x = plain_rows(X[lo:hi], dtype)
            kernels.plain_block(x, scales, unit, *place, *columns, flat, lo * stride, stride, *scratch, found)

        return work

    threads = thread_count(n * (s * (d + TRIG_WORK) + head.n_columns), None)
    row_bytes = (d + out.shape[1]) * out.itemsize
    block = min(rows_per_block(n, row_bytes, threads), max(32, _BLOCK_BYTES // row_bytes))  # rows may have to be copied
    share_rows(worker, n, block, threads)
    total = np.sum(counts, axis=0)
    if total[_LENGTHS] or (total[_UNITS] and not region.found):
        return None
    outside = int(total[_UNITS] or total[_SIGNS] or total[_FAR])
    if outside or (math.isinf(region.reach) and not region.sphere):  # others are no larger than the training rows
        check_magnitude(X, power=2 * max(head.degree, 1))
    return outside


def _check_fit(feature_map: FeatureMap, region: Region, X: FloatArray, out: FloatArray) -> None:
    """Refuse parts that do not fit each other: the compiled pass relies on their lengths."""
    (n, d), s, head = X.shape, len(feature_map.frequencies), feature_map.basis
    needed = {
        "X": (X.shape, (n, head.dim)),
        "frequencies": (feature_map.frequencies.vectors.shape, (s, d)),
        "head_weights": (feature_map.head_weights.shape, (head.n_columns,)),
        "wave_weights": (feature_map.wave_weights.shape, (s,)),
        "the region's center": (region.center.shape, (d,)),
        "out": (out.shape, (n, head.n_columns + 2 * s + max(feature_map.padding, 0))),
    }
    for name, (shape, fitting) in needed.items():
        if shape != fitting:
            raise ValueError(f"{name} must have shape {fitting} to fit the rest of the map and the rows, got {shape}")
    check_writable(out)
    if not out.flags.c_contiguous:
        raise ValueError("out must be a C-ordered array")
