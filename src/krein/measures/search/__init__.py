"""The search for a measure: one linear program, one policy, and what is asked of them."""

from krein.measures.search.least_mass import least_mass, least_mass_for_width
from krein.measures.search.policy import COARSE, POLICY, SearchPolicy
from krein.measures.search.program import Goal, Program, Solution
from krein.measures.search.solver import Work

__all__ = [
    "least_mass",
    "least_mass_for_width",
    "Program",
    "Goal",
    "Solution",
    "SearchPolicy",
    "POLICY",
    "COARSE",
    "Work",
]
