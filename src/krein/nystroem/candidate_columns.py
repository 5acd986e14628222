"""Columns of the matrix of training objects, made as a rule for landmarks asks for them; of a function no pair is asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from krein._core.representatives import Columns
from krein.similarities.direct_source import DirectSource
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.evaluation import Evaluation
from krein.similarities.objects import Objects
from krein.similarities.similarity import Pilot

__all__ = ["CalledColumns", "DirectColumns", "KernelChoice"]

# from distances of all objects to the landmarks and of those to each other, and which objects the landmarks are, to a kernel
KernelChoice = Callable[[np.ndarray, np.ndarray, np.ndarray], DistanceKernel]

_PROBES = 7  # pairs that may go to finding out how a function is called
_SAME = 1e-9  # relative difference below which values of objects with themselves are alike


@final
class CalledColumns(Columns):
    """Columns of a similarity that is called, for some candidates among which landmarks are sought; `rest` completes them.

    Parameters
    ----------
    pilot : Pilot
        What is known already: values of some objects in both orders.
    objects : Objects
    evaluation : Evaluation
    count : int
        Landmarks wanted in all: together they take no more than ``(count + 1) * n_objects`` evaluations (twice as many where both
        orders are averaged).
    candidates : ndarray of int
        Ascending; `chosen` numbers are places among them.
    """

    def __init__(
        self, pilot: Pilot, objects: Objects, evaluation: Evaluation, count: int, candidates: np.ndarray
    ) -> None:
        n = len(objects)
        self.n_rows = candidates.size
        self.taken = np.empty(0, dtype=int)  # numbers of the landmarks
        self._similarity, self._pilot = pilot.similarity, pilot
        self._objects, self._evaluation, self._candidates = objects, evaluation, candidates
        self._count = count
        self._price = 2 if self._similarity.symmetrize == "average" else 1
        self._budget = self._price * (count + 1) * n - _PROBES
        self._block = np.empty((n, min(n, count)), order="F")  # what the function gave for the columns taken
        # Squares outside of the columns: the pilot, and landmarks that were proposed
        self._squares = [(pilot.numbers, pilot.values)]
        distance = self._similarity.distance
        self._self = np.full(n, np.nan)
        if distance is not None and distance.self_value is not None:
            self._self[:] = distance.self_value
        self._self[pilot.numbers] = np.diagonal(pilot.values)

    def diagonal(self) -> np.ndarray:
        rows, values = self._candidates, self._self
        unknown = rows[np.isnan(values[rows])]
        if unknown.size:
            seen = np.diagonal(self._pilot.values)
            alike = float(np.ptp(seen)) <= _SAME * float(np.abs(seen).max())
            # too dear, and for the choice of landmarks only
            if alike or self._price * unknown.size > self.spare(self._count):
                values = values.copy()
                values[unknown] = np.median(seen)
            else:
                values[unknown] = self._evaluation.with_themselves(self._objects, unknown)
        return self._similarity.similarities(values[rows])

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self._similarity.similarities(self._square(self._candidates[chosen]))

    def take(self, chosen: np.ndarray) -> np.ndarray:
        numbers, done = self._candidates[chosen], self.taken.size
        self._square(numbers)
        self.taken = np.concatenate([self.taken, numbers])
        self._evaluate(self._candidates, done)
        return self._similarity.similarities(self._block[self._candidates, done : self.taken.size])

    def spare(self, wanted: int) -> float:
        k, n = self.taken.size, len(self._objects)
        known = k * wanted + wanted * (wanted + 1) // 2  # of the columns to come, by symmetry or as the diagonal
        due = wanted * n - known + k * (n - self.n_rows)
        # what a cache knows counts as well, so that it changes nothing
        return self._budget - self._evaluation.asked - self._price * due

    def completed(self) -> np.ndarray:
        """What the function gives for all objects and all landmarks; those that were no candidates all at once."""
        rest = np.setdiff1d(np.arange(len(self._objects)), self._candidates, assume_unique=True)
        self._evaluate(rest, 0)
        return self._block[:, : self.taken.size]

    def _evaluate(self, rows: np.ndarray, first: int) -> None:
        """Fill the rows of the columns taken, from a first one on."""
        columns = self.taken[first:]
        values = self._recall(rows, columns)
        _, here, landmark = np.intersect1d(rows, self.taken[:first], return_indices=True)
        values[here] = self._block[columns][:, landmark].T  # (j, i) for (i, j)
        _, here, there = np.intersect1d(rows, columns, return_indices=True)
        values[here, there] = self._self[columns[there]]
        self._evaluation.fill(self._objects, self._objects, rows, columns, values)
        for j in range(columns.size):  # one after the other, as they lie in memory
            self._block[rows, first + j] = values[:, j]

    def _square(self, numbers: np.ndarray) -> np.ndarray:
        """Values among some objects, those unknown evaluated and remembered."""
        values = self._recall(numbers, numbers)
        np.fill_diagonal(values, self._self[numbers])
        if np.isnan(values).any():
            asked = self._evaluation.asked
            self._evaluation.square(self._objects, numbers, values)
            # So many at most, and the same however the function is called
            self._evaluation.asked = asked + self._price * values.size
            self._self[numbers] = np.diagonal(values)
            self._squares.append((numbers, values))
        return values

    def _recall(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Values outside of the columns that are known, NaN for the others."""
        values = np.full((rows.size, columns.size), np.nan)
        for numbers, square in self._squares:
            _, here, i = np.intersect1d(rows, numbers, assume_unique=True, return_indices=True)
            _, there, j = np.intersect1d(columns, numbers, assume_unique=True, return_indices=True)
            values[np.ix_(here, there)] = square[np.ix_(i, j)]
        return values


@final
class DirectColumns(Columns):
    """Columns of a kernel of this library or of a matrix.

    Parameters
    ----------
    similarity : DirectSource
    X : array or CSR matrix
        Placed rows.
    rows : ndarray of int
        Those among which landmarks are sought.
    """

    def __init__(self, similarity: DirectSource, X: Any, rows: np.ndarray) -> None:
        self.n_rows = rows.size
        self.count = 0
        self._similarity, self._X, self._rows = similarity, X, rows
        self._here = X[rows]

    def diagonal(self) -> np.ndarray:
        self.count += self.n_rows
        return self._similarity.self_similarities(self._X, self._rows)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        self.count += chosen.size * (chosen.size - 1) // 2
        landmarks = self._similarity.landmarks(self._X, self._rows[chosen])
        return np.asarray(self._similarity.square(self._X, landmarks), dtype=np.float64)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        self.count += self.n_rows * chosen.size
        landmarks = self._similarity.landmarks(self._X, self._rows[chosen])
        return np.asarray(self._similarity.block(self._here, landmarks), dtype=np.float64)
