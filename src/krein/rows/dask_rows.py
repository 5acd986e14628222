"""Rows in Dask collections: sampled, reduced over a tree, and mapped, by the active scheduler."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from krein.rows.columns import ColumnSummary
from krein.rows.dask_compute import compute_all, import_dask
from krein.rows.feature_blocks import checked_weight, finite_rows
from krein.rows.look import Examples, FirstPass
from krein.rows.sample import sample_numbers
from krein.rows.targets import Targets

__all__ = [
    "DaskRows",
    "FirstLook",
    "head_row",
    "is_dask",
    "map_rows",
    "plain_block",
    "transform",
]

_FAN_IN = 4  # sums merged at a time: a worker holds at most this many D × D matrices beside its own
_KEEP_BYTES = 2**30  # rows of so many bytes stay in the memory of the cluster between passes: less than any worker has


class _Mergeable(Protocol):
    def merge(self, other: Self, /) -> None: ...


_Sums = TypeVar("_Sums", bound=_Mergeable)
CheckTargets = Callable[[Any, int], np.ndarray]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; false, and Dask not imported, in a process that has not imported it."""
    return "dask" in sys.modules and bool(sys.modules["dask"].is_dask_collection(X))


@dataclass(frozen=True, eq=False)
class FirstLook:
    """The result of one pass over all blocks before a feature map is fitted.

    Parameters
    ----------
    seen : FirstPass
        What one machine would sample.
    targets : ndarray or None
        Previews of the targets of all blocks, see `krein.rows.targets.Targets.preview`.
    """

    seen: FirstPass
    targets: np.ndarray | None


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
        """Align the three; the lengths of unknown blocks are computed first, in one pass over what they come from.

        Rows of at most 1 GiB in all are then computed and kept by the cluster until the fit is done, so that the passes
        to come find them there. More rows than that are computed once for each pass.
        """
        dask = import_dask()
        head = head_row(X)
        X, y, weight = _with_lengths(*(_as_array(part) if is_dask(part) else part for part in (X, y, weight)))
        X = X.rechunk({1: -1})
        rows = cls(
            X,
            None if y is None else _aligned(y, X, "y"),
            None if weight is None else _aligned(weight, X, "sample_weight"),
            head,
        )
        if X.nbytes > _KEEP_BYTES:
            return rows
        names = [name for name in ("X", "y", "weight") if getattr(rows, name) is not None]
        kept = dask.persist(*(getattr(rows, name) for name in names))
        return replace(rows, **dict(zip(names, kept, strict=True)))

    def first_look(
        self,
        limit: int,
        targets: Targets | None = None,
        check: CheckTargets | None = None,
        *,
        summarize: bool = False,
        examples: int | None = 0,
    ) -> FirstLook:
        """Sample rows, preview targets and summarize columns, in one pass over the blocks."""
        dask = import_dask()
        chosen = sample_numbers(self.X.shape[0], limit)
        cuts = np.searchsorted(chosen, np.cumsum(self.X.chunks[0])[:-1])
        task = dask.delayed(_Look(targets, check, summarize, examples != 0), traverse=False, pure=False)
        parts = [
            dask.delayed(_look_at)(task, block, mine)
            for block, mine in zip(self.blocks(), np.split(chosen, cuts), strict=True)
        ]
        blocks: tuple[_BlockLook, ...] = self.compute(*parts)
        columns = None
        for part in blocks:
            columns = part.columns if columns is None else columns.merged(part.columns)
        previews = [part.targets for part in blocks if part.targets is not None]
        found = np.concatenate(previews) if previews else None
        sample, weight = (np.concatenate([getattr(part, name) for part in blocks]) for name in ("sample", "weight"))
        labeled: Examples | None = None
        if examples != 0 and targets is not None and found is not None:
            targets.announce(found)
            y = [part.y for part in blocks if part.y is not None]
            labeled = Examples(np.concatenate(y), targets, examples)
        n_rows = int(self.X.shape[0])
        return FirstLook(FirstPass.of(sample, weight, columns, labeled, n_rows, complete=n_rows <= limit), found)

    def reduce(self, empty: _Sums, add: Callable[..., None]) -> _Sums:
        """Sum every block where it is stored, and merge the sums in a tree.

        A worker that dies loses its finished blocks; the scheduler computes them again elsewhere, and the sum is the same up to
        rounding: which rows are sampled depends only on their numbers.
        """
        dask = import_dask()
        # one node of the graph each, not a copy per task
        first, task = (dask.delayed(part, traverse=False, pure=False) for part in (empty, add))
        parts = [dask.delayed(_block_sums)(first, task, block) for block in self.blocks()]
        while len(parts) > 1:
            parts = [dask.delayed(_merged)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        total: _Sums
        (total,) = self.compute(parts[0])
        return total

    def compute(self, *parts: Any) -> Any:
        """Compute what was made of these rows; see `krein.rows.dask_compute.compute_all`."""
        size = f" of up to {max(self.X.chunks[0]):,} rows of {self.X.shape[1]:,} columns"
        return compute_all(*parts, block=size)

    def blocks(self) -> Iterable[tuple[int, Any, Any, Any]]:
        """Number of the first row, rows, targets and weights of each block, lazily."""
        xs = _delayed_blocks(self.X).ravel()
        ys, ws = ([None] * len(xs) if part is None else _delayed_blocks(part).ravel() for part in (self.y, self.weight))
        starts = np.concatenate([[0], np.cumsum(self.X.chunks[0])[:-1]])
        return [(int(start), x, y, w) for start, x, y, w in zip(starts, xs, ys, ws, strict=True)]


@dataclass(frozen=True, eq=False)
class _Look:
    targets: Targets | None
    check: CheckTargets | None
    summarize: bool
    examples: bool


@dataclass(frozen=True, eq=False)
class _BlockLook:
    sample: np.ndarray
    weight: np.ndarray
    y: np.ndarray | None
    columns: ColumnSummary | None
    targets: np.ndarray | None


def _look_at(look: _Look, block: tuple[int, Any, Any, Any], numbers: np.ndarray) -> _BlockLook:
    start, X, y, weight = plain_block(block)
    here = numbers - start
    sample = finite_rows(X[here], numbers)
    columns = ColumnSummary.of(finite_rows(X, start), weight) if look.summarize else None
    preview = chosen = None
    if look.targets is not None and look.check is not None:
        y = look.check(y, start)
        preview = look.targets.preview(y, start, weight)
        chosen = y[here] if look.examples else None
    return _BlockLook(sample, np.ones(here.size) if weight is None else weight[here], chosen, columns, preview)


def _block_sums(empty: _Sums, add: Callable[..., None], block: tuple[int, Any, Any, Any]) -> _Sums:
    sums = copy.deepcopy(empty)
    add(sums, *plain_block(block))
    return sums


def plain_block(block: tuple[int, Any, Any, Any]) -> tuple[int, np.ndarray, Any, np.ndarray | None]:
    """A block as `DaskRows.blocks` gives it, where it has been computed, with weights checked."""
    start, X, y, weight = block
    return start, np.asarray(X), y, None if weight is None else checked_weight(weight, start)


def _merged(parts: list[_Sums]) -> _Sums:
    # the first is copied: what a task has received may be used again by another
    first = copy.deepcopy(parts[0])
    for other in parts[1:]:
        first.merge(other)
    return first


def map_rows(function: Callable[[Any], np.ndarray], X: Any, *, width: int, dtype: Any = np.float64) -> Any:
    """A function of each block of rows, lazily."""
    import_dask()
    X = _as_array(X)
    X = X.rechunk({1: -1})
    meta = np.empty((0, width), dtype=dtype)
    return X.map_blocks(function, dtype=dtype, chunks=(X.chunks[0], (width,)), meta=meta)


def transform(features: Any, X: Any) -> Any:
    """Features of the rows of a Dask collection, block by block where the blocks are stored."""
    dtype = np.float32 if _as_array(X).dtype == np.float32 else np.float64
    return map_rows(_Transform(features), X, width=features.signature_.shape[0], dtype=dtype)


@dataclass(frozen=True, eq=False)
class _Transform:
    features: Any

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(self.features.transform(np.asarray(X)))


def _as_array(X: Any) -> Any:
    da = import_dask().array
    return X if isinstance(X, da.Array) else X.to_dask_array()


def head_row(X: Any) -> Any:
    """A made-up row with the number and names of the columns of X, for the checks of a table."""
    da = import_dask().array
    if isinstance(X, da.Array):
        return np.zeros((1, *X.shape[1:]))
    return X._meta.reindex(range(1)).fillna(0.0)


def _delayed_blocks(part: Any) -> Any:
    """The blocks of an array, in an array of the shape of its blocks.

    Graphs are left as they are: made simpler one by one, X and y would no longer share the table that both come from.
    """
    return part.to_delayed(optimize_graph=False)


def _with_lengths(*parts: Any) -> list[Any]:
    """The same collections with the lengths of their blocks known; what they share is computed once."""
    dask = import_dask()
    unknown = [i for i, part in enumerate(parts) if is_dask(part) and np.isnan(part.shape[0])]
    found = list(parts)
    firsts = [_delayed_blocks(parts[i]).reshape(parts[i].numblocks[0], -1)[:, 0] for i in unknown]
    lengths = compute_all(*([dask.delayed(len)(block) for block in blocks] for blocks in firsts))
    for i, known in zip(unknown, lengths, strict=True):
        part = parts[i]
        found[i] = dask.array.Array(part.dask, part.name, (tuple(known), *part.chunks[1:]), meta=part._meta)
    return found


def _aligned(values: Any, X: Any, name: str) -> Any:
    """Targets or weights as a Dask array cut where X is cut."""
    da = import_dask().array
    if not is_dask(values):
        values = np.asarray(values)
        values = da.from_array(values, chunks=(X.chunks[0], *values.shape[1:]) if len(values) == len(X) else "auto")
    if values.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and {name} have inconsistent lengths: {X.shape[0]} and {values.shape[0]}; pass one entry per row"
        )
    return values.rechunk({0: X.chunks[0], **({1: -1} if values.ndim == 2 else {})})
