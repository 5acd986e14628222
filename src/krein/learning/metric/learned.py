"""What is known of a learned metric: its directions, how much each column matters, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from krein._core.checks import frozen_array

__all__ = ["Form", "LearnedMetric", "MetricTrial"]

Form = Literal["none", "diagonal", "full"]


@final
@dataclass(frozen=True)
class MetricTrial:
    """One metric, and its error on rows that had no part in it.

    Parameters
    ----------
    form : {"none", "diagonal", "full"}
    rounds : int
    error : float
        Squared error relative to that of a constant.
    """

    form: Form
    rounds: int
    error: float


@final
@dataclass(frozen=True, eq=False)
class LearnedMetric:
    """Directions that placed rows are multiplied by, and how much each column matters.

    Parameters
    ----------
    form : {"none", "diagonal", "full"}
    directions : ndarray of shape (n_features,) or (n_features, n_features), or None
        For `krein.learning.tuning.Placement.followed_by`; None leaves rows as they are.
    importances : ndarray of shape (n_features,)
        Mean squared derivative of the first model along each placed column, summing to 1; all equal where it is constant.
    trials : tuple of MetricTrial
    """

    form: Form
    directions: np.ndarray | None
    importances: np.ndarray
    trials: tuple[MetricTrial, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "importances", frozen_array(self.importances, "importances", (None,)))
        if (self.directions is None) != (self.form == "none"):
            raise ValueError(f"a metric of the form {self.form!r} cannot have directions {self.directions!r}")
        if self.directions is not None:
            shape = (None,) if self.form == "diagonal" else (None, None)
            object.__setattr__(self, "directions", frozen_array(self.directions, "directions", shape))
