"""Which way a learner solves its problem, and what it lets the data choose for that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from krein.learning.chosen_features import Tuning
from krein.learning.leave_one_out import left_out_model
from krein.learning.leaves.local import LocalTask, plan_local
from krein.learning.limits import EXACT_ROWS
from krein.learning.ridge_choice import RidgeOptions, RidgeSolution
from krein.learning.ridge_sums import RidgeSums
from krein.learning.tuning.choice import Choice
from krein.rows.feature_blocks import Features
from krein.rows.look import FirstPass, comparable
from krein.rows.targets import NumberTargets, Targets

__all__ = ["SOLVERS", "choose_for", "columns_for", "local_task", "options_for", "way_of_solving"]

SOLVERS = ("auto", "exact", "local", "features")
_GLOBAL_COLUMNS = 512  # of the features below a tree of leaves, which learn what they miss
# λ of that model, in units of the mean square length of a feature row: with smaller ones its coefficients would hang on the order
# in which rows are summed, and models from chunks and clusters would differ beyond rounding. Finer things are for the leaves.
_LEAST_GLOBAL_LAMBDA = 1e-6
_LARGEST_TARGET = 1e140  # sums of many squares of which are numbers


def way_of_solving(
    solver: str,
    seen: FirstPass,
    options: RidgeOptions,
    *,
    chosen: bool,
    more_to_come: bool = False,
    passes_again: bool = True,
) -> str:
    """The way to take."""
    if solver == "local" and more_to_come:
        return "features"
    obstacles = {
        "exact": {
            "cannot be continued by partial_fit": more_to_come,
            "needs features=None or TunedFeatures with kernels to choose from": not chosen,
            "chooses λ by leave-one-out only, so it needs selection='loo'": options.selection != "loo",
            "needs all rows in memory, and there are too many": not seen.complete,
        },
        "local": {
            "cannot be continued by partial_fit": more_to_come,
            "needs dense rows for distances, not sparse rows or similarities": seen.given is None
            or sp.issparse(seen.sample),
            "needs fit_intercept=True": not options.intercept,
            "needs a convex global problem, not regularizer='krein'": options.regularizer == "krein",
            "reads the rows twice, which an iterator does not allow; pass a list": not passes_again,
        },
    }
    met = {way: next((text for text, there in found.items() if there), None) for way, found in obstacles.items()}
    if met.get(solver) is not None:
        raise ValueError(f"solver={solver!r} {met[solver]}; use solver='features'")
    if solver != "auto":
        return solver
    if met["exact"] is None and seen.sample.shape[0] <= EXACT_ROWS:
        return "exact"
    many = seen.sample.shape[0] > EXACT_ROWS or not seen.complete
    return "local" if chosen and many and met["local"] is None else "features"


def options_for(solver: str, options: RidgeOptions) -> RidgeOptions:
    """The options of the problem that is solved on features."""
    return replace(options, least=_LEAST_GLOBAL_LAMBDA) if solver == "local" else options


def columns_for(solver: str, seen: FirstPass) -> int | None:
    """The width of a map that is free to have any."""
    return _GLOBAL_COLUMNS if solver == "local" and seen.n_rows > EXACT_ROWS else None


def choose_for(tuning: Tuning, seen: FirstPass, targets: Targets, options: RidgeOptions, solver: str) -> Choice:
    """What the data choose for a ridge model."""
    return tuning.choose(
        comparable(seen, targets),
        lams=None if options.candidates is None else np.unique(options.candidates[:, 0]),
        regularizer=options.regularizer,
        intercept=options.intercept,
        exact_rows=EXACT_ROWS if solver == "exact" else None,
        width=columns_for(solver, seen),
    )


def local_task(
    features: Features,
    sums: RidgeSums,
    targets: Targets,
    options: RidgeOptions,
    solution: RidgeSolution,
    seen: FirstPass,
) -> LocalTask:
    """What a tree of leaves is to learn beyond a global model."""
    assert seen.given is not None
    X, y, weight = seen.given
    columns = targets.columns(targets.encode(y))
    largest = float(np.abs(columns).max())
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"solver='local' needs targets whose squares are numbers, and y reaches {largest:.3g}; divide y by {largest:.0e}, "
            "or use solver='features'"
        )
    plan = plan_local(X, columns, weight, seen.n_rows, numbers=isinstance(targets, NumberTargets))
    whole = sums.everything().centered(intercept=options.intercept)
    trend = left_out_model(features, whole, solution.lam, solution.coefficients.T, solution.offset)
    return LocalTask(plan, trend, targets)
