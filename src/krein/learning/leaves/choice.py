"""What all leaves share, chosen by leave-one-out on a few of them: kernel, length scale, λ, and the part of the global model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein._core.threads import share
from krein.kernels import Kernel, Laplacian, Matern
from krein.learning.leaves.leaf import LeafSettings, leave_one_out
from krein.learning.limits import MARGINS
from krein.rows.equal import MergedRows, merge_rows
from krein.show.progress import report

__all__ = ["LeafChoice", "LeafRows", "choose_settings"]

# kernels, and their length scales in units of the median distance
_SHAPES: tuple[tuple[Kernel, float], ...] = (
    (Matern(1.0, 1.5), 1.0),
    (Matern(1.0, 1.5), 0.5),
    (Laplacian(1.0), 2.0),
    (Laplacian(1.0), 1.0),
    (Laplacian(1.0), 0.5),
)
_FIRST_LAMBDAS = (1e-3, 1e-5)  # at which these are compared
_OTHER_LAMBDAS = (1e-2, 1e-4, 1e-6)
_PARTS = (1.0, 0.5, 0.0)  # of the global model


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

    def residual(self, part: float) -> np.ndarray:
        """Targets less a part of the trend."""
        return self.targets if self.trend is None or not part else self.targets - part * self.trend


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


def choose_settings(leaves: Sequence[LeafRows]) -> LeafChoice:
    """Compare settings and parts of the global model, 1, a half and 0, on some leaves.

    Kernel and length scale at two λ, then λ. One factorization serves all parts, so all settings are scored with each part. What
    was found is kept unless another gains a thousandth. All must gain more than two standard errors over the global model alone;
    where none does, λ is infinite, and leaves add nothing.
    """
    parts = (0.0,) if leaves[0].trend is None else _PARTS
    merged = [
        merge_rows(leaf.X, np.hstack([leaf.residual(part) for part in parts]), leaf.weight, in_order=True)
        for leaf in leaves
    ]
    plain = None if leaves[0].trend is None else _errors(merged, parts, None)[0]
    first = [LeafSettings(kernel, factor, lam) for lam in _FIRST_LAMBDAS for kernel, factor in _SHAPES]
    found = _best(first, merged, parts, plain, None)
    if found is None:
        assert plain is not None
        return LeafChoice(replace(first[0], lam=np.inf), _PARTS[0], plain.mean)
    others = [replace(found.settings, lam=lam) for lam in _OTHER_LAMBDAS]
    return _best(others, merged, parts, plain, found) or found


@final
@dataclass(frozen=True, eq=False)
class _Errors:
    """Squared leave-one-out errors of the rows of all leaves, with their weights, and the share of each that was left out."""

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


def _errors(leaves: Sequence[MergedRows], parts: tuple[float, ...], settings: LeafSettings | None) -> list[_Errors]:
    """For each part of the global model, whose residuals stand side by side."""
    found = [leave_one_out(leaf, settings) for leaf in leaves]
    weight = np.concatenate([one.weight for one in found])
    squares = np.concatenate([one.squares.reshape(one.weight.size, len(parts), -1).sum(axis=2) for one in found])
    left = np.concatenate([one.left for one in found])
    return [_Errors(column, weight, left) for column in squares.T]


def _best(
    trials: Sequence[LeafSettings],
    leaves: Sequence[MergedRows],
    parts: tuple[float, ...],
    plain: _Errors | None,
    known: LeafChoice | None,
) -> LeafChoice | None:
    """The settings and part, or what is known already, that no later ones beat by a thousandth."""
    errors: list[list[_Errors]] = [[] for _ in trials]

    def fill(number: int) -> None:
        errors[number] = _errors(leaves, parts, trials[number])
        report("settings of leaves", sum(map(bool, errors)), len(trials))

    share(fill, range(len(trials)))
    best = known
    for settings, of_parts in zip(trials, errors, strict=True):
        for part, one in zip(parts, of_parts, strict=True):
            better = best is None or one.mean < best.score * (1.0 - MARGINS.equal)
            if better and (plain is None or one.gains_over(plain)):
                best = LeafChoice(settings, part, one.mean)
    return best
