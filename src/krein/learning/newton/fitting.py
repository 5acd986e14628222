"""A linear classifier from rows of features: the strength of its penalty chosen among candidates, then fitted on all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from krein.learning.leave_one_out import loo_scores
from krein.learning.limits import MARGINS
from krein.learning.newton.held_out import Scores, best_strength, held_out_scores
from krein.learning.newton.labeled import LabeledRows, deal_folds
from krein.learning.newton.machines import LinearFit, Machine, Preparation, fit_machine
from krein.learning.newton.passes import RowTask, prepared_passes
from krein.learning.newton.rows import MemoryRows, Moments
from krein.learning.newton.system import Preconditioner, preconditioner
from krein.learning.path import ridge_path
from krein.learning.ridge_choice import default_grid
from krein.learning.strengths import best_candidate, by_ratio
from krein.learning.sums import CenteredSums
from krein.rows.sample import sample_numbers
from krein.rows.source import RowSource

__all__ = [
    *("LEAST_RIDGE", "N_FOLDS", "Candidates", "Chosen", "FittedMachine", "PreparedRows", "best_of", "choose_strength"),
    *("fit_features", "fit_passes", "penalty_factor", "ridge_total"),
]

N_FOLDS = 5  # the paper's
# λ of ridge, in units of the mean square length of a feature row, below which it says nothing of other losses: few columns fit
# with next to none of it, and where classes can be told apart these losses have no minimum then
LEAST_RIDGE = 1e-7
_LEFT_OUT = 2000  # rows whose leave-one-out residuals choose the λ of ridge: a tenth of it matters little


class Candidates(ABC):
    """Penalties to choose from."""

    @abstractmethod
    def pairs(self, scale: float, weight: float) -> np.ndarray:
        """The factor of the loss of a row of weight 1, and λ₋/λ₊, for each candidate."""

    @property
    @abstractmethod
    def single(self) -> bool:
        """Whether there is nothing to choose."""

    @property
    @abstractmethod
    def least(self) -> int:
        """Number of strengths of a path, the weakest first, that are always tried."""

    @property
    def follow_ridge(self) -> bool:
        """Whether they wait for the strength that suits ridge regression on the same features."""
        return False

    def after_ridge(self, total: float, weight: float) -> Candidates:
        """Candidates in sight of it: `total` is the sum of weights times λ, for targets ±1."""
        return self


@dataclass(frozen=True, eq=False)
class Chosen:
    """A penalty, and how it was found.

    Parameters
    ----------
    best : int
        Which candidate.
    scores : Scores or None
        Of all candidates on held-out rows; None if there was nothing to choose.
    scale : float
        Mean square length of the features of a row, about their mean if the intercept is free.
    """

    best: int
    scores: Scores | None
    scale: float


@dataclass(frozen=True, eq=False)
class FittedMachine:
    """A machine, and how its penalty was found."""

    fit: LinearFit
    chosen: Chosen


@final
@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows in memory as a problem sees them, and what all problems on them share."""

    rows: MemoryRows
    moments: Moments
    preparation: Preparation
    before: Preconditioner

    @property
    def scale(self) -> float:
        """Mean square length of the features of a row."""
        return float(np.trace(self.moments.gram) - 1.0)


def ridge_total(Z: np.ndarray, labeled: LabeledRows, n_classes: int) -> float:
    """Sum of weights times the λ of ridge regression on ±1 that leaves the least leave-one-out error."""
    Y = np.where(labeled.codes[:, None] == np.arange(n_classes), 1.0, -1.0)[:, 0 if n_classes > 2 else 1 :]
    sums = CenteredSums.of(Z, Y, labeled.weights)
    lams = default_grid(sums, LEAST_RIDGE)
    some = sample_numbers(Z.shape[0], _LEFT_OUT)
    path = ridge_path(sums.gram, np.ones(Z.shape[1]), "hilbert")
    scores = loo_scores(path, sums, sums.weight * lams, Z[some], Y[some], labeled.weights[some])
    best = best_candidate(lams, scores, MARGINS.rounding * float(sums.square.sum()) / sums.weight)
    return float(sums.weight * lams[best])


def penalty_factor(signature: np.ndarray, ratio: float) -> np.ndarray | None:
    """What columns are multiplied with so that λ₋ = ratio · λ₊ becomes one penalty for all; None for nothing."""
    return None if ratio == 1.0 else np.where(signature < 0.0, 1.0 / np.sqrt(ratio), 1.0)


def _prepare(
    machine: Machine,
    Z: np.ndarray,
    labeled: LabeledRows,
    factor: np.ndarray | None,
    fold: np.ndarray | None,
    *,
    in_place: bool,
) -> PreparedRows:
    weight = labeled.weights
    shift = (weight / weight.sum()) @ Z if machine.free_intercept else None
    preparation = Preparation(shift, factor)
    rows = MemoryRows(preparation(Z, in_place=in_place), labeled.codes, weight, fold)
    moments = rows.moments()
    before = preconditioner(moments, free_intercept=machine.free_intercept, dtype=rows.dtype)
    return PreparedRows(rows, moments, preparation, before)


def fit_features(
    machine: Machine,
    candidates: Candidates,
    Z: np.ndarray,
    labeled: LabeledRows,
    signature: np.ndarray,
    chosen: Chosen | None = None,
) -> FittedMachine:
    """Choose, unless that is done, and fit on all rows."""
    prepared = None
    if chosen is None and not candidates.single:
        chosen, prepared = choose_strength(machine, candidates, Z, labeled, signature)
    chosen = chosen or Chosen(0, None, 1.0)
    pair = candidates.pairs(chosen.scale, float(labeled.weights.sum()))[chosen.best]
    if prepared is None:
        prepared = _prepare(machine, Z, labeled, penalty_factor(signature, pair[1]), None, in_place=True)
    fit = fit_machine(
        machine, prepared.rows, prepared.moments, prepared.preparation, float(pair[0]), before=prepared.before
    )
    return FittedMachine(fit, chosen)


def fit_passes(
    machine: Machine, candidates: Candidates, rows: RowSource, task: RowTask, chosen: Chosen | None
) -> FittedMachine:
    """Fit in passes over all rows."""
    chosen = chosen or Chosen(0, None, 1.0)
    signature = task.features.signature
    ratio = candidates.pairs(chosen.scale, 1.0)[chosen.best, 1]
    task = replace(task, preparation=Preparation(None, penalty_factor(signature, ratio)))
    passes, moments = prepared_passes(rows, task, center=machine.free_intercept)
    strength = candidates.pairs(chosen.scale, float(moments.class_weight.sum()))[chosen.best, 0]
    return FittedMachine(fit_machine(machine, passes, moments, passes.task.preparation, float(strength)), chosen)


def choose_strength(
    machine: Machine, candidates: Candidates, Z: np.ndarray, labeled: LabeledRows, signature: np.ndarray
) -> tuple[Chosen, PreparedRows | None]:
    """The best candidate by cross-validation."""
    fold = deal_folds(labeled.X, labeled.codes, N_FOLDS)
    weight = float(labeled.weights.sum())
    ratios = candidates.pairs(1.0, weight)[:, 1]
    groups = list(by_ratio(np.stack([np.ones(ratios.size), ratios], axis=1)))
    several = len(groups) > 1
    first = _prepare(
        machine, Z, labeled, None if several else penalty_factor(signature, ratios[0]), fold, in_place=not several
    )
    pairs = candidates.pairs(first.scale, weight)
    errors, losses = np.full(len(pairs), np.inf), np.full(len(pairs), np.inf)
    for ratio, same in groups:
        prepared = first
        if several:
            prepared = _prepare(machine, Z, labeled, penalty_factor(signature, ratio), fold, in_place=False)
        same = same[np.argsort(pairs[same, 0], kind="stable")]
        strengths = pairs[same, 0].tolist()
        found = held_out_scores(prepared.rows, prepared.moments, machine, strengths, N_FOLDS, least=candidates.least)
        errors[same], losses[same] = found.errors, found.log_loss
    chosen = best_of(machine, pairs[:, 0], Scores(errors, losses), first.scale)
    return chosen, None if several else first


def best_of(machine: Machine, strengths: np.ndarray, scores: Scores, scale: float) -> Chosen:
    """The best of some candidates, of equals the weakest."""
    order = np.argsort(strengths, kind="stable")
    ordered = Scores(scores.errors[order], scores.log_loss[order])
    return Chosen(int(order[best_strength(ordered, machine)]), scores, scale)
