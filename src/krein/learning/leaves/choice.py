"""What all leaves share, chosen by leave-one-out on a few of them: kernel, length scale, λ, and the part of the global model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, final

import numpy as np

from krein._core.threads import share
from krein.kernels import Kernel, Laplacian, Matern
from krein.learning.leaves.leaf import LeafSettings, leave_one_out

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
_GAIN = 1e-3  # relative: what a change must gain, so that the choice does not hang on rounding


Trial = TypeVar("Trial")


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
        """Some of the rows.

        Parameters
        ----------
        rows : ndarray of int

        Returns
        -------
        LeafRows
        """
        return LeafRows(
            self.X[rows],
            self.targets[rows],
            None if self.trend is None else self.trend[rows],
            None if self.weight is None else self.weight[rows],
        )

    def residual(self, part: float) -> np.ndarray:
        """Targets less a part of the trend.

        Parameters
        ----------
        part : float

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
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
    """Compare settings on some leaves, one choice after the other.

    Kernel and length scale at two λ, then λ, then the part of the global model: 0, a half or 1. Each is kept unless another
    gains a thousandth.

    Parameters
    ----------
    leaves : sequence of LeafRows
        At least one.

    Returns
    -------
    LeafChoice
    """
    part = 1.0 if leaves[0].trend is not None else 0.0
    first = [LeafSettings(kernel, factor, lam) for lam in _FIRST_LAMBDAS for kernel, factor in _SHAPES]
    chosen, score = _best(first, lambda trial, leaf: _loss(leaf, trial, part), leaves)
    others = [replace(chosen, lam=lam) for lam in _OTHER_LAMBDAS]
    chosen, score = _best(others, lambda trial, leaf: _loss(leaf, trial, part), leaves, (chosen, score))
    if leaves[0].trend is not None:
        settings = chosen
        part, score = _best((0.5, 0.0), lambda trial, leaf: _loss(leaf, settings, trial), leaves, (part, score))
    return LeafChoice(chosen, part, score)


def _loss(leaf: LeafRows, settings: LeafSettings, part: float) -> float:
    return leave_one_out(leaf.X, leaf.residual(part), leaf.weight, settings)


def _best(
    trials: Sequence[Trial],
    loss: Callable[[Trial, LeafRows], float],
    leaves: Sequence[LeafRows],
    known: tuple[Trial, float] | None = None,
) -> tuple[Trial, float]:
    """The trial, or what is known already, that no later one beats by a thousandth, and its mean over the leaves."""
    scores = np.empty((len(trials), len(leaves)))

    def fill(place: tuple[int, int]) -> None:
        scores[place] = loss(trials[place[0]], leaves[place[1]])

    share(fill, list(np.ndindex(*scores.shape)))
    best = known
    for trial, score in zip(trials, scores.mean(axis=1), strict=True):
        if best is None or score < best[1] * (1.0 - _GAIN):
            best = trial, float(score)
    assert best is not None
    return best
