"""Evaluating a similarity on pairs of objects: counted, checked, shared among processes, kept in a cache, shown as it goes."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache as memory
from operator import itemgetter
from typing import TYPE_CHECKING, Any, final

import numpy as np

from krein._core.errors import SimilarityError
from krein._core.processes import deaf_to_interrupts, n_processes
from krein._core.rows import row_blocks
from krein.show.progress import progress
from krein.similarities.cache import SimilarityCache, as_cache
from krein.similarities.calls import Called, call_block, call_elsewhere, call_here, call_pairs, why_no_matrix
from krein.similarities.objects import Objects

if TYPE_CHECKING:
    from krein.similarities.similarity import Similarity

__all__ = ["Evaluation"]

_PIECES = 100  # of a whole evaluation: after each, values are in the cache and progress is shown
_MOST_PAIRS = 1024  # in a piece for a function of two objects
# Pairs in a call with two sequences, whatever the number of processes: digits may hang on the shape of a block
_LEAST_BLOCK, _MOST_BLOCK = 64, 4096
_STRIPE = 2**18  # pairs whose places are listed at a time
_SMALL = 8  # objects of which a function of sequences makes the whole square rather than its half
_PROBED = (3, 2)  # objects of a first call that finds out how a function is called

# Numbers of objects on the left and on the right: pairs, or all pairs of both for a function of two sequences
Place = tuple[np.ndarray, np.ndarray]


@final
class Evaluation(ExitStack):
    """Evaluations that belong together, such as those of one fit; a context.

    Parameters
    ----------
    similarity : Similarity
        What is called, and how.
    pairs : int
        How many there will be at most: progress is shown against it.
    """

    def __init__(self, similarity: Similarity, pairs: int) -> None:
        super().__init__()
        distance = similarity.distance
        self.count = 0  # pairs that were evaluated
        self.asked = 0  # pairs that were asked for, whether the cache had them or not
        self.itemsize = 8  # bytes of the least precise numbers seen
        self.takes_blocks = {"pairs": False, "blocks": True}.get(similarity.call)
        if self.takes_blocks is None and distance is not None:
            self.takes_blocks = distance.takes_blocks
        self._function = similarity.function if distance is None else distance.function
        self._average = similarity.symmetrize == "average"
        self._total = 2 * pairs if self._average else pairs
        self._cache = as_cache(similarity.cache)
        self._n_jobs = n_processes(similarity.n_jobs)
        self._no_blocks = ""  # why it is not called with sequences, where that was found out
        self._pool: Any = None  # of processes, once they are needed
        # Of the sequences evaluated so far: their objects one by one, and their keys in the cache
        self._items = memory(Objects.one_by_one)
        self._keys = memory((self._cache or SimilarityCache()).keys_of)
        self._show: Callable[[int], None] = lambda done: None
        if similarity.verbose and self._total:
            self._show = self.enter_context(progress("evaluations", self._total))

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
        lower: bool = False,
    ) -> None:
        """Put the values of pairs where there are none (NaN), of a square perhaps in its lower half alone.

        (j, i) in the cache serves for (i, j) if it is symmetric.
        """
        for stripe in row_blocks(rows.size, max(1, _STRIPE // max(1, columns.size))):
            missing = np.isnan(values[stripe])
            if lower:
                missing = np.tril(missing, stripe.start)
            if missing.any():
                found = self._ordered(left, right, rows[stripe], columns, missing, symmetric)
                if self._average:
                    other = self._ordered(right, left, columns, rows[stripe], missing.T, symmetric).T
                    found = 0.5 * found + 0.5 * other
                values[stripe][missing] = found[missing]

    def square(self, objects: Objects, numbers: np.ndarray, values: np.ndarray) -> None:
        """Put the values of pairs of some objects where there are none; each pair is evaluated in one order."""
        n = numbers.size
        if not np.isnan(values).any():
            return
        if self._cache is None:  # else the cache may have all, and nothing is called
            self._find_out(objects, objects)
        if not self.takes_blocks:
            self.fill(objects, objects, numbers, numbers, values, lower=True)
            i, j = np.nonzero(np.isnan(values))
            values[i, j] = values[j, i]
        elif n <= _SMALL:
            found = self.rectangle(objects, objects, numbers, numbers)
            values[:] = 0.5 * found + 0.5 * found.T
        else:
            low, high = slice(0, n // 2), slice(n // 2, n)
            self.fill(objects, objects, numbers[high], numbers[low], values[high, low])
            values[low, high] = values[high, low].T
            for part in (low, high):
                self.square(objects, numbers[part], values[part, part])

    def with_themselves(self, objects: Objects, numbers: np.ndarray) -> np.ndarray:
        """Values of some objects with themselves."""
        self.asked += numbers.size * (2 if self._average else 1)
        values = self._known(objects, objects, numbers, numbers, symmetric=True)
        missing = np.isnan(values)
        if missing.any():
            unknown = numbers[missing]
            blocks = self._find_out(objects, objects)
            size = 1 if blocks else self._size(False)
            pieces = [(some, some) for some in _cut(unknown, size)]
            values[missing] = np.concatenate([*self._evaluate(objects, objects, pieces, blocks)])
        return values

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
            size = self._size(False)
            pieces = list(zip(_cut(rows[i], size), _cut(columns[j], size), strict=True))
            values[i, j] = np.concatenate([*self._evaluate(left, right, pieces, False)])
            return values
        patterns, which = np.unique(missing, axis=0, return_inverse=True)  # rows that miss the same columns go together
        for number, pattern in enumerate(patterns):
            here, there = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern)
            if there.size:
                # calls of which none has many more pairs than another
                size = self._size(True)
                width = max(1, min(there.size, size // max(1, min(here.size, int(size**0.5)))))
                high = _cut(here, max(1, size // width))
                places = [(some, others) for others in _cut(there, width) for some in high]
                pieces = [(rows[some], columns[others]) for some, others in places]
                for place, found in zip(places, self._evaluate(left, right, pieces, True), strict=True):
                    values[np.ix_(*place)] = found.reshape(place[0].size, place[1].size)
        return values

    def _evaluate(self, left: Objects, right: Objects, places: list[Place], blocks: bool) -> Iterator[np.ndarray]:
        """Values of pairs, place by place, by calls with two objects or with two sequences."""

        def task(place: Place) -> tuple[Any, ...]:
            i, j = place
            if blocks:
                return call_block, self._function, left[i].data, right[j].data, (i.size, j.size)
            return call_pairs, self._function, _chosen(self._items(left), i), _chosen(self._items(right), j)

        for (i, j), called in self._run(task, places):
            pairs = (np.repeat(i, j.size), np.tile(j, i.size)) if blocks else (i, j)
            self._take(called, left, right, *pairs)
            yield called.values

    def _size(self, blocks: bool) -> int:
        """Pairs in a piece of work."""
        least, most = (_LEAST_BLOCK, _MOST_BLOCK) if blocks else (1, _MOST_PAIRS)
        return min(most, max(least, self._total // _PIECES)) if self._total else most

    def _run(self, task: Callable[[Place], tuple[Any, ...]], places: list[Place]) -> Iterator[tuple[Place, Called]]:
        """What calls give, place after place; several processes share them."""
        if self._n_jobs == 1 or len(places) < 2:
            for place in places:
                yield place, call_here(*task(place))
            return
        import joblib  # late: it takes a tenth of a second, and most fits need no other process

        if self._pool is None:
            pool = joblib.Parallel(n_jobs=self._n_jobs, return_as="generator", batch_size=1)
            self._pool = self.enter_context(pool)
        with _sharing(), deaf_to_interrupts():  # it may start processes
            results = self._pool(joblib.delayed(call_elsewhere)(*task(place)) for place in places)
        waiting = deque(places)
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
            "with krein.Similarity(function, cache='a file') values computed before an error are kept for the next fit"
        )
        if self._cache is not None:
            kept = f"{self.count:,} values were computed before and are in the cache: fit again to continue from there"
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
            self.takes_blocks = not self._no_blocks
            if self.takes_blocks and why_no_matrix(self._function, some[:1].data, others[:1].data, (1, 1)):
                one = call_here(call_pairs, self._function, some[:1].one_by_one(), others[:1].one_by_one())
                if one.error is not None and not isinstance(one.error, Exception):
                    raise one.error  # Ctrl-C
                self.takes_blocks = not one.values.size
            if self.takes_blocks:
                self.count += shape[0] * shape[1] + 1
        return bool(self.takes_blocks)

    def _known(self, left: Objects, right: Objects, i: np.ndarray, j: np.ndarray, symmetric: bool) -> np.ndarray:
        """Values of pairs that the cache has, NaN for the others."""
        if self._cache is None:
            return np.full(i.size, np.nan)
        keys = _chosen(self._keys(left), i), _chosen(self._keys(right), j)
        return self._cache.look_up(*keys, symmetric=symmetric and not self._average)


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
