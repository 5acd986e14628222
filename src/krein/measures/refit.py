"""Measures for weights that will be refitted to the data: known before the data are, and remembered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from krein.kernels import Kernel
from krein.measures.polynomial_head import Head, head_columns
from krein.measures.search.grids import certified_bias, check_grid, even_powers
from krein.measures.search.least_mass import goal_within, meets
from krein.measures.search.policy import COARSE, POLICY, SearchPolicy
from krein.measures.search.program import Function, Goal, Program, Work
from krein.measures.signed import SignedMeasure

__all__ = ["ToRefit", "least_mass_to_refit", "measure_to_refit"]


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
    values = kernel.radial(check_grid(radius))
    for degree in choices:
        exact = _exact_head(kernel, dim, radius, degree, values, sphere) if columns[degree] <= n_components else None
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
    return ToRefit(_answer(_Question(dim, radius, degree, sphere, fineness, values.tobytes(), kernel.radial)), False)


def _exact_head(
    kernel: Kernel, dim: int, radius: float, degree: int, values: np.ndarray, sphere: bool
) -> SignedMeasure | None:
    """The head alone if it is the kernel up to rounding, by least squares on the distances `values` were taken at."""
    powers = even_powers(check_grid(radius) / radius, degree)
    coefficients, *_ = np.linalg.lstsq(powers, values, rcond=None)
    left = float(np.max(np.abs(powers @ coefficients - values)))
    if not left <= POLICY.exact * float(np.max(np.abs(values))):
        return None
    head = Head.of_unit(coefficients, radius)
    bias, _, _ = certified_bias(kernel.radial, dim, radius, head, np.empty(0), np.empty(0))
    return SignedMeasure(dim, head=head, bias=bias, radius=radius, sphere=sphere, decomposition="jordan")


@dataclass(frozen=True)
class _Question:
    """What a measure depends on; the kernel by its values, so that a function that changed is not mistaken for what it was."""

    dim: int
    radius: float
    degree: int
    sphere: bool
    fineness: int
    values: bytes
    function: Function = field(compare=False)


@lru_cache(maxsize=128)  # of some kilobytes each
def _answer(asked: _Question) -> SignedMeasure:
    rest = POLICY.refit_rest * 0.5**asked.fineness
    return least_mass_to_refit(asked.function, asked.dim, asked.radius, asked.degree, rest, sphere=asked.sphere)


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
