"""The restricted programs find the optimum of the whole one, and know a bound on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from krein.kernels import NTK, Kernel, Laplacian, SphericalPolynomial
from krein.measures.search.grids import even_powers, unit_grid
from krein.measures.search.policy import POLICY
from krein.measures.search.program import Goal, Problem, Program, Work


def whole(kernel: Kernel, dim: int, radius: float, degree: int, goal: Goal) -> float:
    """The cost of the program with all constraints and all waves at once, and no ties broken."""
    grid = unit_grid(dim, POLICY.reach, degree < 0, POLICY)
    values = kernel.radial(grid.distances * radius)
    values = values / np.abs(values).max()
    n, ones = grid.radii.size, np.ones((grid.distances.size, 1))
    design = np.concatenate([grid.waves, -grid.waves, even_powers(grid.distances, degree)], axis=1)
    cost = np.concatenate([np.full(2 * n, goal.mass_price), np.zeros(degree + 1), [goal.tol_price]])
    solved = linprog(
        cost,
        A_ub=np.block([[design, -ones], [-design, -ones]]),
        b_ub=np.concatenate([values + goal.tol, goal.tol - values]),
        bounds=[(0.0, None)] * (2 * n) + [(None, None)] * (degree + 1) + [(0.0, None)],
        method="highs",
    )
    assert solved.status == 0
    return float(solved.fun)


@pytest.mark.parametrize(
    ("kernel", "dim", "degree"),
    [(NTK(), 16, 1), (SphericalPolynomial(2, 3), 6, -1), (Laplacian(1.0), 16, 0), (NTK(), 123, 2)],
    ids=repr,
)
@pytest.mark.parametrize(
    "goal", [Goal(1e-2, tol_price=150 / 1e-2), Goal(mass_price=0.05), Goal(1e-3, tol_price=10.0)], ids=str
)
def test_few_constraints_and_waves_are_enough(kernel: Kernel, dim: int, degree: int, goal: Goal) -> None:
    program = Program(Problem(kernel.radial, dim, 1.2), degree, POLICY.reach, Work.of(POLICY))
    solved = program.solve(goal)
    assert solved is not None
    cost = goal.mass_price * solved.mass + goal.tol_price * solved.excess
    expected = whole(kernel, dim, 1.2, degree, goal)
    # Ties cost up to 0.1 %, waves left out 0.2 %, and tolerances met within 2 % may save as much of a cost that is convex in them.
    assert cost <= 1.01 * expected + 1e-9
    assert cost >= 0.95 * expected - 1e-9
    assert solved.bound <= cost * (1 + 1e-6) + 1e-9
    assert solved.bound <= expected * 1.01 + 1e-9
    assert solved.bound >= 0.94 * expected - 1e-9


def test_the_least_tolerance_within_a_mass() -> None:
    """With the mass limited, the tolerance rises as the limit falls, and the limit is kept."""
    excesses = []
    for limit in (0.05, 0.1, 0.2):
        program = Program(Problem(NTK().radial, 16, 1.2), 1, POLICY.reach, Work.of(POLICY))
        solved = program.solve(Goal(1e-4, mass_price=0.0, mass_limit=limit))
        assert solved is not None
        assert solved.mass <= limit * (1 + 1e-9)
        assert solved.bound <= solved.excess * (1 + 1e-6)
        excesses.append(solved.excess)
    assert excesses == sorted(excesses, reverse=True)
    assert excesses[0] > 1.5 * excesses[-1]


def test_the_head_alone_is_exact_where_it_can_be() -> None:
    program = Program(Problem(SphericalPolynomial(2, 2).radial, 16, 2.0, sphere=True), 2, POLICY.reach, Work.of(POLICY))
    head = program.head_alone()
    assert head.mass == 0.0
    assert head.tol < POLICY.exact
    measure = program.measure(head)
    np.testing.assert_allclose(measure.head.coefficients, (1.0, -0.5, 0.0625), atol=1e-13)
