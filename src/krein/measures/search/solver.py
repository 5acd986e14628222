"""One linear program with few constraints and few variables, handed to the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import linprog

from krein.measures.search.policy import SearchPolicy

__all__ = ["Answer", "Work", "solve_restricted"]

_FEASIBLE = 1e-10  # in units of sup|k|, the smallest the solver takes: a small tolerance must mean something
# Of a reduced cost: absolute, of the largest cost (double precision has no more digits), and in any case.
_OPTIMAL, _DIGITS, _LOOSEST = 1e-10, 1e-14, 1e-6
_SOLVED = 0  # status of `linprog`


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """An optimal point and its multipliers.

    Parameters
    ----------
    variables : ndarray of shape (n,)
    multipliers : ndarray of shape (m,)
        Non-negative, one for each constraint.
    """

    variables: np.ndarray
    multipliers: np.ndarray


def solve_restricted(
    cost: np.ndarray, matrix: np.ndarray, limit: np.ndarray, lowest: np.ndarray, work: Work
) -> Answer | None:
    """Minimize ``cost @ x`` subject to ``matrix @ x <= limit`` and ``x >= lowest``.

    Programs here are feasible and bounded by construction, so whatever else the solver says of one is about its
    arithmetic: it gets a second chance with its own tolerances and presolve, then there is no answer.
    """
    dual = min(max(_OPTIMAL, _DIGITS * float(np.max(np.abs(cost)))), _LOOSEST)
    # Presolve finds nothing in a dense matrix and takes half the time.
    first: dict[str, bool | float] = {
        "presolve": False,
        "primal_feasibility_tolerance": _FEASIBLE,
        "dual_feasibility_tolerance": dual,
    }
    bounds = np.stack([lowest, np.full_like(lowest, np.inf)], axis=1)
    second: dict[str, bool | float] = {"presolve": True}
    for chosen in (first, second):
        options = {**chosen, "maxiter": work.most_pivots}
        result = linprog(cost, A_ub=matrix, b_ub=limit, bounds=bounds, method="highs-ds", options=options)
        work.programs += 1
        work.pivots += int(result.nit)
        if result.status == _SOLVED and result.x is not None and np.isfinite(result.x).all():
            return Answer(result.x, np.maximum(-result.ineqlin.marginals, 0.0))
    return None


@final
@dataclass
class Work:
    """What a search has cost so far, in counts, and when it has to end.

    Parameters
    ----------
    most_programs : int
        Programs after which no more are begun.
    most_pivots : int
        Per program.
    programs, pivots : int
        Solved so far.
    """

    most_programs: int
    most_pivots: int
    programs: int = 0
    pivots: int = 0

    @classmethod
    def of(cls, policy: SearchPolicy, searches: int = 1) -> Work:
        """Nothing done yet, and what a policy allows."""
        return cls(max(1, policy.programs // searches), policy.pivots)

    @property
    def spent(self) -> bool:
        """Whether the search has to end."""
        return self.programs >= self.most_programs
