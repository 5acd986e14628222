"""Columns of the matrix of training objects, made when a rule for landmarks asks for them, and completed in one go."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np

from krein._core.pivots import Columns
from krein.similarities.evaluation import Ahead, Evaluation
from krein.similarities.object_kernel import ObjectKernel
from krein.similarities.objects import Objects
from krein.similarities.symmetry import check_symmetric

__all__ = ["CalledColumns", "CandidateColumns", "KernelChoice"]

# from costly values of all objects to the landmarks and of those to each other, and which objects the landmarks are, to a kernel
KernelChoice = Callable[[np.ndarray, np.ndarray, np.ndarray], ObjectKernel]

_PILOT = 32  # objects, spread over all, of which all pairs are evaluated in both orders before anything else
_PILOT_TO_FIT = 64  # where a kernel learns from them, such as its scale
_PAID = 0.7  # of the landmarks: all ordered pairs of so many objects are half the square of all of them
_PROBES = 7  # pairs that may go to finding out how a function is called
_SMALL = 8  # objects of which a function of sequences makes the whole square rather than its half
_SAME = 1e-9  # relative difference below which values of objects with themselves are alike


@final
class CalledColumns:
    """Columns of a similarity that is called: no pair is evaluated twice, and (i, j) serves for (j, i).

    Made with a pilot: some objects, spread over all, whose pairs are evaluated in both orders. It shows whether the similarity is
    symmetric, what a kernel must learn, and whether all objects are equally similar to themselves.

    Parameters
    ----------
    kernel : ObjectKernel
    objects : Objects
    evaluation : Evaluation
    count : int
        Landmarks wanted in all: together they take no more than ``(count + 1) * n_objects`` evaluations (twice as many where both
        orders are averaged).
    average : bool
        Whether asymmetry is averaged away; otherwise it is an error.
    """

    def __init__(
        self, kernel: ObjectKernel, objects: Objects, evaluation: Evaluation, count: int, *, average: bool
    ) -> None:
        n = len(objects)
        self.taken = np.empty(0, dtype=int)
        self._objects = objects
        self.evaluation = evaluation
        self._count = count
        self._price = 2 if average else 1
        self._budget = self._price * (count + 1) * n - _PROBES
        self._rows = np.arange(n)  # objects of which columns are evaluated when they are taken
        self._rest = np.empty(0, dtype=int)  # those for which that is put off
        self._block = np.empty((n, 0), order="F")  # costly values of the columns taken, and room for more
        self._far = self._rest  # those of them of which nothing is known
        self._ahead: Ahead | None = None  # their costly values that other processes are evaluating
        self._sent = self._received = 0  # columns that were sent to them, and those that came back
        # Costly values of landmarks that are none of the objects
        self._outside: tuple[np.ndarray, np.ndarray] | None = None
        self._known: dict[int, dict[int, float]] = {}  # costly values of pairs outside the columns
        self._self = np.full(n, np.nan if kernel.self_value is None else kernel.self_value)
        self.pilot = self._spread(kernel, count)
        self.kernel = self._look(kernel, average=average)

    def _spread(self, kernel: ObjectKernel, count: int) -> np.ndarray:
        """As many objects as the evaluations that symmetry saves will pay for, and for the scale of a distance some more."""
        n, size = len(self._objects), min(_PILOT, max(3, int(_PAID * count)))
        if kernel.needs_fit:
            size = min(_PILOT_TO_FIT, max(size, math.isqrt(n)))
        return np.unique(np.linspace(0, n - 1, min(n, size)).astype(int))

    def _look(self, kernel: ObjectKernel, *, average: bool) -> ObjectKernel:
        """Evaluate the pilot, and learn from it."""
        pilot = self.pilot
        values = self.evaluation.both_orders(self._objects, pilot)
        if not average:
            single = np.float32 if self.evaluation.itemsize == 4 else np.float64
            check_symmetric(values.astype(single), "the similarity", numbers=pilot, way_out=_WAY_OUT)
        values = 0.5 * values + 0.5 * values.T
        self._remember(pilot, values)
        self._self[pilot] = np.diagonal(values)
        self._pilot_values = values
        return kernel.fitted(values[np.triu_indices(pilot.size, 1)]) if kernel.needs_fit else kernel

    def put_off(self, rest: np.ndarray) -> None:
        """Evaluate columns of some objects in the end only, when all landmarks are known."""
        here = np.ones(len(self._objects), dtype=bool)
        here[rest] = False
        self._rest, self._rows = rest, np.flatnonzero(here)
        self._far = np.setdiff1d(rest, np.fromiter(self._known, dtype=int), assume_unique=True)
        self._sent = self._received = 0

    def diagonal(self, rows: np.ndarray) -> np.ndarray:
        """Similarities of some objects with themselves, or a guess where they would cost too much."""
        unknown = rows[np.isnan(self._self[rows])]
        if unknown.size:
            seen = self._self[self.pilot]
            alike = float(np.ptp(seen)) <= _SAME * float(np.abs(seen).max())
            if alike or self._price * unknown.size > self.spare(
                self._count
            ):  # too dear, and for the choice of landmarks only
                guess = self._self.copy()
                guess[unknown] = np.median(seen)
                return self.kernel.similarity(guess[rows])
            self._self[unknown] = self.evaluation.with_themselves(self._objects, unknown)
        return self.kernel.similarity(self._self[rows])

    def among(self, chosen: np.ndarray) -> np.ndarray:
        """Similarities among some objects."""
        return self.kernel.similarity(self._square(chosen))

    def take(self, chosen: np.ndarray) -> np.ndarray:
        """Similarities of all objects but those put off to some that are landmarks from now on."""
        done = self.taken.size
        square = self._square(chosen)
        self.taken = np.concatenate([self.taken, chosen])
        self._make_room()
        self._block[self.taken[:done], done : self.taken.size] = self._block[chosen, :done].T  # (j, i) for (i, j)
        self._block[chosen, done : self.taken.size] = square
        self._send_ahead()
        self._evaluate_columns(np.setdiff1d(self._rows, self.taken, assume_unique=True), done)
        if self._rest.size:
            self._send_ahead()  # now that it is known how long a pair takes, if it was not before
            return self.kernel.similarity(self._block[self._rows, done : self.taken.size])
        for number in chosen:
            self._known.pop(int(number), None)
        return self.kernel.similarity(self._block[:, done : self.taken.size])

    def matrix(self) -> np.ndarray:
        """Similarities of all objects to all landmarks taken."""
        return self.kernel.similarity(self._completed())

    def _send_ahead(self) -> None:
        """Have other processes evaluate columns of objects put off, where that is sooner, while landmarks are sought here."""
        if self._ahead is not None and self._ahead.ready():
            self._receive()
        if self._ahead is None and self._far.size and self._sent < self.taken.size:
            columns = self.taken[self._sent :]
            self._ahead = self.evaluation.ahead(
                self._objects, self._objects, self._far, columns, here=self._rows.size * columns.size
            )
            if self._ahead is not None:
                self._received, self._sent = self._sent, self.taken.size

    def _receive(self) -> None:
        """Wait for columns that were sent ahead."""
        if self._ahead is not None:
            self._write(self._far, self._received, self._ahead.values())
            self._ahead, self._received = None, self._sent

    def _completed(self) -> np.ndarray:
        """Costly values of all objects to all landmarks taken; those put off are evaluated together, which is shared best."""
        if self._rest.size:
            self._evaluate_columns(np.setdiff1d(self._rest, self._far, assume_unique=True), 0)
            self._receive()
            self._evaluate_columns(self._far, self._sent)
            self.put_off(self._rest[:0])
        return self._block[:, : self.taken.size]

    def _evaluate_columns(self, rows: np.ndarray, first: int) -> None:
        """Costly values of some objects, which are no landmarks, to all landmarks from a first one on."""
        columns = self.taken[first:]
        where = {number: j for j, number in enumerate(columns.tolist())}
        near = np.intersect1d(rows, np.fromiter(self._known, dtype=int), assume_unique=True).tolist()
        partly = np.array([i for i in near if not where.keys().isdisjoint(self._known[i])], dtype=int)
        values = np.full((partly.size, columns.size), np.nan)
        for at, i in enumerate(partly.tolist()):
            for number, value in self._known[i].items():
                if number in where:
                    values[at, where[number]] = value
        self._evaluate_missing(self._objects, partly, columns, values)
        self._write(partly, first, values)
        unknown = np.setdiff1d(rows, partly, assume_unique=True)
        self._write(unknown, first, self.evaluation.rectangle(self._objects, self._objects, unknown, columns))

    def _make_room(self) -> None:
        """Columns for all landmarks taken, and at once for as many as are wanted: memory is touched when it is written."""
        if self.taken.size > self._block.shape[1]:
            wider = np.empty((len(self._objects), max(self._count, self.taken.size)), order="F")
            wider[:, : self._block.shape[1]] = self._block
            self._block = wider

    def _write(self, rows: np.ndarray, first: int, values: np.ndarray) -> None:
        """Keep columns from a first one on; one after the other, as they lie in memory."""
        for j in range(values.shape[1]):
            self._block[rows, first + j] = values[:, j]

    def outside(self, landmarks: Objects) -> tuple[np.ndarray, np.ndarray]:
        """Similarities of all objects to landmarks that are none of them, and of those to each other."""
        everyone, all_landmarks = np.arange(len(self._objects)), np.arange(len(landmarks))
        block = self.evaluation.rectangle(self._objects, landmarks, everyone, all_landmarks)
        square = np.full((len(landmarks), len(landmarks)), np.nan)
        self._halves(landmarks, all_landmarks, square, all_landmarks)
        self._outside = block, square
        return self.kernel.similarity(block), self.kernel.similarity(square)

    def settle(self, choose: KernelChoice) -> tuple[np.ndarray, np.ndarray]:
        """Choose the function of the costly values now that they are there; none is evaluated again."""
        if self._outside is None:
            block = self._completed()
            square = block[self.taken]
        else:
            block, square = self._outside
        self.kernel = choose(block, square, self.taken)
        return self.kernel.similarity(block), self.kernel.similarity(square)

    def pilot_matrix(self) -> np.ndarray:
        """Similarities among the objects of the pilot."""
        return self.kernel.similarity(self._pilot_values)

    def spare(self, wanted: int) -> float:
        """Pairs that may be evaluated beyond the columns of landmarks."""
        k, n = self.taken.size, len(self._objects)
        known = k * wanted + wanted * (wanted + 1) // 2  # of the columns to come, by symmetry or as the diagonal
        due = wanted * n - known + k * self._rest.size - self._received * self._far.size
        # what a cache knows counts as well, so that it changes nothing
        return self._budget - self.evaluation.asked - self._price * due

    def _square(self, chosen: np.ndarray) -> np.ndarray:
        """Costly values among some objects, those unknown evaluated and remembered."""
        values = np.full((chosen.size, chosen.size), np.nan)
        np.fill_diagonal(values, self._self[chosen])
        place = {int(number): i for i, number in enumerate(chosen)}
        for number, i in place.items():
            for other, value in self._known.get(number, {}).items():
                if other in place:
                    values[i, place[other]] = values[place[other], i] = value
        if np.isnan(values).any():
            asked = self.evaluation.asked
            self._halves(self._objects, chosen, values, np.arange(chosen.size))
            # So many at most, and the same however the function is called
            self.evaluation.asked = asked + self._price * values.size
        self._remember(chosen, values)
        self._self[chosen] = np.diagonal(values)
        return values

    def _halves(self, objects: Objects, chosen: np.ndarray, values: np.ndarray, part: np.ndarray) -> None:
        """Fill what is missing in the square of a part: the rectangle between its halves, then each half."""
        square = values[np.ix_(part, part)]
        if not np.isnan(square).any():
            return
        if not self.evaluation.takes_blocks:
            i, j = np.nonzero(np.tril(np.isnan(square)))
            square[i, j] = square[j, i] = self.evaluation.pairs(objects, objects, chosen[part[i]], chosen[part[j]])
            values[np.ix_(part, part)] = square
            return
        if part.size <= _SMALL:
            square = self.evaluation.rectangle(objects, objects, chosen[part], chosen[part])
            values[np.ix_(part, part)] = 0.5 * square + 0.5 * square.T
            return
        left, right = part[: part.size // 2], part[part.size // 2 :]
        between = values[np.ix_(right, left)]
        self._evaluate_missing(objects, chosen[right], chosen[left], between)
        values[np.ix_(right, left)], values[np.ix_(left, right)] = between, between.T
        self._halves(objects, chosen, values, left)
        self._halves(objects, chosen, values, right)

    def _evaluate_missing(self, objects: Objects, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Evaluate the pairs whose value is NaN; rows that miss the same columns together."""
        missing = np.isnan(values)
        whole = missing.all(axis=1)
        groups = [(np.flatnonzero(whole), np.arange(columns.size))]
        if not self.evaluation.takes_blocks:
            i, j = np.nonzero(missing & ~whole[:, None])
            values[i, j] = self.evaluation.pairs(objects, objects, rows[i], columns[j])
            missing = np.isnan(values)
        some = np.flatnonzero(missing.any(axis=1) & ~whole)
        patterns, which = np.unique(missing[some], axis=0, return_inverse=True)
        groups += [(some[which.ravel() == i], np.flatnonzero(pattern)) for i, pattern in enumerate(patterns)]
        for here, there in groups:
            if here.size:
                found = self.evaluation.rectangle(objects, objects, rows[here], columns[there])
                values[np.ix_(here, there)] = found

    def _remember(self, chosen: np.ndarray, values: np.ndarray) -> None:
        for i, number in enumerate(chosen):
            known = self._known.setdefault(int(number), {})
            known.update(zip(chosen.tolist(), values[i].tolist(), strict=True))


@final
class CandidateColumns(Columns):
    """Columns of a similarity that is called, for some objects among which landmarks are sought; those of others are put off.

    Parameters
    ----------
    columns : CalledColumns
    rows : ndarray of int
        The candidates, ascending.
    """

    def __init__(self, columns: CalledColumns, rows: np.ndarray) -> None:
        self.n_rows = rows.size
        self._columns, self._candidates = columns, rows

    def diagonal(self) -> np.ndarray:
        return self._columns.diagonal(self._candidates)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self._columns.among(self._candidates[chosen])

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self._columns.take(self._candidates[chosen])

    def spare(self, wanted: int) -> float:
        return self._columns.spare(wanted)


_WAY_OUT = "use symmetrize='average' for the mean of both orders"
