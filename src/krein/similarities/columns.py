"""Columns of the matrix of training objects, made when a rule for landmarks asks for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np

from krein._core.pivots import Columns
from krein.similarities.evaluation import Evaluation
from krein.similarities.object_kernel import ObjectKernel
from krein.similarities.objects import Objects
from krein.similarities.symmetry import check_symmetric

__all__ = ["CalledColumns", "KernelChoice"]

# from costly values of all objects to the landmarks and of those to each other, and which objects the landmarks are, to a kernel
KernelChoice = Callable[[np.ndarray, np.ndarray, np.ndarray], ObjectKernel]

_PILOT = 32  # objects, spread over all, of which all pairs are evaluated in both orders before anything else
_PILOT_TO_FIT = 64  # where a kernel learns from them, such as its scale
_PAID = 0.7  # of the landmarks: all ordered pairs of so many objects are half the square of all of them
_PROBES = 7  # pairs that may go to finding out how a function is called
_SMALL = 8  # objects of which a function of sequences makes the whole square rather than its half
_SAME = 1e-9  # relative difference below which values of objects with themselves are alike


@final
class CalledColumns(Columns):
    """Columns of a similarity that is called: no pair is evaluated twice, and (i, j) serves for (j, i).

    Made with a pilot: some objects, spread over all, whose pairs are evaluated in both orders. It shows whether the similarity is
    symmetric, what a kernel must learn, and whether all objects are equally similar to themselves.

    Parameters
    ----------
    kernel : ObjectKernel
    objects : Objects
    evaluation : Evaluation
    count : int
        Landmarks wanted in all: together they take no more than ``(count + 1) * n_rows`` evaluations (twice as many where both
        orders are averaged).
    average : bool
        Whether asymmetry is averaged away; otherwise it is an error.
    """

    def __init__(
        self, kernel: ObjectKernel, objects: Objects, evaluation: Evaluation, count: int, *, average: bool
    ) -> None:
        self.n_rows = len(objects)
        self.taken = np.empty(0, dtype=int)
        self._objects = objects
        self.evaluation = evaluation
        self._count = count
        self._price = 2 if average else 1
        self._budget = self._price * (count + 1) * self.n_rows - _PROBES
        self._columns: list[np.ndarray] = []  # of costly values, one block for each call of `take`
        # Costly values of landmarks that are none of the objects
        self._outside: tuple[np.ndarray, np.ndarray] | None = None
        self._known: dict[int, dict[int, float]] = {}  # costly values of pairs outside the columns
        self._self = np.full(self.n_rows, np.nan if kernel.self_value is None else kernel.self_value)
        self.pilot = self._spread(kernel, count)
        self.kernel = self._look(kernel, average=average)

    def _spread(self, kernel: ObjectKernel, count: int) -> np.ndarray:
        """As many objects as the evaluations that symmetry saves will pay for, and for the scale of a distance some more."""
        n, size = self.n_rows, min(_PILOT, max(3, int(_PAID * count)))
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

    def diagonal(self) -> np.ndarray:
        unknown = np.flatnonzero(np.isnan(self._self))
        if unknown.size:
            seen = self._self[self.pilot]
            alike = float(np.ptp(seen)) <= _SAME * float(np.abs(seen).max())
            if alike or self._price * unknown.size > self.spare(
                self._count
            ):  # too dear, and for the choice of landmarks only
                guess = self._self.copy()
                guess[unknown] = np.median(seen)
                return self.kernel.similarity(guess)
            self._self[unknown] = self.evaluation.with_themselves(self._objects, unknown)
        return self.kernel.similarity(self._self)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self.kernel.similarity(self._square(chosen))

    def take(self, chosen: np.ndarray) -> np.ndarray:
        values = np.full((self.n_rows, chosen.size), np.nan)
        done = 0
        for block in self._columns:  # (j, i) for (i, j)
            values[self.taken[done : done + block.shape[1]]] = block[chosen].T
            done += block.shape[1]
        for j, number in enumerate(chosen):
            for i, value in self._known.get(int(number), {}).items():
                values[i, j] = value
        values[chosen] = self._square(chosen)
        self._evaluate_missing(self._objects, np.arange(self.n_rows), chosen, values)
        self._columns.append(values)
        self.taken = np.concatenate([self.taken, chosen])
        for number in chosen:
            self._known.pop(int(number), None)
        return self.kernel.similarity(values)

    def matrix(self) -> np.ndarray:
        """Similarities of all objects to all landmarks taken.

        Returns
        -------
        ndarray of shape (n_rows, n_taken)
        """
        return self.kernel.similarity(np.hstack(self._columns))

    def outside(self, landmarks: Objects) -> tuple[np.ndarray, np.ndarray]:
        """Similarities of all objects to landmarks that are none of them, and of those to each other.

        Parameters
        ----------
        landmarks : Objects

        Returns
        -------
        block : ndarray of shape (n_rows, n_landmarks)
        square : ndarray of shape (n_landmarks, n_landmarks)
        """
        everyone, all_landmarks = np.arange(self.n_rows), np.arange(len(landmarks))
        block = self.evaluation.rectangle(self._objects, landmarks, everyone, all_landmarks)
        square = np.full((len(landmarks), len(landmarks)), np.nan)
        self._halves(landmarks, all_landmarks, square, all_landmarks)
        self._outside = block, square
        return self.kernel.similarity(block), self.kernel.similarity(square)

    def settle(self, choose: KernelChoice) -> tuple[np.ndarray, np.ndarray]:
        """Choose the function of the costly values now that they are there; none is evaluated again.

        Parameters
        ----------
        choose : callable

        Returns
        -------
        block : ndarray of shape (n_rows, n_landmarks)
        square : ndarray of shape (n_landmarks, n_landmarks)
            Similarities as the kernel chosen has them.
        """
        if self._outside is None:
            block = np.hstack(self._columns)
            square = block[self.taken]
        else:
            block, square = self._outside
        self.kernel = choose(block, square, self.taken)
        return self.kernel.similarity(block), self.kernel.similarity(square)

    def pilot_matrix(self) -> np.ndarray:
        """Similarities among the objects of the pilot.

        Returns
        -------
        ndarray of shape (n_pilot, n_pilot)
        """
        return self.kernel.similarity(self._pilot_values)

    def spare(self, wanted: int) -> float:
        k = self.taken.size
        known = k * wanted + wanted * (wanted + 1) // 2  # of the columns to come, by symmetry or as the diagonal
        # what a cache knows counts as well, so that it changes nothing
        return self._budget - self.evaluation.asked - self._price * (wanted * self.n_rows - known)

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


_WAY_OUT = "use symmetrize='average' for the mean of both orders"
