"""The measure whose tolerance suits a number of frequencies."""

from __future__ import annotations

import math

from krein.measures.predict import Outlook
from krein.measures.search.goal import Goal, Solution
from krein.measures.search.policy import POLICY, SearchPolicy
from krein.measures.search.program import Function, Program
from krein.measures.search.tolerance import goal_within, meets
from krein.measures.search.work import Work
from krein.measures.signed import SignedMeasure

__all__ = ["least_mass_for_width"]

_STRIDES = (4, 1)  # rungs of the ladder at a time: factors of about 3 and 1.3


def least_mass_for_width(
    function: Function,
    dim: int,
    radius: float,
    n_frequencies: int,
    head_degree: int,
    outlook: Outlook,
    *,
    sphere: bool = False,
    policy: SearchPolicy = POLICY,
    work: Work | None = None,
) -> SignedMeasure:
    r"""The least-mass measure whose tolerance minimizes the predicted mean squared error.

    A first tolerance comes from the program that minimizes :math:`\varepsilon + aM` at the price :math:`a = s^{-1/2}`,
    the order of the standard error of a unit of mass; lower prices follow as long as none buys any mass. From there the
    tolerance climbs up or down a ladder of fixed factors, first in large steps, then in small ones, as long as a step
    lowers the predicted error by what is worth it and the error is not negligible. The head alone is the first
    candidate; of candidates that are as good the earlier one stays.
    """
    work = Work.of(policy) if work is None else work
    program = Program(function, dim, radius, head_degree, policy.reach, policy=policy, work=work, slack=outlook.slack)

    def error(solved: Solution | None) -> float:
        if solved is None:
            return math.inf
        measure = program.measure(solved, sphere=sphere, certified=False)
        if n_frequencies < 2 and measure.positive.mass > 0 and measure.negative.mass > 0:
            return math.inf  # one frequency cannot stand for both signs
        return outlook.error(measure, n_frequencies)

    best = program.head_alone(even=True)
    least = error(best)
    start = _first(program, n_frequencies, policy) if n_frequencies and best.tol > policy.exact else None
    if start is None:
        return program.measure(best, sphere=sphere)
    here, found, floor = 0, error(start), -math.inf
    if found < (1.0 - policy.worth) * least:
        best, least = start, found
    steps, negligible = 0, policy.negligible**2 * outlook.square
    for stride in _STRIDES:
        for direction in (stride, -stride):
            moved = False
            while steps < policy.steps and found > negligible and here + direction > floor:
                steps += 1
                rung = here + direction
                goal = goal_within(start.tol * policy.ladder**rung, policy.mass_limit, policy)
                solved = program.solve(goal)
                if solved is not None and not meets(solved, goal, policy):
                    floor = rung  # smaller tolerances are out of reach as well
                tried = error(solved)
                if solved is None or tried >= (1.0 - policy.worth) * found:
                    break
                here, found, moved = rung, tried, True
                if found < (1.0 - policy.worth) * least:
                    best, least = solved, found
            if moved:  # the other way lies where it came from
                break
    return program.measure(best, sphere=sphere)


def _first(program: Program, n_frequencies: int, policy: SearchPolicy) -> Solution | None:
    """The best trade of tolerance and mass at the highest price that buys mass, or None if none does."""
    price = 1.0 / math.sqrt(n_frequencies)
    for _ in range(policy.prices):
        solved = program.solve(Goal(mass_price=price))
        if solved is None or (solved.mass > 0.0 and solved.tol > 0.0):
            return solved
        price /= 3.0
    return None
