"""What all leaves share: kernel, length scale and λ, chosen on a few, and the part of the global model that they build on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.threads import share
from krein.kernels import Kernel, Laplacian, Matern
from krein.learning.leaves.leaf import LeafSettings, LeftOutErrors, solve_leaf
from krein.learning.limits import MARGINS
from krein.learning.tuning.rounds import at_more_rows
from krein.rows.equal import MergedRows, merge_rows
from krein.show.progress import report

__all__ = ["LeafChoice", "LeafRows", "choose_part", "choose_settings"]

# kernels, and their length scales in units of the median distance
_SHAPES: tuple[tuple[Kernel, float], ...] = (
    (Matern(1.0, 1.5), 1.0),
    (Matern(1.0, 1.5), 0.5),
    (Laplacian(1.0), 2.0),
    (Laplacian(1.0), 1.0),
    (Laplacian(1.0), 0.5),
)
_LAMBDAS = (1e-5, 1e-4, 1e-6, 1e-3, 1e-2)
_PARTS = (1.0, 0.5, 0.0)  # of the global model
_ROUNDS = ((1024, None), (2048, 8), (None, 3))  # rows of a leaf, and how many settings are compared on them
# Rows of a leaf in the last round: so many that each of its factors costs a thirtieth of all that are solved later
_OF_ALL = 1 / 30
_SCORED = 1024  # rows, at least, or half of those learned from


@final
@dataclass(frozen=True, eq=False)
class LeafRows:
    """The rows of a leaf, and what the global model leaves to learn there.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    targets : ndarray of shape (n_rows, n_outputs)
    trend : ndarray of shape (n_rows, n_outputs) or None
        What the global model says of each row without having seen it.
    weight : ndarray of shape (n_rows,) or None
    """

    X: np.ndarray
    targets: np.ndarray
    trend: np.ndarray | None
    weight: np.ndarray | None

    def some(self, rows: np.ndarray) -> LeafRows:
        """Some of the rows."""
        return LeafRows(
            self.X[rows],
            self.targets[rows],
            None if self.trend is None else self.trend[rows],
            None if self.weight is None else self.weight[rows],
        )

    @property
    def parts(self) -> tuple[float, ...]:
        """Parts of the trend that leaves may build on."""
        return (0.0,) if self.trend is None else _PARTS

    def merged(self) -> MergedRows:
        """Distinct rows in no order, with their targets less each part of the trend side by side."""
        rest = [self.targets if self.trend is None else self.targets - part * self.trend for part in self.parts]
        return merge_rows(self.X, np.hstack(rest), self.weight)


@final
@dataclass(frozen=True)
class LeafChoice:
    """Settings, and how much of the global model the leaves build on.

    Parameters
    ----------
    settings : LeafSettings
    part : float
        Between 0 and 1.
    score : float
        Mean squared leave-one-out error on the leaves that were looked at.
    """

    settings: LeafSettings
    part: float
    score: float


def choose_settings(leaves: Sequence[LeafRows], n_leaves: int = 1) -> LeafSettings:
    """Compare settings by leave-one-out on some of so many leaves.

    All are compared on few rows of each leaf, and on more and more those that are not behind by two standard errors. The global
    model has no part in it: it has learned from all rows, and would look better beside few of them than it is. λ falls as a leaf
    has more rows than the last round.
    """
    merged = [merge_rows(leaf.X, leaf.targets, leaf.weight).sketched() for leaf in leaves]
    left = [LeafSettings(kernel, factor, lam) for lam in _LAMBDAS for kernel, factor in _SHAPES]
    largest, n_rows = max(map(len, merged)), 0
    cube = _OF_ALL * n_leaves / len(leaves)
    most = min(largest, max(_ROUNDS[-2][0] or 0, int(largest * cube ** (1 / 3))))
    for rows, count in _ROUNDS:
        before, n_rows = n_rows, min(rows or most, most)
        if n_rows > before:
            left = _ranked(left[:count], [one.head(n_rows) for one in merged])
    return replace(left[0], lam=at_more_rows(left[0].lam, n_rows, largest))


def _ranked(trials: Sequence[LeafSettings], leaves: Sequence[MergedRows]) -> list[LeafSettings]:
    """The best settings, and others that are not behind by more than two standard errors, best first."""
    found: dict[int, _Errors] = {}

    def fill(number: int) -> None:
        solved = (solve_leaf(leaf, trials[number], max(_SCORED, len(leaf) // 2)) for leaf in leaves)
        (found[number],) = _errors([leaf.errors for leaf in solved], 1)
        report("settings of leaves", len(found), len(trials))

    share(fill, range(len(trials)))
    order = sorted(found, key=lambda number: found[number].mean)
    return [trials[number] for number in order if not found[order[0]].gains_over(found[number])]


def choose_part(settings: LeafSettings, parts: Sequence[float], errors: Sequence[LeftOutErrors]) -> LeafChoice:
    """The part of the global model that leaves build on, by the errors of all of them.

    Leaves must gain more than two standard errors over the global model alone, or λ is infinite, and they add nothing.
    """
    found = _errors(errors, len(parts))
    best = min(found, key=lambda one: one.mean)
    place = next(i for i, one in enumerate(found) if one.mean <= best.mean * (1.0 + MARGINS.equal))
    if parts[0]:
        plain = _errors([replace(one, squares=one.plain) for one in errors], len(parts))[0]
        if not found[place].gains_over(plain):
            return LeafChoice(replace(settings, lam=np.inf), parts[0], plain.mean)
    return LeafChoice(settings, parts[place], found[place].mean)


@final
@dataclass(frozen=True, eq=False)
class _Errors:
    """Squared leave-one-out errors of rows, with their weights, and the share of each that was left out."""

    squares: np.ndarray
    weight: np.ndarray
    left: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.weight @ self.squares / self.weight.sum())

    def gains_over(self, other: _Errors) -> bool:
        """Whether the mean is less by more than two standard errors of the difference; each copy of a row is one observation."""
        gain, share = other.squares - self.squares, self.weight / self.weight.sum()
        mean = float(share @ gain)
        return mean > MARGINS.sure * float(np.sqrt((np.square(share) * self.left) @ np.square(gain - mean)))


def _errors(leaves: Sequence[LeftOutErrors], n_parts: int) -> list[_Errors]:
    """For each part of the global model, whose residuals stand side by side, of all leaves."""
    weight = np.concatenate([one.weight for one in leaves])
    squares = np.concatenate([one.squares.reshape(one.weight.size, n_parts, -1).sum(axis=2) for one in leaves])
    left = np.concatenate([one.left for one in leaves])
    return [_Errors(column, weight, left) for column in squares.T]
