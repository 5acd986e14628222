"""The search for a measure: one linear program, one policy, and what is asked of them."""

from krein.measures.search.goal import Goal, Solution
from krein.measures.search.policy import COARSE, POLICY, SearchPolicy
from krein.measures.search.program import Program
from krein.measures.search.to_refit import least_mass_to_refit
from krein.measures.search.tolerance import least_mass
from krein.measures.search.width import least_mass_for_width
from krein.measures.search.work import Work

__all__ = [
    "least_mass",
    "least_mass_for_width",
    "least_mass_to_refit",
    "Program",
    "Goal",
    "Solution",
    "SearchPolicy",
    "POLICY",
    "COARSE",
    "Work",
]
