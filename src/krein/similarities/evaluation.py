"""Evaluating a similarity on pairs of objects: counted, checked, shared among processes, kept in a cache, shown as it goes."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from typing import Any, Self, final

import numpy as np

from krein._core.checks import truth_value
from krein._core.errors import SimilarityError
from krein._core.processes import deaf_to_interrupts, n_processes
from krein._core.rows import row_blocks
from krein.show.progress import progress
from krein.similarities.cache import SimilarityCache, as_cache
from krein.similarities.calls import (
    Called,
    call_block,
    call_elsewhere,
    call_here,
    call_pairs,
    call_singles,
    why_no_matrix,
)
from krein.similarities.objects import Objects

__all__ = ["Evaluation"]

_PIECES = 100  # of a whole evaluation: after each, values are in the cache and progress is shown
_MOST_PAIRS = 1024  # in a piece for a function of two objects
# Pairs in a call with two sequences, whatever the number of processes: digits may hang on the shape of a block
_LEAST_BLOCK, _MOST_BLOCK = 64, 4096
_STRIPE = 2**18  # pairs whose places are listed at a time
_SMALL = 8  # objects of which a function of sequences makes the whole square rather than its half
_PROBED = (3, 2)  # objects of a first call that finds out how a function is called

Place = tuple[np.ndarray, np.ndarray]  # numbers of objects on the left and on the right


@final
class Evaluation:
    """Evaluations that belong together, such as those of one fit; a context.

    Parameters
    ----------
    function : callable
        Of two objects or two sequences of objects.
    call : {"auto", "pairs", "blocks"}
    average : bool
        Whether the value of a pair is the mean of both orders.
    n_jobs, cache, verbose
        As in `krein.Similarity`.
    total : int
        How many evaluations there will be at most, to show progress against.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        *,
        call: str,
        average: bool,
        n_jobs: int | None,
        cache: Any,
        verbose: bool,
        total: int,
    ) -> None:
        self.count = 0  # pairs that were evaluated
        self.asked = 0  # pairs that were asked for, whether the cache had them or not
        self.itemsize = 8  # bytes of the least precise numbers seen
        self.takes_blocks = {"pairs": False, "blocks": True}.get(call)
        self._function, self._average, self._total = function, average, total
        self._cache: SimilarityCache | None = as_cache(cache)
        self._verbose = truth_value(verbose, "verbose")
        self._n_jobs = n_processes(n_jobs)
        self._no_blocks = ""  # why it is not called with sequences, where that was found out
        self._stack = ExitStack()
        self._pool: Any = None  # of processes, once they are needed
        self._show: Callable[[int], None] = lambda done: None
        # Of the sequences evaluated so far, by identity: their objects one by one, and their keys in the cache
        self._parts: dict[tuple[int, str], tuple[Objects, list[Any]]] = {}

    def __enter__(self) -> Self:
        if self._verbose and self._total:
            self._show = self._stack.enter_context(progress("evaluations", self._total))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def rectangle(
        self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray, *, symmetric: bool = True
    ) -> np.ndarray:
        """Values of all pairs of some objects on the left and some on the right."""
        values = np.full((rows.size, columns.size), np.nan)
        self.fill(left, right, rows, columns, values, symmetric=symmetric)
        return values

    def fill(
        self,
        left: Objects,
        right: Objects,
        rows: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        *,
        symmetric: bool = True,
    ) -> None:
        """Put the values of pairs where there are none (NaN); (j, i) in the cache serves for (i, j) if it is symmetric."""
        for stripe in row_blocks(rows.size, max(1, _STRIPE // max(1, columns.size))):
            missing = np.isnan(values[stripe])
            if missing.any():
                found = self._ordered(left, right, rows[stripe], columns, missing, symmetric)
                if self._average:
                    found = (
                        0.5 * found + 0.5 * self._ordered(right, left, columns, rows[stripe], missing.T, symmetric).T
                    )
                values[stripe][missing] = found[missing]

    def square(self, objects: Objects, numbers: np.ndarray, values: np.ndarray) -> None:
        """Put the values of pairs of some objects where there are none; each pair is evaluated in one order."""
        n = numbers.size
        if self.takes_blocks is None and not self._average:  # not called yet: the cache may have all
            i, j = np.nonzero(np.tril(np.isnan(values)))
            values[i, j] = values[j, i] = self._known(objects, objects, numbers[i], numbers[j], symmetric=True)
        if not np.isnan(values).any():
            return
        if not self._find_out(objects, objects):
            for rows in row_blocks(n, max(1, _STRIPE // max(1, n))):
                i, j = np.nonzero(np.tril(np.isnan(values[rows]), rows.start))
                i += rows.start
                values[i, j] = values[j, i] = self.pairs(objects, objects, numbers[i], numbers[j])
            return
        if n <= _SMALL:
            found = self.rectangle(objects, objects, numbers, numbers)
            values[:] = 0.5 * found + 0.5 * found.T
            return
        low, high = slice(0, n // 2), slice(n // 2, n)
        self.fill(objects, objects, numbers[high], numbers[low], values[high, low])
        values[low, high] = values[high, low].T
        for part in (low, high):
            self.square(objects, numbers[part], values[part, part])

    def pairs(self, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Values of single pairs, of the object i on the left with j on the right."""
        if not self._average:
            return self._pairs(left, right, i, j)
        return 0.5 * self._pairs(left, right, i, j) + 0.5 * self._pairs(right, left, j, i)

    def _ordered(
        self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray, missing: np.ndarray, symmetric: bool
    ) -> np.ndarray:
        """Values of the missing pairs in this order, from the cache or evaluated."""
        i, j = np.nonzero(missing)
        self.asked += i.size
        values = np.full(missing.shape, np.nan)
        values[i, j] = self._known(left, right, rows[i], columns[j], symmetric)
        missing = missing & np.isnan(values)
        if not missing.any():
            return values
        if not self._find_out(left, right):
            i, j = np.nonzero(missing)
            values[i, j] = self._singles(left, right, rows[i], columns[j])
            return values
        patterns, which = np.unique(missing, axis=0, return_inverse=True)  # rows that miss the same columns go together
        for number, pattern in enumerate(patterns):
            here, there = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern)
            if there.size:
                values[np.ix_(here, there)] = self._blocks(left, right, rows[here], columns[there])
        return values

    def _pairs(self, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Values of single pairs in this order, from the cache or evaluated."""
        self.asked += i.size
        values = self._known(left, right, i, j, symmetric=True)
        missing = np.isnan(values)
        if missing.any():
            values[missing] = self._singles(left, right, i[missing], j[missing])
        return values

    def _singles(self, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Values of single pairs by calls with two objects, or with two sequences of one object."""
        call = call_singles if self._find_out(left, right) else call_pairs
        ones, others = self._one_by_one(left), self._one_by_one(right)
        values, size = np.empty(i.size), self._size(False)
        pieces = [(i[at : at + size], j[at : at + size]) for at in range(0, i.size, size)]

        def task(piece: Place) -> tuple[Any, ...]:
            return call, self._function, _chosen(ones, piece[0]), _chosen(others, piece[1])

        done = 0
        for piece, called in self._run(task, pieces):
            self._take(called, left, right, *piece)
            values[done : done + called.values.size] = called.values
            done += called.values.size
        return values

    def _blocks(self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """All pairs of some objects by calls with two sequences, of which none has many more pairs than another."""
        values = np.empty((rows.size, columns.size))
        size = self._size(True)
        width = max(1, min(columns.size, size // max(1, min(rows.size, int(size**0.5)))))
        places = [
            (high, wide)
            for wide in _cut(np.arange(columns.size), width)
            for high in _cut(np.arange(rows.size), max(1, size // width))
        ]

        def task(place: Place) -> tuple[Any, ...]:
            high, wide = place
            return call_block, self._function, left[rows[high]].data, right[columns[wide]].data, (high.size, wide.size)

        for (high, wide), called in self._run(task, places):
            self._take(called, left, right, np.repeat(rows[high], wide.size), np.tile(columns[wide], high.size))
            values[np.ix_(high, wide)] = called.values.reshape(high.size, wide.size)
        return values

    def _size(self, blocks: bool) -> int:
        """Pairs in a piece of work."""
        least, most = (_LEAST_BLOCK, _MOST_BLOCK) if blocks else (1, _MOST_PAIRS)
        return min(most, max(least, self._total // _PIECES)) if self._total else most

    def _run(self, task: Callable[[Place], tuple[Any, ...]], pieces: list[Place]) -> Iterator[tuple[Place, Called]]:
        """What calls give, piece after piece; several processes share them."""
        if self._n_jobs == 1 or len(pieces) < 2:
            for piece in pieces:
                yield piece, call_here(*task(piece))
            return
        import joblib  # late: it takes a tenth of a second, and most fits need no other process

        if self._pool is None:
            pool = joblib.Parallel(n_jobs=self._n_jobs, return_as="generator", batch_size=1)
            self._pool = self._stack.enter_context(pool)
        with _sharing(), deaf_to_interrupts():  # it may start processes
            results = self._pool(joblib.delayed(call_elsewhere)(*task(piece)) for piece in pieces)
        waiting = deque(pieces)
        try:
            while waiting:
                with _sharing():
                    called = next(results)
                yield waiting.popleft(), called
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that tasks are given up is what an error means
                results.close()

    def _take(self, called: Called, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray) -> None:
        """Count and keep what a piece gave; an error if it did not run to its end."""
        given = called.values
        self.itemsize = min(self.itemsize, given.dtype.itemsize)
        self.count += given.size
        if self._cache is not None and given.size:
            keys, names = self._keys(left), self._keys(right)
            self._cache.store(_chosen(keys, i[: given.size]), _chosen(names, j[: given.size]), given)
        self._show(self.count)
        if called.error is not None and not isinstance(called.error, Exception):
            raise called.error  # Ctrl-C
        if given.size < i.size or called.error is not None:
            raise SimilarityError(self._told(called, i, j)) from called.error

    def _told(self, called: Called, i: np.ndarray, j: np.ndarray) -> str:
        """What went wrong, at which pair, and what to do."""
        problem = called.problem or f"{type(called.error).__name__}: {called.error}"
        at = min(called.values.size, i.size - 1)
        one = not self.takes_blocks or i.size == 1
        where = f"{i[at]} and {j[at]}" if one else f"{i[0]} to {i[-1]} with objects {j[0]} to {j[-1]}"
        kept = (
            f"{self.count:,} values were computed before and are in the cache: fit again to continue from there"
            if self._cache is not None
            else "with krein.Similarity(function, cache='a file') values computed before an error are kept for the next fit"
        )
        if self._no_blocks and not self.count and called.error is not None:
            kept = (
                f"with two lists of objects it gave {self._no_blocks}; say krein.Similarity(function, call='blocks') if it "
                "takes lists, call='pairs' if not"
            )
        return f"the similarity of objects {where} could not be computed: {problem} ({kept})"

    def _find_out(self, left: Objects, right: Objects) -> bool:
        """Whether the function takes sequences: it gives a matrix of the right shape for some objects, and for one by one.

        A product of two vectors may give one for some objects too, where the shapes happen to fit. So where it gives none for
        one by one, it takes sequences only if it takes no two objects.
        """
        if self.takes_blocks is None and len(left) and len(right):
            some, others = left[: _PROBED[0]], right[: _PROBED[1]]
            shape = len(some), len(others)
            self._no_blocks = why_no_matrix(self._function, some.data, others.data, shape)
            if not self._no_blocks and why_no_matrix(self._function, some[:1].data, others[:1].data, (1, 1)):
                one = call_pairs(self._function, some[:1].one_by_one(), others[:1].one_by_one())
                if one.error is not None and not isinstance(one.error, Exception):
                    raise one.error  # Ctrl-C
                self.takes_blocks = one.error is not None or bool(one.problem)
            else:
                self.takes_blocks = not self._no_blocks
            if self.takes_blocks:
                self.count += shape[0] * shape[1] + 1
        return bool(self.takes_blocks)

    def _known(self, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray, symmetric: bool) -> np.ndarray:
        """Values of pairs that the cache has, NaN for the others."""
        if self._cache is None:
            return np.full(i.size, np.nan)
        left_keys, right_keys = _chosen(self._keys(left), i), _chosen(self._keys(right), j)
        return self._cache.look_up(left_keys, right_keys, symmetric=symmetric and not self._average)

    def _one_by_one(self, objects: Objects) -> list[Any]:
        def parts() -> list[Any]:
            if self.takes_blocks:
                return [objects[k : k + 1].data for k in range(len(objects))]
            return objects.one_by_one()

        return self._part(objects, "objects", parts)

    def _keys(self, objects: Objects) -> list[bytes]:
        cache = self._cache
        assert cache is not None
        return self._part(objects, "keys", lambda: cache.keys_of(objects))

    def _part(self, objects: Objects, kind: str, make: Callable[[], list[Any]]) -> list[Any]:
        if (id(objects), kind) not in self._parts:
            self._parts[id(objects), kind] = objects, make()
        return self._parts[id(objects), kind][1]


def _chosen(items: list[Any], numbers: np.ndarray) -> list[Any]:
    if numbers.size < 2:
        return [items[k] for k in numbers]
    return list(itemgetter(*numbers.tolist())(items))


def _cut(numbers: np.ndarray, size: int) -> list[np.ndarray]:
    return [numbers[start : start + size] for start in range(0, numbers.size, size)]


@contextmanager
def _sharing() -> Iterator[None]:
    """Any failure outside a call is one of sending objects to a process, or what it found back."""
    try:
        yield
    except Exception as error:
        raise SimilarityError(
            f"evaluations could not be shared among processes ({type(error).__name__}: {error}); make the function "
            "and the objects picklable, or use n_jobs=1"
        ) from error
