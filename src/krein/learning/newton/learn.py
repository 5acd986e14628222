"""Support vector machines and logistic regression from rows, wherever they are: one look, one choice, one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from krein.learning.chosen_features import MapSource
from krein.learning.limits import EXACT_MACHINE_ROWS
from krein.learning.model import LinearModel, Model
from krein.learning.newton import labeled
from krein.learning.newton.exact import fit_exact
from krein.learning.newton.fitting import (
    LEAST_RIDGE,
    Candidates,
    Chosen,
    choose_strength,
    fit_features,
    fit_passes,
    ridge_total,
)
from krein.learning.newton.labeled import LabeledRows
from krein.learning.newton.machines import Kind, Machine
from krein.learning.newton.passes import RowTask
from krein.learning.tuning.choice import FEATURE_CHOICE_ROWS, Choice
from krein.rows.blocks import all_features
from krein.rows.look import Look
from krein.rows.source import RowSource
from krein.rows.targets import LabelTargets

__all__ = ["MACHINE_SOLVERS", "MachineFit", "MachineOptions", "learn_machine"]

MACHINE_SOLVERS = ("auto", "exact", "features")
_MEMORY_BYTES = 2**31  # of features that are held in memory; more are made anew for every pass


@final
@dataclass(frozen=True, eq=False)
class MachineOptions:
    """What to minimize, and the penalties to choose from; see `Machine` and `Candidates`."""

    kind: Kind
    candidates: Candidates
    tol: float
    max_iter: int


@final
@dataclass(frozen=True, eq=False)
class MachineFit:
    """A fitted machine, and how it was found.

    Parameters
    ----------
    model : Model
        One output for two classes, else one for each.
    solver : {"exact", "features"}
    choice : Choice or None
    candidates : Candidates
        The penalties there were to choose from.
    chosen : Chosen
    n_iter : int
    converged : bool
    """

    model: Model
    solver: str
    choice: Choice | None
    candidates: Candidates
    chosen: Chosen
    n_iter: int
    converged: bool


def learn_machine(
    rows: RowSource, targets: LabelTargets, source: MapSource, options: MachineOptions, *, solver: str = "auto"
) -> MachineFit:
    """Choose a way of solving, a kernel if there is one to choose, and a penalty; fit on all rows."""
    look = rows.look(targets, summarize=source.tuning is not None)
    targets.settle(all_rows=True)
    targets.check_complete()
    machine = Machine(options.kind, targets.sorted_classes()[0].size, options.tol, options.max_iter)
    way = _way_of_solving(solver, look, source)
    choice = None
    if source.chosen is not None:
        merged = look.merged(targets, None if solver == "exact" else FEATURE_CHOICE_ROWS)
        choice = source.chosen.choose(look, merged, exact_rows=EXACT_MACHINE_ROWS if way == "exact" else None)
    assert look.y is not None
    sample = LabeledRows.of(look.X, look.y, look.weight, targets)
    candidates = options.candidates
    if way == "exact" and choice is not None:
        rows_of_all = sample.merged()
        if candidates.follow_ridge and choice.lam is not None:
            weight = float(rows_of_all.weights.sum())
            least = LEAST_RIDGE * abs(float(choice.kernel.radial(np.zeros(1))[0]))
            candidates = candidates.after_ridge(weight * max(choice.lam, least), weight)
        found, exact = fit_exact(machine, candidates, choice, rows_of_all)
        return MachineFit(exact, way, choice, candidates, found.chosen, found.fit.n_iter, found.fit.converged)
    features = source.fit(look, choice, None)
    size = look.n_rows * features.signature.size * look.X.dtype.itemsize
    whole = rows.matrix() if size <= _MEMORY_BYTES else None
    sampled = whole is None or look.n_rows > labeled.CHOICE_ROWS
    choosing = candidates.follow_ridge or not candidates.single
    if whole is not None:
        every = _merged(LabeledRows.of(*whole, targets), look)
        Z = all_features(features, every.X)
    if sampled and choosing:  # what is chosen is chosen on some rows
        some = sample.head(labeled.CHOICE_ROWS)
        some = some if look.pairwise else some.merged()
        Z_some = all_features(features, some.X)
    elif choosing:
        some, Z_some = every, Z
    if candidates.follow_ridge:
        total = ridge_total(Z_some, some, machine.n_classes)
        candidates = candidates.after_ridge(total, float(some.weights.sum()))
    chosen = None
    if sampled and not candidates.single:
        chosen = choose_strength(machine, candidates, Z_some, some, features.signature)[0]
    if whole is None:
        found = fit_passes(machine, candidates, rows, RowTask(features, targets), chosen)
    else:
        found = fit_features(machine, candidates, Z, every, features.signature, chosen)
    model = LinearModel(source.known or features, found.fit.coef, found.fit.intercept)
    return MachineFit(model, way, choice, candidates, found.chosen, found.fit.n_iter, found.fit.converged)


def _merged(rows: LabeledRows, look: Look) -> LabeledRows:
    """Equal rows as one, where all are in the look; similarities to all rows are taken as they are."""
    return rows if look.pairwise or not look.complete else rows.merged()


def _way_of_solving(solver: str, look: Look, source: MapSource) -> str:
    obstacles = {
        "needs features=None or TunedFeatures with kernels to choose from": source.chosen is None,
        "needs all rows in memory, and there are too many": not look.complete,
    }
    met = next((obstacle for obstacle, there in obstacles.items() if there), None)
    if solver == "exact" and met is not None:
        raise ValueError(f"solver='exact' {met}; use solver='features'")
    if solver == "auto":
        return "exact" if met is None and look.size <= EXACT_MACHINE_ROWS else "features"
    return solver
