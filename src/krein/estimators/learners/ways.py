"""Which way a learner solves its problem, and what it lets the data choose for that."""

from __future__ import annotations

import numpy as np

from krein.estimators.maps.fitting import DataChosenMap
from krein.learning.first_pass import FirstPass, comparable
from krein.learning.ridge_choice import RidgeOptions
from krein.learning.targets import Targets
from krein.learning.tuning.choice import FEATURE_CHOICE_ROWS, Choice
from krein.learning.tuning.limits import EXACT_ROWS

__all__ = ["SOLVERS", "choose_for", "way_of_solving"]

SOLVERS = ("auto", "exact", "features")


def way_of_solving(
    solver: str, seen: FirstPass, options: RidgeOptions, *, chosen: bool, more_to_come: bool = False
) -> str:
    """The way to take.

    Parameters
    ----------
    solver : {"auto", "exact", "features"}
        What the user asked for.
    seen : FirstPass
    options : RidgeOptions
    chosen : bool
        Whether the kernel is chosen from the data.
    more_to_come : bool, default=False
        Whether rows will be added later.

    Returns
    -------
    {"exact", "features"}
        ``"auto"`` is exact where the kernel is chosen from the data, λ by leave-one-out, and there are at most
        5,000 distinct rows, none of them still to come.
    """
    obstacles = {
        "needs features=None or TunedFeatures with kernels to choose from": not chosen,
        "cannot be continued by partial_fit": more_to_come,
        "chooses λ by leave-one-out only, and selection says otherwise": options.selection != "loo",
        "holds all rows, and there are more than it may look at": not seen.complete,
    }
    met = next((obstacle for obstacle, there in obstacles.items() if there), None)
    if solver == "exact" and met is not None:
        raise ValueError(f"solver='exact' {met}; use solver='features'")
    if solver == "auto":
        return "exact" if met is None and seen.sample.shape[0] <= EXACT_ROWS else "features"
    return solver


def choose_for(
    features: DataChosenMap, seen: FirstPass, targets: Targets, options: RidgeOptions, solver: str
) -> Choice:
    """What the data choose for a ridge model.

    Parameters
    ----------
    features : DataChosenMap
    seen : FirstPass
    targets : Targets
    options : RidgeOptions
    solver : {"exact", "features"}
        The way that is taken.

    Returns
    -------
    Choice
    """
    return features.choose(
        comparable(seen, targets),
        lams=None if options.candidates is None else np.unique(options.candidates[:, 0]),
        regularizer=options.regularizer,
        intercept=options.intercept,
        most_rows=EXACT_ROWS if solver == "exact" else FEATURE_CHOICE_ROWS,
    )
