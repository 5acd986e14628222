"""The measure of least mass within a tolerance, or the one verdict that there is none of use.

Measures for weights that will be refitted to the data are known before the data are, and remembered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from krein._core.errors import OutOfReachError
from krein.kernels import Kernel
from krein.measures.error_prediction import Outlook
from krein.measures.search.grids import certified_bias, check_grid, even_powers
from krein.measures.search.policy import COARSE, POLICY, SearchPolicy
from krein.measures.search.program import Goal, Problem, Program, Solution, Work
from krein.measures.signed import Head, SignedMeasure, head_columns

__all__ = ["ToRefit", "least_mass", "least_mass_for_width", "least_mass_to_refit", "measure_to_refit"]

_STRIDES = (4, 1)  # rungs of the ladder at a time: factors of about 3 and 1.3


def least_mass(problem: Problem, tol: float, head_degree: int = 1, work: Work | None = None) -> SignedMeasure:
    """The least-mass measure within `tol` of the function.

    Two programs decide at most. The first prices tolerance beyond the one asked for: if it buys none, its measure is
    the answer; if even so its cost is beyond the limit on the mass, there is none. In between, the second finds the
    least tolerance within that limit, a number that moves no more than the kernel's values do, and compares it with the
    one asked for.
    """
    work = work or Work.of(POLICY)
    policy = work.policy
    size = float(np.max(np.abs(problem.function(np.linspace(0.0, problem.radius, 33))))) or 1.0
    program = Program(problem, head_degree, policy.reach_at(tol / size), work)
    goal = _goal_within(tol / program.size, policy.mass_limit, policy)
    solved = program.solve(goal)
    if solved is not None and solved.bound <= goal.beyond_use and not _meets(solved, goal, policy):
        solved = _steep(program, goal, policy)
    if solved is None or not _meets(solved, goal, policy) or not _holds(program, solved, goal, policy):
        raise OutOfReachError(
            f"no measure of useful mass comes within tol={tol:.3g} of this kernel on [0, {problem.radius:.4g}] in dimension "
            f"{problem.dim}: with a mass above {policy.mass_limit:g} times the largest |k| random features are all noise, and a "
            "kernel with a kink, a jump or an infinite slope away from 0 has no better measure. Use a larger tol, a smaller "
            "radius, or tol='auto' with n_components"
        )
    return program.measure(solved)


def _goal_within(tol: float, mass_limit: float, policy: SearchPolicy) -> Goal:
    """Least mass within a tolerance; more tolerance costs what only a mass beyond the limit would be worth, or less."""
    steepness = min(policy.steepness, mass_limit / policy.margin)
    return Goal(tol, tol_price=steepness / tol, beyond_use=mass_limit)


def _meets(solved: Solution, goal: Goal, policy: SearchPolicy) -> bool:
    """Whether a solution is within the goal's tolerance, up to the margin, and its mass of use."""
    return solved.excess <= policy.margin * goal.tol and solved.mass <= (1.0 + policy.margin) * goal.beyond_use


def _steep(program: Program, goal: Goal, policy: SearchPolicy) -> Solution | None:
    """The measure where mass rises so steeply with the tolerance that the first price bought tolerance; None if there is none."""
    limit, allowed = goal.beyond_use, policy.margin * goal.tol
    nearest = program.solve(Goal(goal.tol, mass_price=0.0, mass_limit=limit, beyond_use=allowed))
    if nearest is None or nearest.excess > allowed:
        return None
    least = program.solve(Goal(goal.tol, tol_price=limit / allowed, beyond_use=limit))
    return least if least is not None and _meets(least, goal, policy) else nearest


def _holds(program: Program, solved: Solution, goal: Goal, policy: SearchPolicy) -> bool:
    """Whether the residual between grid points is of the order of the tolerance, however the rounds ended."""
    residual, _ = program.residual(solved)
    return float(np.max(np.abs(residual))) <= policy.accepted * goal.tol + policy.rounding


def least_mass_for_width(
    problem: Problem, n_frequencies: int, head_degree: int, outlook: Outlook, work: Work | None = None
) -> SignedMeasure:
    r"""The least-mass measure whose tolerance minimizes the predicted mean squared error.

    A first tolerance comes from the program that minimizes :math:`\varepsilon + aM` at the price :math:`a = s^{-1/2}`,
    the order of the standard error of a unit of mass; lower prices follow as long as none buys any mass. From there the
    tolerance climbs up or down a ladder of fixed factors, first in large steps, then in small ones, as long as a step
    lowers the predicted error by what is worth it and the error is not negligible. The head alone is the first
    candidate; of candidates that are as good the earlier one stays.
    """
    work = work or Work.of(POLICY)
    policy = work.policy
    program = Program(problem, head_degree, policy.reach, work, outlook.slack)

    def error(solved: Solution | None) -> float:
        if solved is None:
            return math.inf
        return outlook.error(program.measure(solved, certified=False), n_frequencies)

    best = program.head_alone(even=True)
    least = error(best)
    start = _first(program, n_frequencies, policy) if n_frequencies and best.tol > policy.exact else None
    if start is None:
        return program.measure(best)
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
                goal = _goal_within(start.tol * policy.ladder**rung, policy.mass_limit, policy)
                solved = program.solve(goal)
                if solved is not None and not _meets(solved, goal, policy):
                    floor = rung  # smaller tolerances are out of reach as well
                tried = error(solved)
                if solved is None or tried >= (1.0 - policy.worth) * found:
                    break
                here, found, moved = rung, tried, True
                if found < (1.0 - policy.worth) * least:
                    best, least = solved, found
            if moved:  # the other way lies where it came from
                break
    return program.measure(best)


def _first(program: Program, n_frequencies: int, policy: SearchPolicy) -> Solution | None:
    """The best trade of tolerance and mass at the highest price that buys mass, or None if none does."""
    price = 1.0 / math.sqrt(n_frequencies)
    for _ in range(policy.prices):
        solved = program.solve(Goal(mass_price=price))
        if solved is None or (solved.mass > 0.0 and solved.tol > 0.0):
            return solved
        price /= 3.0
    return None


class ToRefit(NamedTuple):
    """A measure whose weights can be refitted; exact where its head is the whole kernel, so that there is nothing to refit."""

    measure: SignedMeasure
    exact: bool


def measure_to_refit(
    kernel: Kernel, dim: int, radius: float, n_components: int, head_degree: int | str, *, sphere: bool
) -> ToRefit | None:
    """A head and waves to refit the weights of, or None if there are too few columns for both.

    A kernel that is its own head, as a polynomial can be, is left as it is wherever that head fits, without columns for
    waves: the least such degree for ``"auto"``. Otherwise refitting gains far more on the waves that a head leaves over
    than on those that stand in for it, so ``"auto"`` is the largest head that fits beside some waves. Many frequencies
    in few dimensions get a smaller tolerance, hence more different radii; few of them get the largest, since what they
    leave over by chance is more than what the radii do.
    """
    columns = {q: head_columns(q, dim, sphere=sphere) for q in (-1, 0, 1, 2)}
    choices = [head_degree] if isinstance(head_degree, int) else [0, 1, 2]
    problem, values = Problem(kernel.radial, dim, radius, sphere), kernel.radial(check_grid(radius))
    for degree in choices:
        exact = _exact_head(problem, degree, values) if columns[degree] <= n_components else None
        if exact is not None:
            return ToRefit(exact, True)
    if not isinstance(head_degree, int) and not sphere and columns[2] > POLICY.head_share * n_components:
        choices.remove(2)
    fitting = [q for q in choices if columns[q] + POLICY.wave_room <= n_components]
    if not fitting:
        return None
    degree = max(fitting)
    crowd = (n_components - columns[degree]) / (2 * POLICY.crowd * dim**2)
    fineness = max(0, round(math.log2(crowd)))
    return ToRefit(_answer(_Question(dim, radius, degree, sphere, fineness, values.tobytes(), problem)), False)


def _exact_head(problem: Problem, degree: int, values: np.ndarray) -> SignedMeasure | None:
    """The head alone if it is the kernel up to rounding, by least squares on the distances `values` were taken at."""
    powers = even_powers(check_grid(problem.radius) / problem.radius, degree)
    coefficients, *_ = np.linalg.lstsq(powers, values, rcond=None)
    left = float(np.max(np.abs(powers @ coefficients - values)))
    if not left <= POLICY.exact * float(np.max(np.abs(values))):
        return None
    head, radius = Head.of_unit(coefficients, problem.radius), problem.radius
    measure = SignedMeasure(problem.dim, head=head, radius=radius, sphere=problem.sphere, decomposition="jordan")
    return replace(measure, bias=certified_bias(problem.function, measure))


@dataclass(frozen=True)
class _Question:
    """What a measure depends on; the kernel by its values, so that a function that changed is not mistaken for what it was."""

    dim: int
    radius: float
    degree: int
    sphere: bool
    fineness: int
    values: bytes
    problem: Problem = field(compare=False)


@lru_cache(maxsize=128)  # of some kilobytes each
def _answer(asked: _Question) -> SignedMeasure:
    rest = POLICY.refit_rest * 0.5**asked.fineness
    return least_mass_to_refit(asked.problem, asked.degree, rest)


def least_mass_to_refit(
    problem: Problem, head_degree: int, rest: float = COARSE.refit_rest, work: Work | None = None
) -> SignedMeasure:
    """Radii that can take up most of what the head leaves over.

    One small linear program, whose tolerance is the part ``rest`` of the largest error of the head alone; what the radii are is
    not delicate. Where that takes too much mass (an infinite slope at the end of [0, radius]), somewhat smaller distances
    decide, then a larger part, and where neither helps, the best trade of tolerance and mass at a middling price. A kernel that
    is its own head has no mass.
    """
    work = work or Work.of(COARSE)
    policy = work.policy

    def program_on(part: float) -> Program:
        return Program(replace(problem, radius=part * problem.radius), head_degree, policy.reach, work)

    while True:
        for part in policy.refit_parts:
            program = program_on(part)
            solved = program.head_alone()
            if solved.tol <= policy.exact:
                return program.measure(solved, radius=problem.radius)
            goal = _goal_within(rest * solved.tol, policy.refit_mass, policy)
            found = program.solve(goal)
            if found is not None and _meets(found, goal, policy):
                return program.measure(found, radius=problem.radius)
        if rest >= policy.refit_rest:
            break
        rest = min(4.0 * rest, policy.refit_rest)
    program = program_on(1.0)
    traded = program.solve(Goal(mass_price=policy.refit_price))
    return program.measure(program.head_alone() if traded is None else traded)
