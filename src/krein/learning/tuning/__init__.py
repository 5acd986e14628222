"""Choosing from the data: where rows are placed, which kernel sees them, at what scale, and with what λ."""

from krein.learning.tuning.choice import Choice, choose
from krein.learning.tuning.leave_one_out import (
    PathErrors,
    path_errors,
    path_errors_at,
    path_errors_near,
    path_errors_of_sections,
)
from krein.learning.tuning.normal_scores import NormalScores, normal_scores
from krein.learning.tuning.placement import Placement, scaled_columns
from krein.learning.tuning.portfolio import PORTFOLIO, Candidate, candidates
from krein.learning.tuning.trials import Trial, Trials
from krein.learning.tuning.watching import OnTrial, watched_trials
from krein.rows.equal import MergedRows, merge_rows

__all__ = [
    "NormalScores",
    "normal_scores",
    "Placement",
    "scaled_columns",
    "MergedRows",
    "merge_rows",
    "PORTFOLIO",
    "Candidate",
    "candidates",
    "PathErrors",
    "path_errors",
    "path_errors_at",
    "path_errors_near",
    "path_errors_of_sections",
    "Trial",
    "Trials",
    "OnTrial",
    "watched_trials",
    "Choice",
    "choose",
]
