r"""The linear program for a measure, with a price on mass and one on tolerance.

.. math::

   \min_{w, c, t \ge 0}\; a \sum_j |w_j| + b\,t \quad\text{subject to}\quad
   \Big|\sum_q c_q z_i^{2q} + \sum_j w_j \Omega_d(r_j z_i) - k(z_i)\Big| \le (\varepsilon + t)\,s_i, \qquad \sum_j |w_j| \le M

t makes every program feasible, so that no verdict hangs on what a solver calls infeasible. Only few constraints and few
waves matter in the end: programs with some of them are solved until the answer breaks no constraint of the grid and
wants no other wave, which is the optimum of the whole program up to the policy's margins. Then points between grid
points where the residual is too large join the grid.

The multipliers λ of a restricted program bound the whole one from below: with :math:`\sum_i s_i|\lambda_i| \le b` and
:math:`\sum_i \lambda_i z_i^{2q} = 0`, divided by the largest :math:`|\sum_i \lambda_i \Omega_d(r_j z_i)|/a` if that
exceeds 1, no measure costs less than :math:`\sum_i \lambda_i k(z_i) - \varepsilon \sum_i s_i|\lambda_i|` (weak
duality). A search whose bound is beyond use ends there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.optimize import linprog

from krein.measures.harmonics import omega
from krein.measures.search.grids import certified_bias, check_grid, even_powers, unit_grid
from krein.measures.search.policy import SearchPolicy
from krein.measures.signed import Head, SignedMeasure

__all__ = ["Function", "Goal", "Problem", "Program", "Solution", "Work"]

Function = Callable[[np.ndarray], np.ndarray]

_ZERO = 1e-12  # of the largest weight: smaller ones are rounding
_FEASIBLE = 1e-10  # in units of sup|k|, the smallest the solver takes: a small tolerance must mean something
# Of a reduced cost: absolute, of the largest cost (double precision has no more digits), and in any case.
_OPTIMAL, _DIGITS, _LOOSEST = 1e-10, 1e-14, 1e-6


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """What a measure is to represent: k(z) on [0, R], in some dimension; and whether rows are unit vectors."""

    function: Function
    dim: int
    radius: float
    sphere: bool = False


@final
class Program:
    """The program for one problem and one head; solved for several goals, each starts from what mattered for the last.

    Parameters
    ----------
    problem : Problem
    degree : int
        Of the head in z²; −1 for none.
    reach : float
        Largest radius, in units of √d/R.
    work : Work
        What may be solved, and counts what is.
    slack : callable, default=None
        s(z), how much larger than elsewhere the tolerance may be at z; None for 1.
    """

    def __init__(self, problem: Problem, degree: int, reach: float, work: Work, slack: Function = np.ones_like) -> None:
        self._problem, self._degree, self._policy, self._work = problem, degree, work.policy, work
        self._function, self._radius, self._slack_at = problem.function, problem.radius, slack
        grid = unit_grid(problem.dim, reach, degree < 0, self._policy)
        self._z, self.radii, self._waves = grid.distances, grid.radii, grid.waves
        values = np.asarray(self._function(grid.distances * self._radius), dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel is not finite on [0, {self._radius:.4g}]; check that the kernel is finite and continuous there, or "
                "use a smaller radius"
            )
        self.size = float(np.max(np.abs(values))) or 1.0
        self._values, self._slack = values / self.size, self._slack_at(grid.distances * self._radius)
        self._powers = even_powers(grid.distances, degree)
        # Among measures of equal mass the slower waves win, so that the optimum is one: a positive definite kernel has many.
        self._prices = 1.0 + self._policy.tie_break * np.arange(grid.radii.size) / grid.radii.size
        self._start = (
            _both_signs(_spread(grid.distances.size, self._policy.start_distances)),
            _both_signs(_spread(grid.radii.size, self._policy.start_radii)),
        )
        self._rows, self._columns = self._start

    def head_alone(self, *, even: bool = False) -> Solution:
        """The head that fits best in the mean square, and no waves: always to be had."""
        weight = 1.0 / self._slack
        if even:
            order = np.argsort(self._z, kind="stable")
            weight[order] *= np.sqrt(np.gradient(self._z[order]))
        coefficients, *_ = np.linalg.lstsq(self._powers * weight[:, None], self._values * weight, rcond=None)
        tol = float(np.max(np.abs(self._powers @ coefficients - self._values) / self._slack))
        return Solution(np.zeros(self.radii.size), coefficients, tol, 0.0, 0.0)

    def solve(self, goal: Goal) -> Solution | None:
        """The optimum for a goal, or the best known when the counts of the policy end."""
        solution: Solution | None = None
        for _ in range(self._policy.exchanges):
            found = self._solve_on_grid(goal)
            if found is None:  # what was found before stands; its bias is measured in the end
                return solution
            solution = found
            missed = (
                goal.tol > 0.0 and solution.excess > self._policy.margin * goal.tol
            )  # more points would ask for more
            if missed or solution.bound > goal.beyond_use or not self._add_points(solution):
                break
        return solution

    def _solve_on_grid(self, goal: Goal) -> Solution | None:
        """Restricted programs until the answer breaks no constraint and no other wave would lower its cost, or the rounds end."""
        rows, columns = self._rows, self._columns
        idle = np.zeros(len(rows), dtype=np.intp)
        solution: Solution | None = None
        for turn in range(self._policy.rounds):
            answer = self._restricted(goal, rows, columns)
            if answer is None:
                return solution
            multipliers = answer.multipliers[: len(rows)]
            saved = self._saved(rows, multipliers)
            bound = self._bound(goal, rows, multipliers, saved)
            solution = self._solution(goal, columns, answer, bound)
            self._remember(rows, columns, answer)
            broken = self._broken(solution, rows)
            wanted = self._wanted(goal, columns, answer, saved)
            if not (broken.size or wanted.size) or bound > goal.beyond_use:
                break
            idle = np.where(multipliers > 0.0, 0, idle + 1)
            if (
                turn < self._policy.rounds // 2
            ):  # what has no effect slows the solver; at last all stay, so that it ends
                rows, idle = rows[idle < self._policy.idle_rounds], idle[idle < self._policy.idle_rounds]
            rows, idle = np.concatenate([rows, broken]), np.concatenate([idle, np.zeros(len(broken), dtype=np.intp)])
            columns = np.concatenate([columns, wanted])
        return solution

    def _restricted(self, goal: Goal, rows: np.ndarray, columns: np.ndarray) -> Answer | None:
        """Variables: weights of the waves, coefficients of the head, t. Last constraint: the limit on the mass."""
        (at, side), (wave, sign) = rows.T, columns.T
        n, free = wave.size, self._powers.shape[1]
        limited = math.isfinite(goal.mass_limit)
        matrix = np.zeros((at.size + limited, n + free + 1))
        body = matrix[: at.size]
        body[:, :n] = self._waves[np.ix_(at, wave)] * np.multiply.outer(side, sign)
        body[:, n:-1] = self._powers[at] * side[:, None]
        body[:, -1] = -self._slack[at]
        limit = side * self._values[at] + goal.tol * self._slack[at]
        if limited:
            matrix[-1, :n] = 1.0
            limit = np.append(limit, goal.mass_limit)
        cost = np.concatenate([goal.mass_price * self._prices[wave], np.zeros(free), [goal.tol_price]])
        lowest = np.zeros(n + free + 1)
        lowest[n:-1] = -np.inf
        return self._work.solve(cost, matrix, limit, lowest)

    def _saved(self, rows: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """What a unit of each wave saves elsewhere, with its sign: Σ λ_i Ω_d(r_j z_i)."""
        dual = np.zeros(self._z.size)
        np.add.at(dual, rows[:, 0], -rows[:, 1] * multipliers)
        return np.asarray(dual @ self._waves)

    def _bound(self, goal: Goal, rows: np.ndarray, multipliers: np.ndarray, saved: np.ndarray) -> float:
        """The least that any measure costs, by weak duality; the price of the limited mass is the best one."""
        at, side = rows.T
        gain = float(-(side * multipliers) @ self._values[at] - goal.tol * (multipliers @ self._slack[at]))
        most = float(np.abs(saved).max(initial=0.0))
        if math.isfinite(goal.mass_limit):
            return gain - goal.mass_limit * max(0.0, most - goal.mass_price)
        return gain / max(1.0, most / goal.mass_price)

    def _solution(self, goal: Goal, columns: np.ndarray, answer: Answer, bound: float) -> Solution:
        n = len(columns)
        weights = np.zeros(self.radii.size)
        np.add.at(weights, columns[:, 0], columns[:, 1] * answer.variables[:n])
        weights[np.abs(weights) < _ZERO * np.abs(weights).max(initial=0.0)] = 0.0
        excess = max(0.0, float(answer.variables[-1]))
        return Solution(weights, answer.variables[n:-1], goal.tol + excess, excess, bound)

    def _broken(self, solution: Solution, rows: np.ndarray) -> np.ndarray:
        """Constraints of the grid that the solution breaks, the worst of each neighborhood."""
        residual = self._waves @ solution.weights + self._powers @ solution.coefficients - self._values
        order = np.argsort(self._z, kind="stable")
        limit = (1.0 + self._policy.grid_margin) * solution.tol + self._policy.rounding
        at = order[_peaks((np.abs(residual) / self._slack)[order] - limit, self._policy.additions)]
        return _new(np.stack([at, np.sign(residual[at]).astype(np.intp)], axis=1), rows)

    def _wanted(self, goal: Goal, columns: np.ndarray, answer: Answer, saved: np.ndarray) -> np.ndarray:
        """Waves that would lower the cost: they save more than their price."""
        price = goal.mass_price * self._prices + (answer.multipliers[-1] if math.isfinite(goal.mass_limit) else 0.0)
        rounding = _ZERO * float(np.abs(answer.multipliers).sum())
        wave = _peaks(np.abs(saved) - (1.0 + self._policy.wave_margin) * price - rounding, self._policy.additions)
        return _new(np.stack([wave, np.sign(saved[wave]).astype(np.intp)], axis=1), columns)

    def _remember(self, rows: np.ndarray, columns: np.ndarray, answer: Answer) -> None:
        """The next program starts with what matters in this one, and with what all start with."""
        tight = rows[answer.multipliers[: len(rows)] > 0.0]
        self._rows = np.unique(np.concatenate([self._start[0], tight]), axis=0)
        used = columns[answer.variables[: len(columns)] > 0.0]
        self._columns = np.unique(np.concatenate([self._start[1], used]), axis=0)

    def _add_points(self, solution: Solution) -> bool:
        """Points between grid points where the residual exceeds the tolerance by more than the margin; whether there are any."""
        residual, z = self.residual(solution)
        slack = self._slack_at(z)
        limit = (1.0 + self._policy.margin) * solution.tol + self._policy.rounding
        worst = np.sort(_peaks(np.abs(residual) / slack - limit, self._policy.points_per_exchange))
        if not worst.size:
            return False
        first, unit = self._z.size, z[worst] / self._radius
        self._z = np.concatenate([self._z, unit])
        self._waves = np.concatenate([self._waves, omega(self._problem.dim, np.multiply.outer(unit, self.radii))])
        self._values = np.concatenate([self._values, self._function(z[worst]) / self.size])
        self._slack = np.concatenate([self._slack, slack[worst]])
        self._powers = np.concatenate([self._powers, even_powers(unit, self._degree)])
        added = np.stack([first + np.arange(worst.size), np.sign(residual[worst]).astype(np.intp)], axis=1)
        self._rows = np.concatenate([self._rows, added])
        return True

    def residual(self, solution: Solution) -> tuple[np.ndarray, np.ndarray]:
        """What the measure of a solution is above k on a fine grid."""
        z = check_grid(self._radius)
        used = solution.weights != 0.0
        unit = z / self._radius
        tail = omega(self._problem.dim, np.multiply.outer(unit, self.radii[used])) @ solution.weights[used]
        return tail + even_powers(unit, self._degree) @ solution.coefficients - self._function(z) / self.size, z

    def measure(self, solution: Solution, *, radius: float | None = None, certified: bool = True) -> SignedMeasure:
        """The measure of a solution, with its bias up to a radius that may be larger than the program's."""
        used = solution.weights != 0.0
        measure = SignedMeasure.from_atoms(
            *(self._problem.dim, self.radii[used] / self._radius, self.size * solution.weights[used]),
            head=Head.of_unit(self.size * solution.coefficients, self._radius),
            radius=self._radius if radius is None else radius,
            sphere=self._problem.sphere,
        )
        return replace(measure, bias=certified_bias(self._function, measure)) if certified else measure


def _spread(n: int, count: int) -> np.ndarray:
    """About `count` of n indices, evenly, with both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).round().astype(np.intp))


def _both_signs(index: np.ndarray) -> np.ndarray:
    return np.stack([np.tile(index, 2), np.repeat(np.array([1, -1], dtype=np.intp), index.size)], axis=1)


def _new(candidates: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Rows of the one array that are not in the other."""
    known = set(map(tuple, present.tolist()))
    return candidates[[tuple(row) not in known for row in candidates.tolist()]]


def _peaks(height: np.ndarray, most: int) -> np.ndarray:
    """Local maxima above 0, the highest first; of equal neighbors and of equal peaks the first."""
    padded = np.concatenate([[-np.inf], height, [-np.inf]])
    found = np.flatnonzero((height > 0.0) & (height > padded[:-2]) & (height >= padded[2:]))
    return found[np.argsort(-height[found], kind="stable")[:most]]


@final
@dataclass(frozen=True)
class Goal:
    """What a program minimizes, in units of the largest |k|.

    Parameters
    ----------
    tol : float
        ε; tolerance up to this is free.
    mass_price, tol_price : float
        a and b.
    mass_limit : float
        M.
    beyond_use : float
        The search ends as soon as the cost is known to be larger.
    """

    tol: float = 0.0
    mass_price: float = 1.0
    tol_price: float = 1.0
    mass_limit: float = math.inf
    beyond_use: float = math.inf


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum of a program, in units of the largest |k| and of R.

    Parameters
    ----------
    weights : ndarray of shape (n_radii,)
    coefficients : ndarray of shape (degree + 1,)
    tol : float
        Largest residual on the grid, ε + t.
    excess : float
        t.
    bound : float
        No measure costs less than this.
    """

    weights: np.ndarray
    coefficients: np.ndarray
    tol: float
    excess: float
    bound: float

    @property
    def mass(self) -> float:
        """Σ|w_j|."""
        return float(np.abs(self.weights).sum())


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """An optimal point, and its multipliers: not negative, one for each constraint."""

    variables: np.ndarray
    multipliers: np.ndarray


@final
@dataclass
class Work:
    """What a search has cost so far, in counts, and what it may cost: so many linear programs, and its policy."""

    policy: SearchPolicy
    most_programs: int
    programs: int = 0
    pivots: int = 0

    @classmethod
    def of(cls, policy: SearchPolicy, searches: int = 1) -> Work:
        """Nothing done yet, and what a policy allows."""
        return cls(policy, max(1, policy.programs // searches))

    def solve(self, cost: np.ndarray, matrix: np.ndarray, limit: np.ndarray, lowest: np.ndarray) -> Answer | None:
        """Minimize ``cost @ x`` subject to ``matrix @ x <= limit`` and ``x >= lowest``; None if there is no work left.

        Programs here are feasible and bounded by construction, so whatever else the solver says of one is about its
        arithmetic: it gets a second chance with its own tolerances and presolve, then there is no answer.
        """
        if self.programs >= self.most_programs:
            return None
        dual = min(max(_OPTIMAL, _DIGITS * float(np.max(np.abs(cost)))), _LOOSEST)
        strict = {"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": dual}
        bounds = np.stack([lowest, np.full_like(lowest, np.inf)], axis=1)
        # Presolve finds nothing in a dense matrix and takes half the time.
        for chosen in ({"presolve": False, **strict}, {"presolve": True}):
            options: dict[str, float] = {**chosen, "maxiter": self.policy.pivots}
            result = linprog(cost, A_ub=matrix, b_ub=limit, bounds=bounds, method="highs-ds", options=options)
            self.programs += 1
            self.pivots += int(result.nit)
            if result.status == 0 and np.isfinite(result.x).all():
                return Answer(result.x, np.maximum(-result.ineqlin.marginals, 0.0))
        return None
