"""The whole search is bounded by counts: of linear programs, of pivots, of steps."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

import krein
from krein._core.errors import OutOfReachError
from krein.kernels import NTK, Kernel, Laplacian, Radial
from krein.measures import Outlook
from krein.measures.search import program as solver
from krein.measures.search.least_mass import least_mass, least_mass_for_width, least_mass_to_refit
from krein.measures.search.policy import COARSE, POLICY
from krein.measures.search.program import Problem, Work


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pivots of each linear program that is solved."""
    linprog, seen = solver.linprog, []

    def counted(*args, **kwargs):
        result = linprog(*args, **kwargs)
        seen.append(int(result.nit))
        assert "time_limit" not in kwargs["options"]
        return result

    monkeypatch.setattr(solver, "linprog", counted)
    return seen


# These took 17.7 s, 17 s and 62.7 s: some hundred programs of up to a thousand constraints each.
@pytest.mark.parametrize(
    ("estimator", "shape"),
    [
        (krein.SignedFourierFeatures(random_state=0), (8, 1)),
        (krein.SignedFourierFeatures(random_state=0), (16, 1)),
        (krein.SignedFourierFeatures(kernel=NTK(5), random_state=0), (20, 1)),
        (krein.SignedFourierFeatures(random_state=0), (900, 3)),
    ],
    ids=str,
)
def test_small_fits(estimator: krein.SignedFourierFeatures, shape: tuple[int, int], programs: list[int]) -> None:
    estimator.fit(np.random.default_rng(0).normal(size=shape))
    assert len(programs) <= 120
    assert sum(programs) <= 20_000


@pytest.mark.parametrize(
    ("kernel", "dim", "tol"),
    [
        (Laplacian(1.0), 3, 1e-3),
        (NTK(5), 1, 6e-3),
        (NTK(5), 1, 1e-3),
        (Radial(lambda z: np.where(z < 0.5, 1.0, 0.0)), 1, 1e-3),
    ],
    ids=repr,
)
def test_one_tolerance(kernel: Kernel, dim: int, tol: float, programs: list[int]) -> None:
    work = Work.of(POLICY)
    with suppress(OutOfReachError):
        least_mass(Problem(kernel.radial, dim, 2**0.5), tol, work=work)
    assert work.programs == len(programs) <= 80
    assert work.pivots == sum(programs) <= 30_000


@pytest.mark.parametrize("most", [1, 3, 10])
def test_the_bound_on_the_programs_holds(most: int, programs: list[int]) -> None:
    """With hardly any programs there still is an answer, with its bias: the head alone if need be."""
    policy = replace(POLICY, programs=most)
    kernel, z = Laplacian(1.0), np.linspace(0.0, 2.0, 301)
    outlook = Outlook.of(kernel.radial, 2.0)
    m = least_mass_for_width(Problem(kernel.radial, 3, 2.0), 200, 1, outlook, Work.of(policy))
    assert len(programs) <= most + 1  # a program gets a second chance
    assert np.abs(m.evaluate(z) - kernel.radial(z)).max() <= m.bias
    programs.clear()
    m = least_mass_to_refit(Problem(kernel.radial, 3, 2.0), 1, 0.01, Work.of(replace(COARSE, programs=most)))
    assert len(programs) <= most + 1
    assert np.abs(m.evaluate(z) - kernel.radial(z)).max() <= m.bias


def test_heads_share_the_programs(programs: list[int]) -> None:
    krein.signed_measure(Laplacian(1.0), 3, 4.0, method="least_mass", head_degree="auto", n_components=100)
    assert len(programs) <= POLICY.programs


def test_work_counts() -> None:
    work = Work.of(POLICY, 4)
    assert (work.most_programs, work.policy) == (POLICY.programs // 4, POLICY)
    work.programs = work.most_programs
    one = np.ones(1)
    assert work.solve(one, one[None], one, 0 * one) is None
    work.programs -= 1
    assert work.solve(-one, one[None], one, 0 * one).variables == pytest.approx(1.0)


def test_reach_grows_as_tolerances_fall() -> None:
    reaches = [POLICY.reach_at(tol) for tol in (1.0, 1e-2, 1e-3, 1e-4, 1e-9)]
    assert reaches == sorted(reaches)
    assert reaches[0] == reaches[1] == POLICY.reach
    assert reaches[-1] == POLICY.most_reach
    assert POLICY.reach_at(1e-3) == POLICY.reach_at(1e-3 * (1 + 1e-12))
    assert POLICY.reach_at(1e308) == POLICY.reach_at(float("inf")) == POLICY.reach_at(1.0)
