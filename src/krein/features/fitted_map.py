"""A fitted feature map: from rows as they come to features with a signature."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import scipy.sparse as sp

from krein._core.rows import UNIT_TOLERANCE, check_finite, check_magnitude, row_blocks
from krein.features import _blocks as blocks
from krein.features.feature_map import FeatureMap
from krein.features.region import LOWEST, Region, name_of
from krein.features.waves import PANEL_BYTES, TRIG_WORK, packed_frequencies
from krein.features.width_search import WidthSearch
from krein.measures import SignedMeasure

__all__ = ["FittedMap", "RowMap", "plain_map"]

_BLOCK_BYTES = 1 << 22  # of rows and their output: a block that has to be copied stays in a core's cache


@runtime_checkable
class RowMap(Protocol):
    """A fitted map as a value: rows to features, with the sign of each column."""

    @property
    def signature(self) -> np.ndarray:
        """±1 for each output column."""
        ...

    @property
    def n_features(self) -> int | None:
        """Columns of the rows it takes; None for objects, or where any number will do."""
        ...

    def __call__(self, X: Any) -> np.ndarray:
        """Features of finite rows, shape (n_rows, n_components); float32 for float32."""
        ...


@final
@dataclass(frozen=True, eq=False)
class FittedMap:
    r"""Features of any rows: they are placed in their region, and mapped.

    .. math:: k(x, x') \approx \sum_c \sigma_c\,\phi_c(x)\,\phi_c(x'), \qquad \sigma_c = \pm1

    Parameters
    ----------
    feature_map : FeatureMap
    region : Region
        The region of the training rows; rows outside it cause a warning.
    measure : SignedMeasure
        The measure that the frequencies were drawn from.
    error_estimate : float
        Relative error of the kernel matrix, on held-out rows or predicted.
    search : WidthSearch or None
        The widths that ``n_components="auto"`` tried.
    """

    feature_map: FeatureMap
    region: Region
    measure: SignedMeasure
    error_estimate: float
    search: WidthSearch | None = None

    def __post_init__(self) -> None:
        dims = (self.feature_map.dim, self.region.dim, self.measure.dim)
        if len(set(dims)) > 1:
            raise ValueError(f"map, region and measure must be of the same dimension, got {dims}")
        if self.feature_map.basis.sphere != self.region.sphere:
            raise ValueError("the head and the region disagree on whether rows are unit vectors")
        if not (isinstance(self.error_estimate, float) and 0.0 <= self.error_estimate < math.inf):
            raise ValueError(f"error_estimate must be a finite number, at least 0, got {self.error_estimate!r}")

    @property
    def signature(self) -> np.ndarray:
        """±1 for each output column."""
        return self.feature_map.signature

    @property
    def n_features(self) -> int:
        """Columns of the rows it takes."""
        return self.feature_map.dim

    @property
    def rank(self) -> int:
        """Output columns that are not zero for all rows."""
        return self.feature_map.rank

    def names(self) -> list[str]:
        """Names of the output columns: part, kind and sign."""
        return self.feature_map.names()

    def everywhere(self) -> FittedMap:
        """The same map without a word on rows far from the training rows, for those who have nothing to do about them."""
        return replace(self, region=replace(self.region, reach=math.inf))

    def __call__(self, X: Any) -> np.ndarray:
        """Features of rows that are finite but not placed."""
        if sp.issparse(X) and not X.has_canonical_format:  # entries given twice are added up, on a copy
            X = X.copy()
            X.sum_duplicates()
        out = np.empty((X.shape[0], self.feature_map.n_outputs), dtype=X.dtype)
        outside = None if sp.issparse(X) else plain_map(self.feature_map, self.region, X, out)
        if outside is None:
            outside = self._write_blocks(X, out)
        if outside:
            # the caller of an estimator's transform, which scikit-learn wraps
            warnings.warn(self._outside_message(outside, X.shape[0]), UserWarning, stacklevel=5)
        return out

    def _write_blocks(self, X: Any, out: np.ndarray) -> int:
        """The features step by step, block by block, so that placed rows are never held whole; how many lie outside."""
        row_bytes = (X.nnz // max(X.shape[0], 1) + 1) * 16 if sp.issparse(X) else X.shape[1] * X.dtype.itemsize
        outside = 0
        for rows in row_blocks(X.shape[0], max(1, _BLOCK_BYTES // row_bytes)):
            block = self.region.place(X[rows], name=name_of(X), first=rows.start)
            far = self.region.outside(block)
            if far or not self.region.sphere:
                power = 2 * max(self.feature_map.basis.degree, 1)
                check_magnitude(block, power=power, name=name_of(X), first=rows.start)
            outside += far
            with np.errstate(over="ignore", invalid="ignore"):
                self.feature_map.write(block, out[rows])
            check_finite(out[rows], rows.start)
        return outside

    def _outside_message(self, outside: int, total: int) -> str:
        region = self.region
        if region.found:
            where = "do not have unit length, as all training rows had; use normalize=True"
            if region.non_negative:
                where = "do not have unit length or have a negative entry, as no training row had; use normalize=True and radius=2"
        elif region.non_negative:
            where = (
                "have a negative entry, and the training rows had none, so distances beyond sqrt(2) were not provided for; "
                "use radius=2"
            )
        else:
            where = f"lie farther from the training rows' center than {region.reach:.4g}; use a larger radius"
        return f"{outside} of {total} rows {where}, or fit on rows like these: the features are less accurate there"


_LENGTHS, _UNITS, _SIGNS, _FAR = range(4)  # places of the counts that the compiled pass keeps


def plain_map(feature_map: FeatureMap, region: Region, X: blocks.FloatArray, out: blocks.FloatArray) -> int | None:
    """Features of dense rows, not placed yet, written to ``out``.

    Every row is brought to unit length where the region asks for it, checked and mapped while it is in the cache; rows are shared
    among threads.
    """
    dtype, (n, d), s = out.dtype, X.shape, len(feature_map.frequencies)
    if not feature_map.plain or s * d * out.itemsize > PANEL_BYTES:
        return None
    if d != feature_map.dim:  # the compiled pass relies on it
        raise ValueError(f"X must have {feature_map.dim} columns, as the rows that were fitted, got {d}")
    if not out.size:
        return 0
    kernels, head = blocks.compiled_kernels(), feature_map.basis
    waves = packed_frequencies(kernels, feature_map.frequencies.vectors.astype(dtype, copy=False))
    scales = region.sphere and region.normalize and not region.found
    off = UNIT_TOLERANCE if region.sphere and not scales else math.inf
    middle = blocks.plain_rows(region.center, np.dtype(np.float64))
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
    flat, stride = blocks.flat_output(out)
    counts: list[np.ndarray] = []

    def worker() -> blocks.Work:
        scratch, found = waves.scratch(), np.zeros(4, dtype=np.int64)
        unit = blocks.aligned_empty((waves.groups * waves.tile_rows, d), dtype)
        counts.append(found)

        def work(lo: int, hi: int) -> None:
            x = blocks.plain_rows(X[lo:hi], dtype)
            kernels.plain_block(x, scales, unit, *place, *columns, flat, lo * stride, stride, *scratch, found)

        return work

    threads = blocks.thread_count(n * (s * (d + TRIG_WORK) + head.n_columns), None)
    row_bytes = (d + out.shape[1]) * out.itemsize
    block = min(
        blocks.rows_per_block(n, row_bytes, threads), max(32, _BLOCK_BYTES // row_bytes)
    )  # rows may have to be copied
    blocks.share_rows(worker, n, block, threads)
    total = np.sum(counts, axis=0)
    if total[_LENGTHS] or (total[_UNITS] and not region.found):
        return None
    outside = int(total[_UNITS] or total[_SIGNS] or total[_FAR])
    if outside or (math.isinf(region.reach) and not region.sphere):  # others are no larger than the training rows
        check_magnitude(X, power=2 * max(head.degree, 1))
    return outside
