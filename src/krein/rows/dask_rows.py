"""Rows in Dask collections: sampled, reduced over a tree, dealt and mapped, by the active scheduler."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar, final

import numpy as np

from krein._core.errors import ClusterError
from krein.features import RowMap
from krein.rows import look as looks
from krein.rows.blocks import checked_weight, finite_rows
from krein.rows.look import Look, LookSums
from krein.rows.sample import sample_numbers
from krein.rows.source import Add, Dealt, Report, Result, RowSource
from krein.rows.targets import Targets

__all__ = ["DaskRows", "compute_all", "head_row", "import_dask", "is_dask", "map_rows", "transform"]

_FAN_IN = 4  # sums merged at a time: a worker holds at most this many D × D matrices beside its own
_KEEP_BYTES = 2**30  # rows of so many bytes stay in the memory of the cluster between passes: less than any worker has

Sums = TypeVar("Sums")
CheckTargets = Callable[[Any, int], np.ndarray]
_LazyBlock = tuple[int, Any, Any, Any]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; false, and Dask not imported, in a process that has not imported it."""
    return "dask" in sys.modules and bool(sys.modules["dask"].is_dask_collection(X))


@final
@dataclass(frozen=True, eq=False)
class DaskRows(RowSource):
    """Rows, targets and weights as Dask arrays cut at the same rows.

    Parameters
    ----------
    X : dask.array of shape (n_rows, n_features), one block of columns
    y : dask.array of shape (n_rows,) or (n_rows, n_targets), or None
    weight : dask.array of shape (n_rows,) or None
    check : callable or None
        ``(y, number of the first row) -> y``, the check of a block of targets.
    """

    X: Any
    y: Any
    weight: Any
    check: CheckTargets | None
    here: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Any, y: Any = None, weight: Any = None, check: CheckTargets | None = None) -> DaskRows:
        """Align the three; the lengths of unknown blocks are computed first, in one pass over what they come from.

        Rows of at most 1 GiB in all are then computed and kept by the cluster until the fit is done, so that the passes
        to come find them there. More rows than that are computed once for each pass.
        """
        dask = import_dask()
        X, y, weight = _with_lengths(*(_as_array(part) if is_dask(part) else part for part in (X, y, weight)))
        X = X.rechunk({1: -1})
        rows = cls(
            X,
            None if y is None else _aligned(y, X, "y"),
            None if weight is None else _aligned(weight, X, "sample_weight"),
            check,
        )
        if X.nbytes > _KEEP_BYTES:
            return rows
        names = [name for name in ("X", "y", "weight") if getattr(rows, name) is not None]
        kept = dask.persist(*(getattr(rows, name) for name in names))
        return replace(rows, **dict(zip(names, kept, strict=True)))

    def look(self, targets: Targets | None = None, *, with_targets: bool = True, summarize: bool = False) -> Look:
        dask = import_dask()
        sums = LookSums(targets, with_targets=with_targets, summarize=summarize)
        shared = dask.delayed(sums, traverse=False, pure=False)
        sampled = sample_numbers(self.X.shape[0], looks.FEATURE_ROWS)
        cuts = np.searchsorted(sampled, np.cumsum(self.X.chunks[0])[:-1])
        parts = [
            dask.delayed(_look_at)(shared, self.check, block, mine)
            for block, mine in zip(self.blocks(), np.split(sampled, cuts), strict=True)
        ]
        found: tuple[LookSums, ...] = self.compute(*parts)
        for part in found:
            sums.merge(part)
        return sums.look()

    def reduce(self, sums: Sums, add: Add) -> Sums:
        """Sum every block where it is stored, and merge the sums in a tree.

        A worker that dies loses its finished blocks; the scheduler computes them again elsewhere, and the sum is the same up to
        rounding: which rows are sampled depends only on their numbers.
        """
        dask = import_dask()
        # one node of the graph each, not a copy per task
        first, task = (dask.delayed(part, traverse=False, pure=False) for part in (sums, add))
        parts = [dask.delayed(_block_sums)(first, task, self.check, block) for block in self.blocks()]
        while len(parts) > 1:
            parts = [dask.delayed(_merged)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        total: Sums
        (total,) = self.compute(parts[0])
        return total

    def deal(self, dealt: Dealt) -> _DaskParts:
        """Every block becomes one piece for each part, and the pieces of a part meet on the worker that works on it.

        They are joined in the order of the blocks: the same rows in the same order as on one machine. The parts stay in the
        memory of the cluster, and what a worker takes with it when it dies is computed again.
        """
        dask = import_dask()
        shared = dask.delayed(dealt, traverse=False, pure=False)
        cut = [dask.delayed(_cut, nout=dealt.n_parts)(shared, self.check, block) for block in self.blocks()]
        parts = [dask.delayed(_joined)(shared, [pieces[i] for pieces in cut]) for i in range(dealt.n_parts)]
        return _DaskParts(self, list(dask.persist(*parts)))

    def compute(self, *parts: Any) -> Any:
        """Compute what was made of these rows; see `krein.rows.dask_rows.compute_all`."""
        size = f" of up to {max(self.X.chunks[0]):,} rows of {self.X.shape[1]:,} columns"
        return compute_all(*parts, block=size)

    def blocks(self) -> Iterable[_LazyBlock]:
        """Number of the first row, rows, targets and weights of each block, lazily."""
        xs = _delayed_blocks(self.X).ravel()
        ys, ws = ([None] * len(xs) if part is None else _delayed_blocks(part).ravel() for part in (self.y, self.weight))
        starts = np.concatenate([[0], np.cumsum(self.X.chunks[0])[:-1]])
        return [(int(start), x, y, w) for start, x, y, w in zip(starts, xs, ys, ws, strict=True)]


@final
@dataclass(frozen=True, eq=False)
class _DaskParts:
    """Rows dealt to parts, in the memory of a cluster."""

    rows: DaskRows
    parts: list[Any]

    def map(
        self, work: Callable[[Any], Result], numbers: Sequence[int], *, last: bool = False, report: Report | None = None
    ) -> list[Result]:
        dask = import_dask()
        shared = dask.delayed(work, traverse=False, pure=False)
        found = self.rows.compute(*(dask.delayed(_work_on_part)(shared, self.parts[i]) for i in numbers))
        if report is not None:
            report(len(numbers), len(numbers))
        return list(found)


def _look_at(sums: LookSums, check: CheckTargets | None, block: _LazyBlock, sampled: np.ndarray) -> LookSums:
    sums = copy.deepcopy(sums)
    sums.add(*_finite(check, block), sampled)
    return sums


def _finite(check: CheckTargets | None, block: _LazyBlock) -> tuple[int, Any, Any, np.ndarray | None]:
    """A block that has been computed, checked."""
    start, X, y, weight = block
    if check is not None:
        y = check(y, start)
    return start, finite_rows(np.asarray(X), start), y, None if weight is None else checked_weight(weight, start)


def _block_sums(sums: Sums, add: Add, check: CheckTargets | None, block: _LazyBlock) -> Sums:
    sums = copy.deepcopy(sums)
    add(sums, *_finite(check, block))
    return sums


def _merged(parts: list[Any]) -> Any:
    # the first is copied: what a task has received may be used again by another
    first = copy.deepcopy(parts[0])
    for other in parts[1:]:
        first.merge(other)
    return first


def _cut(dealt: Dealt, check: CheckTargets | None, block: _LazyBlock) -> list[Any]:
    return dealt.cut(*_finite(check, block))


def _joined(dealt: Dealt, pieces: list[Any]) -> Any:
    return dealt.joined(pieces)


def _work_on_part(work: Callable[[Any], Result], part: Any) -> Result:
    return work(part)


def map_rows(function: Callable[[Any], np.ndarray], X: Any, *, width: int, dtype: Any = np.float64) -> Any:
    """A function of each block of rows, lazily."""
    import_dask()
    X = _as_array(X)
    X = X.rechunk({1: -1})
    meta = np.empty((0, width), dtype=dtype)
    return X.map_blocks(function, dtype=dtype, chunks=(X.chunks[0], (width,)), meta=meta)


def transform(features: Any, X: Any) -> Any:
    """Features of the rows of a Dask collection, block by block where the blocks are stored.

    Parameters
    ----------
    features : RowMap or fitted feature map
    X : Dask collection of shape (n_rows, n_features)
    """
    value = features if isinstance(features, RowMap) else _Transform(features)
    dtype = np.float32 if _as_array(X).dtype == np.float32 else np.float64
    return map_rows(_Finite(value), X, width=value.signature.shape[0], dtype=dtype)


@final
@dataclass(frozen=True, eq=False)
class _Finite:
    """A map of rows that are not known to be finite."""

    features: Any

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(self.features(finite_rows(np.asarray(X), 0)))


@final
@dataclass(frozen=True, eq=False)
class _Transform:
    """A fitted transformer as a function."""

    transformer: Any

    @property
    def signature(self) -> np.ndarray:
        return np.asarray(self.transformer.signature_)

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(self.transformer.transform(X))


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


_SMALLER = (
    "use smaller blocks (X.rechunk), a map of fewer columns (n_components), fewer threads or more memory for each worker "
    "(memory_limit)"
)


def import_dask() -> Any:
    """Dask with its arrays, or an error that names the extra."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("Dask collections need dask.array; install it with: pip install 'krein[dask]'") from error
    return dask


def compute_all(*parts: Any, block: str = "") -> Any:
    """Compute Dask collections with the active scheduler.

    Errors of tasks come out as they were raised. Those of the cluster itself say what most likely happened and what to do.
    """
    try:
        return import_dask().compute(*parts)
    except MemoryError as error:
        raise MemoryError(f"a worker had no memory for a block{block}: {error}; {_SMALLER}") from error
    except CancelledError as error:
        raise ClusterError(
            f"the cluster failed before the fit was done, most likely because its scheduler is gone or was restarted: {error}; "
            "the model is as it was before the fit: connect a new distributed.Client and fit again"
        ) from error
    except Exception as error:
        if not _is_killed_worker(error):
            raise
        raise ClusterError(
            f"several workers died at the same block{block}, most likely for lack of memory: Dask stops a worker that uses "
            f"95 % of its memory limit; {_SMALLER}. The logs of the workers have the reason. Dask says: {error}"
        ) from error


def _is_killed_worker(error: Exception) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.scheduler.KilledWorker)
