"""Evaluating a similarity on pairs of objects: counted, checked, shared among processes, kept in a cache, shown as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Self, final

import numpy as np

from krein._core.checks import truth_value
from krein._core.errors import SimilarityError
from krein._core.processes import Processes, Results, n_processes
from krein._core.shared_values import SharedValues
from krein.show.progress import progress
from krein.similarities.calls import Called, answer, call_elsewhere, call_piece, received, why_no_matrix
from krein.similarities.evaluation_cache import SimilarityCache, as_cache
from krein.similarities.object_kernel import ObjectKernel
from krein.similarities.objects import Objects
from krein.similarities.pair_job import Cut, PairJob

__all__ = ["Ahead", "Effort", "Evaluation"]

_PIECE_SECONDS = 0.2  # a piece of work takes about so long: it decides when progress is shown, and no result
_MOST_PAIRS = 2**21  # in a piece, 16 MiB of values
_SLOW_CALL = 1.0  # seconds of a first call that tell as well: less may be an import, or a compiler at work
_FIRST_PAIRS = 1  # in a piece as long as nothing is known of how long a pair takes: it may be a minute
_GROWTH = 4  # times as many pairs in the next piece, as long as pieces are too short to tell
# Seconds of a piece that tells how long a pair takes: a call of ours around the pairs takes a tenth of that
_TELLING = 2e-3
_BLOCK_PAIRS = 2**14  # in a call with two sequences, whatever the clock says: digits may hang on the shape of a block
_FIRST_BLOCK = 32  # pairs in the first such call
_SLOW_BLOCK = 60.0  # seconds; a function that takes longer for a block is no product of matrices, and is given pieces
_PIECES_PER_PROCESS = 4  # at the least, so that none waits long for the last; each costs a millisecond
_PIECES_AHEAD = 2  # the same where this process is busy: it hands out pieces between its own
_STARTED = 0.5  # seconds that processes take to be there
_WORTH_SENDING = 0.1  # seconds of work: less is done here, sooner than sent away
_PROBED = (3, 2)  # objects of a first call that finds out how a function is called


@final
@dataclass(frozen=True)
class Effort:
    """How evaluations are made, which changes none of their values.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Processes, see `krein._core.processes.n_processes`.
    cache : None, path or SimilarityCache, default=None
    verbose : bool, default=False
        Whether progress is shown.
    """

    n_jobs: int | None = None
    cache: Any = None
    verbose: bool = False


@final
@dataclass(frozen=True, eq=False)
class Ahead:
    """Values that other processes are evaluating.

    Parameters
    ----------
    values : callable
        Waits for them, and gives what `Evaluation.rectangle` would.
    ready : callable
        Whether there is nothing to wait for.
    """

    values: Callable[[], np.ndarray]
    ready: Callable[[], bool]


@dataclass(frozen=True, eq=False)
class _Sent:
    """A job that other processes do: its pieces so far, with the place of their values in a room, and results in that order."""

    job: PairJob
    cuts: list[tuple[Cut, int]]
    room: SharedValues
    results: Results[Called]


@final
class Evaluation:
    """A number of evaluations that belong together, such as those of one fit; a context.

    Parameters
    ----------
    kernel : ObjectKernel
    takes_blocks : bool or None
        How it is called; None if that is to be found out with the first pairs.
    effort : Effort
    total : int, default=0
        How many evaluations there will be at most, to show progress against.
    average : bool, default=False
        Whether the value of a pair is the mean of both orders.
    """

    def __init__(
        self, kernel: ObjectKernel, takes_blocks: bool | None, effort: Effort, *, total: int = 0, average: bool = False
    ) -> None:
        self.count = 0  # calls, as it were: pairs that were evaluated
        self.asked = 0  # pairs that were asked for, whether the cache had them or not
        self.itemsize = 8  # bytes of the least precise numbers seen
        self._function = kernel.evaluator
        self.takes_blocks = takes_blocks
        self._no_blocks = ""  # why it is not called with sequences, where that was found out
        self._average = average
        self._cache: SimilarityCache | None = as_cache(effort.cache)
        self._verbose = truth_value(effort.verbose, "verbose")
        self._processes = Processes(n_processes(effort.n_jobs))
        self._total = total
        self._seconds = 0.0  # of a pair; 0 as long as nothing is known
        self._growing = _FIRST_PAIRS  # pairs in a next piece at most, until one was long enough to tell; then 0
        self._under_way = False  # whether other processes have something to do
        self._stack = ExitStack()
        self._show: Callable[[int], None] = _unseen
        self._keys: dict[int, tuple[Objects, list[bytes]]] = {}  # of the sequences evaluated so far, by identity

    def __enter__(self) -> Self:
        self._stack.enter_context(self._processes)
        if self._verbose and self._total:
            self._show = self._stack.enter_context(progress("evaluations", self._total))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def rectangle(self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Values of all pairs of some objects on the left and some on the right."""
        values = self._ordered(left, right, rows, columns)
        if not self._average:
            return values
        return 0.5 * values + 0.5 * self._ordered(right, left, columns, rows).T

    def both_orders(self, objects: Objects, rows: np.ndarray) -> np.ndarray:
        """Values of all ordered pairs of some objects, the first of a pair by row."""
        return self._ordered(objects, objects, rows, rows, symmetric=False)

    def pairs(self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Values of single pairs."""
        values = self._zipped(left, right, rows, columns)
        return 0.5 * values + 0.5 * self._zipped(right, left, columns, rows) if self._average else values

    def ahead(self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray, *, here: int) -> Ahead | None:
        """Have other processes evaluate all pairs of some objects, and go on here meanwhile."""
        job = PairJob(left, right, rows, columns)
        size = rows.size * columns.size
        if self._cache is not None or self._average or self.takes_blocks is not False:
            return None
        if self._under_way or not self._pays(size) or self._pays(here):
            return None
        sent = self._send(job, blocks=False, pieces=_PIECES_AHEAD)

        def wait() -> np.ndarray:
            self.asked += size
            values = np.empty(job.shape, order="F")
            self._receive(sent, values)
            return values

        return Ahead(wait, lambda: sent.results.ready)

    def with_themselves(self, objects: Objects, rows: np.ndarray) -> np.ndarray:
        """Values of some objects with themselves."""
        return self._zipped(objects, objects, rows, rows)

    def _zipped(self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Values of single pairs in this order, from the cache or evaluated."""
        self.asked += rows.size
        values = np.full(rows.size, np.nan)
        if self._cache is not None:
            keys, names = self._keys_of(left), self._keys_of(right)
            for i, (row, column) in enumerate(zip(rows, columns, strict=True)):
                values[i] = self._cache.look_up([keys[row]], names[column], symmetric=not self._average)[0]
        missing = np.isnan(values)
        values[missing] = self._fill(PairJob(left, right, rows[missing], columns[missing], zipped=True))[:, 0]
        return values

    def _ordered(
        self, left: Objects, right: Objects, rows: np.ndarray, columns: np.ndarray, *, symmetric: bool = True
    ) -> np.ndarray:
        """Values of pairs in this order (the other serves as well if the similarity is symmetric), from the cache or evaluated."""
        self.asked += rows.size * columns.size
        if self._cache is None:
            return self._fill(PairJob(left, right, rows, columns))
        values = np.empty((rows.size, columns.size), order="F")
        keys, names = self._keys_of(left), self._keys_of(right)
        left_keys = [keys[i] for i in rows]
        for j, column in enumerate(columns):
            values[:, j] = self._cache.look_up(left_keys, names[column], symmetric=symmetric and not self._average)
        missing = np.isnan(values)
        # columns of which all is missing go together; of the others only what is missing
        whole = missing.all(axis=0)
        values[:, whole] = self._fill(PairJob(left, right, rows, columns[whole]))
        for j in np.flatnonzero(~whole & missing.any(axis=0)).tolist():
            some = np.flatnonzero(missing[:, j])
            values[some, j] = self._fill(PairJob(left, right, rows[some], columns[j : j + 1]))[:, 0]
        return values

    def _fill(self, job: PairJob) -> np.ndarray:
        """Evaluate all pairs, piece by piece: here as long as there is little to do, then by several processes."""
        values = np.empty(job.shape, order="F")  # as pieces come: column after column
        if not values.size:
            return values
        blocks, done = self._find_out(job), 0
        while done < values.size:
            left = values.size - done
            if not self._under_way and self._pays(left):
                self._receive(self._send(job, done, blocks=blocks, pieces=_PIECES_PER_PROCESS), values)
                return values
            cut = job.cut(done, self._pace(blocks))
            self._take(call_piece(self._function, blocks, job.piece(cut, blocks=blocks)), job, cut, values)
            done += cut.size
        return values

    def _pays(self, left: int) -> bool:
        """Whether other processes are sooner with what is left of a job; they are started once they are with all that is left."""
        if self._processes.count == 1 or self._growing:
            return False
        saved = max(left, self._total - self.count) * self._seconds * (1.0 - 1.0 / self._processes.count)
        if not self._processes.started and saved <= _STARTED:
            return False
        self._processes.start(answer)
        return left * self._seconds >= _WORTH_SENDING

    def _send(self, job: PairJob, done: int = 0, *, blocks: bool, pieces: int = _PIECES_PER_PROCESS) -> _Sent:
        """Have other processes do a job, or what is left of it, in so many pieces for each or more."""
        size = job.shape[0] * job.shape[1]
        even = job.whole_lines(-(-(size - done) // (pieces * self._processes.count)))
        cuts: list[tuple[Cut, int]] = []
        room = self._stack.enter_context(SharedValues())

        def tasks() -> Iterator[tuple[Any, ...]]:
            at = done
            while at < size:
                pairs = self._pace(blocks)  # which grows where the first calls were slow, and they alone
                # pieces of a block function are the same whoever makes them
                cut = job.cut(at, pairs if blocks and pairs == _BLOCK_PAIRS else max(1, min(even, pairs)))
                start = 8 * (at - done)
                cuts.append((cut, start))
                yield self._function, blocks, job.piece(cut, blocks=blocks), room.address, start
                at += cut.size

        with _sharing():
            results = self._processes.run(call_elsewhere, tasks())
        self._under_way = True
        return _Sent(job, cuts, room, results)

    def _receive(self, sent: _Sent, values: np.ndarray) -> None:
        """Wait for what other processes do, piece by piece."""
        with sent.room:
            for i in count():
                with _sharing():
                    called = next(sent.results, None)
                    if called is None:
                        self._under_way = False
                        return
                    cut, start = sent.cuts[i]
                    called = received(called, sent.room, start)
                self._take(called, sent.job, cut, values)

    def _find_out(self, job: PairJob) -> bool:
        """Whether the function takes sequences: it gives a matrix of the right shape for some objects, and for one by one.

        A product of two vectors may give one for some objects too, where the shapes happen to fit. So where it gives none for
        one by one, it takes sequences only if it takes no two objects.
        """
        if self.takes_blocks is None:
            some = PairJob(job.left, job.right, job.rows[: _PROBED[0]], job.columns[: _PROBED[1]])
            pieces = [some.piece(some.cut(0, pairs), blocks=True) for pairs in (_PROBED[0] * _PROBED[1], 1)]
            self._no_blocks = why_no_matrix(self._function, pieces[0])
            made = 0 if self._no_blocks else pieces[0].shape[0] * pieces[0].shape[1]
            if made and why_no_matrix(self._function, pieces[1]):
                one = call_piece(self._function, False, some.piece(some.cut(0, 1), blocks=False))
                if one.error is not None and not isinstance(one.error, Exception):
                    raise one.error  # Ctrl-C
                self.takes_blocks = one.error is not None or bool(one.problem)
            else:
                self.takes_blocks = made > 0
            if self.takes_blocks:
                self.count += made + 1
        return self.takes_blocks

    def _pace(self, blocks: bool) -> int:
        """Pairs in a piece."""
        if not self._seconds:
            return _FIRST_BLOCK if blocks else _FIRST_PAIRS
        if blocks and self._seconds * _BLOCK_PAIRS < _SLOW_BLOCK:
            return _BLOCK_PAIRS
        return int(np.clip(_PIECE_SECONDS / self._seconds, 1, self._growing or _MOST_PAIRS))

    def _take(self, called: Called, job: PairJob, cut: Cut, values: np.ndarray) -> None:
        """Keep what a piece gave; an error if it did not run to its end."""
        given = called.values
        self.itemsize = min(self.itemsize, given.dtype.itemsize)
        self.count += given.size
        self._time(called, cut.size)
        if self._cache is not None and given.size:
            keys, names = self._keys_of(job.left), self._keys_of(job.right)
            i, j = job.numbers(cut)
            self._cache.store([keys[n] for n in i[: given.size]], [names[n] for n in j[: given.size]], given)
        self._show(self.count)
        if given.size == cut.size and called.error is None:
            values[cut.rows, cut.columns] = given.reshape(-1, cut.shape[0]).T
            return
        if called.error is not None and not isinstance(called.error, Exception):
            raise called.error  # Ctrl-C
        raise SimilarityError(self._told(called, job, cut)) from called.error

    def _time(self, called: Called, pairs: int) -> None:
        """Learn how long a pair takes: a short piece says that it is at most so long, and no more."""
        seconds, first = called.seconds / pairs, not self._seconds
        telling = called.seconds >= (_SLOW_CALL if first else _TELLING)
        self._seconds = seconds if first or telling else min(seconds, self._seconds)
        if telling:
            self._growing = 0
        elif self._growing:
            self._growing = _GROWTH * pairs

    def _told(self, called: Called, job: PairJob, cut: Cut) -> str:
        """What went wrong, at which pair, and what to do."""
        problem = called.problem or f"{type(called.error).__name__}: {called.error}"
        i, j = job.numbers(cut)
        at = min(called.values.size, cut.size - 1)
        one = not self.takes_blocks or cut.size == 1
        where = f"{i[at]} and {j[at]}" if one else f"{i[0]} to {i[-1]} with objects {j[0]} to {j[-1]}"
        kept = (
            f"{self.count:,} values were computed before and are in the cache: fit again to continue from there"
            if self._cache is not None
            else "with cache='a file' values computed before an error are kept for the next fit"
        )
        if self._no_blocks and not self.count and called.error is not None:
            kept = f"with two lists of objects it gave {self._no_blocks}; set call='blocks' if it takes lists, 'pairs' if not"
        return f"the similarity of objects {where} could not be computed: {problem} ({kept})"

    def _keys_of(self, objects: Objects) -> list[bytes]:
        assert self._cache is not None
        if id(objects) not in self._keys:
            self._keys[id(objects)] = (objects, self._cache.keys_of(objects))
        return self._keys[id(objects)][1]


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


def _unseen(done: int) -> None:
    return
