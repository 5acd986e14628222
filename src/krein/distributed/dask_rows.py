"""Rows that live in Dask collections: sampled, reduced over a tree, and mapped, by whatever scheduler is active."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krein.learning.ledger import RidgeLedger
from krein.learning.rows import row_keys

__all__ = ["DaskRows", "head_row", "is_dask", "map_rows", "transform"]

_FAN_IN = 4  # ledgers merged at a time: a worker holds at most this many D × D matrices beside its own
_FIRST_ROWS = 1024


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; false, and Dask not imported, in a process that has not imported it."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(X)


def _import_dask() -> Any:
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("Dask collections need dask.array; install it with: pip install 'krein[dask]'") from error
    return dask


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows, targets and weights as Dask arrays cut at the same rows.

    Parameters
    ----------
    X : dask.array of shape (n_rows, n_features), one block of columns
    y : dask.array of shape (n_rows,) or (n_rows, n_targets), or None
    weight : dask.array of shape (n_rows,) or None
    head : DataFrame or ndarray of shape (1, n_features)
        A made-up row with the names and number of the columns.
    """

    X: Any
    y: Any
    weight: Any
    head: Any

    @classmethod
    def of(cls, X: Any, y: Any = None, weight: Any = None) -> DaskRows:
        """Align the three; the lengths of unknown blocks are computed first, in one pass over the rows of X."""
        _import_dask()
        head = head_row(X)
        X = _as_array(X)
        if np.isnan(X.shape[0]):
            X = X.compute_chunk_sizes()
        X = X.rechunk({1: -1})
        y = None if y is None else _aligned(y, X, "y")
        weight = None if weight is None else _aligned(weight, X, "sample_weight")
        return cls(X, y, weight, head)

    def sample(self, limit: int) -> np.ndarray:
        """The rows of smallest key, at most `limit`, less those of weight zero: what one machine would sample."""
        n_rows = self.X.shape[0]
        rows = np.arange(n_rows)
        if n_rows > limit:
            rows = np.sort(np.argpartition(row_keys(rows), limit)[:limit])
        sample = self.X[rows] if n_rows > limit else self.X
        if self.weight is None:
            return np.asarray(sample.compute())
        dask = _import_dask()
        sample, weight = dask.compute(sample, self.weight[rows])
        return np.asarray(sample)[np.flatnonzero(weight > 0)]

    def first_targets(self) -> np.ndarray:
        """The first targets, for a guess at their mean."""
        return np.asarray(self.y[:_FIRST_ROWS].compute())

    def distinct_targets(self) -> np.ndarray:
        """The distinct targets of rows of positive weight; object arrays are gathered by a pass over blocks."""
        dask = _import_dask()
        ys = self.y.to_delayed().ravel()
        ws = [None] * len(ys) if self.weight is None else self.weight.to_delayed().ravel()
        parts = [dask.delayed(_distinct)(y, w) for y, w in zip(ys, ws, strict=True)]
        return np.unique(np.concatenate(dask.compute(*parts)))

    def reduce(self, ledger: RidgeLedger, targets: Any, features: Any, enter: Callable[..., None]) -> RidgeLedger:
        """Enter every block into a copy of the empty ledger, where the block lives, and merge the ledgers in a tree.

        A worker that dies takes finished blocks with it; the scheduler computes those again elsewhere, and the sum is
        the same: which rows are sampled depends on their number only, and addition does not mind the order but for
        rounding.
        """
        dask = _import_dask()
        # one node of the graph each, not a copy per task
        book = dask.delayed(_Book(ledger, targets, features, enter), traverse=False, pure=False)
        xs = self.X.to_delayed().ravel()
        ys = [None] * len(xs) if self.y is None else self.y.to_delayed().ravel()
        ws = [None] * len(xs) if self.weight is None else self.weight.to_delayed().ravel()
        starts = np.concatenate([[0], np.cumsum(self.X.chunks[0])[:-1]])
        parts = [
            dask.delayed(_block_ledger)(book, int(start), x, y, w)
            for start, x, y, w in zip(starts, xs, ys, ws, strict=True)
        ]
        while len(parts) > 1:
            parts = [dask.delayed(_merged)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        return parts[0].compute()


@dataclass(frozen=True, eq=False)
class _Book:
    ledger: RidgeLedger
    targets: Any
    features: Any
    enter: Callable[..., None]


def _block_ledger(book: _Book, start: int, X: Any, y: Any, weight: Any) -> RidgeLedger:
    ledger = copy.deepcopy(book.ledger)
    targets = copy.deepcopy(book.targets)
    X = np.asarray(X)
    y = np.zeros((X.shape[0], 0)) if y is None else targets.check(y, start)
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    if weight is not None and not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError("sample_weight must be finite and not negative")
    book.enter(ledger, targets, book.features, start, X, y, weight)
    return ledger


def _merged(ledgers: list[RidgeLedger]) -> RidgeLedger:
    # the first is copied: what a task has received may be used again by another
    first = copy.deepcopy(ledgers[0])
    for other in ledgers[1:]:
        first.merge(other)
    return first


def _distinct(y: Any, weight: Any) -> np.ndarray:
    y = np.asarray(y)
    return np.unique(y if weight is None else y[np.asarray(weight) > 0])


def map_rows(function: Callable[[Any], np.ndarray], X: Any, *, width: int, dtype: Any = np.float64) -> Any:
    """``function`` of each block of rows, lazily: a dask.array of shape (n_rows, width)."""
    _import_dask()
    X = _as_array(X)
    X = X.rechunk({1: -1})
    meta = np.empty((0, width), dtype=dtype)
    return X.map_blocks(function, dtype=dtype, chunks=(X.chunks[0], (width,)), meta=meta)


def transform(features: Any, X: Any) -> Any:
    """Features of the rows of a Dask collection, block by block where the blocks live.

    Parameters
    ----------
    features : a fitted feature map
    X : dask.array or dask.dataframe of shape (n_samples, n_features)

    Returns
    -------
    dask.array of shape (n_samples, n_components), lazy, float32 if X is a float32 array, else float64
    """
    dtype = np.float32 if _as_array(X).dtype == np.float32 else np.float64
    return map_rows(_Transform(features), X, width=features.signature_.shape[0], dtype=dtype)


@dataclass(frozen=True, eq=False)
class _Transform:
    features: Any

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(self.features.transform(np.asarray(X)))


def _as_array(X: Any) -> Any:
    da = _import_dask().array
    if isinstance(X, da.Array):
        return X
    return X.to_dask_array()


def head_row(X: Any) -> Any:
    """A made-up row with the number and names of the columns of X, for the checks of scikit-learn."""
    da = _import_dask().array
    if isinstance(X, da.Array):
        return np.zeros((1, *X.shape[1:]))
    return X._meta.reindex(range(1)).fillna(0.0)


def _aligned(values: Any, X: Any, name: str) -> Any:
    """Targets or weights as a Dask array cut where X is cut."""
    da = _import_dask().array
    if is_dask(values):
        values = _as_array(values)
        if np.isnan(values.shape[0]):
            values = values.compute_chunk_sizes()
    else:
        values = np.asarray(values)
        values = da.from_array(values, chunks=(X.chunks[0], *values.shape[1:]) if len(values) == len(X) else "auto")
    if values.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and {name} have inconsistent lengths: {X.shape[0]} and {values.shape[0]}; pass one entry per row"
        )
    return values.rechunk({0: X.chunks[0], **({1: -1} if values.ndim == 2 else {})})
