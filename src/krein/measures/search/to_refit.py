"""A measure whose weights will be refitted to data: radii matter, weights hardly."""

from __future__ import annotations

from krein.measures.search.goal import Goal
from krein.measures.search.policy import COARSE, SearchPolicy
from krein.measures.search.program import Function, Program
from krein.measures.search.tolerance import goal_within, meets
from krein.measures.search.work import Work
from krein.measures.signed import SignedMeasure

__all__ = ["least_mass_to_refit"]


def least_mass_to_refit(
    function: Function,
    dim: int,
    radius: float,
    head_degree: int,
    rest: float = COARSE.refit_rest,
    *,
    sphere: bool = False,
    policy: SearchPolicy = COARSE,
    work: Work | None = None,
) -> SignedMeasure:
    """Radii that can take up most of what the head leaves over.

    One small linear program, whose tolerance is the part ``rest`` of the largest error of the head alone; what the radii are is
    not delicate. Where that takes too much mass (an infinite slope at the end of [0, radius]), somewhat smaller distances
    decide, then a larger part, and where neither helps, the best trade of tolerance and mass at a middling price. A kernel that
    is its own head has no mass.
    """
    work = Work.of(policy) if work is None else work

    def program_on(part: float) -> Program:
        return Program(function, dim, part * radius, head_degree, policy.reach, policy=policy, work=work)

    while True:
        for part in policy.refit_parts:
            program = program_on(part)
            solved = program.head_alone()
            if solved.tol <= policy.exact:
                return program.measure(solved, sphere=sphere, radius=radius)
            goal = goal_within(rest * solved.tol, policy.refit_mass, policy)
            found = program.solve(goal)
            if found is not None and meets(found, goal, policy):
                return program.measure(found, sphere=sphere, radius=radius)
        if rest >= policy.refit_rest:
            break
        rest = min(4.0 * rest, policy.refit_rest)
    program = program_on(1.0)
    traded = program.solve(Goal(mass_price=policy.refit_price))
    return program.measure(program.head_alone() if traded is None else traded, sphere=sphere)
