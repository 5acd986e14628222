"""One verdict, one message, whatever the last bits of the kernel's values are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import krein
from krein._core.errors import OutOfReachError
from krein.kernels import NTK, ArcCosine, Kernel, Laplacian, Radial, SphericalPolynomial, ThinPlate
from krein.measures.search import program as solver
from krein.measures.search.least_mass import least_mass
from krein.measures.search.policy import POLICY
from krein.measures.search.program import Problem, Work

NOISE = 1e-15  # relative: the last bits, in which processors differ
REPEATS = 8


def jump(z: np.ndarray) -> np.ndarray:
    return np.where(z < 0.5, 1.0, 0.0)


def kinked(z: np.ndarray) -> np.ndarray:
    return np.abs(z - 0.4)


def perturbed(function: Callable[[np.ndarray], np.ndarray], seed: int) -> Callable[[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    return lambda z: function(z) * (1 + NOISE * rng.standard_normal(np.shape(z)))


def verdict(function: Callable[[np.ndarray], np.ndarray], *arguments) -> tuple[str, float]:
    """The message, or the mass."""
    try:
        dim, radius, *goal = arguments
        return "", least_mass(Problem(function, dim, radius), *goal).mass
    except OutOfReachError as error:
        return str(error), np.inf


CASES = [
    (jump, 16, 1.0, 1e-3, 1),
    (jump, 16, 1.0, 1e-9, 1),
    (jump, 1, 1.0, 1e-2, 1),
    (jump, 3, 1.0, 1e-2, -1),
    (kinked, 16, 1.0, 1e-4, 1),
    (NTK().radial, 16, 2.0, 1e-2, 1),
    (ArcCosine(0).radial, 16, 2.0, 1e-2, 0),
    (NTK().radial, 16, 1.95, 1e-3, 1),
    (NTK().radial, 16, 1.9, 1e-3, 1),
    (NTK().radial, 16, 1.2, 1e-3, -1),
    (Laplacian(1.0).radial, 16, 300.0, 1e-3, 1),
    (Laplacian(1.0).radial, 3, 2**0.5, 1e-3, -1),
    (Laplacian(0.3).radial, 2, 2**0.5, 2e-3, -1),
    (ThinPlate().radial, 16, 1.2, 1e-5, 2),
    (SphericalPolynomial(2, 2).radial, 16, 1.2, 1e-3, 2),
]


@pytest.mark.parametrize(("function", "dim", "radius", "tol", "degree"), CASES)
def test_is_the_same_for_kernels_that_differ_in_their_last_bits(
    function: Callable[[np.ndarray], np.ndarray], dim: int, radius: float, tol: float, degree: int
) -> None:
    message, mass = verdict(function, dim, radius, tol, degree)
    for seed in range(REPEATS):
        again, other = verdict(perturbed(function, seed), dim, radius, tol, degree)
        assert again == message
        if not message:
            # Waves within this margin of their price may or may not be taken.
            assert other == pytest.approx(mass, rel=2 * POLICY.wave_margin, abs=1e-9)


@pytest.mark.parametrize(("tol", "words"), [(1e-3, "tol=0.001 "), (1e-9, "tol=1e-09 ")])
def test_of_a_jump(tol: float, words: str) -> None:
    """On one processor this was infeasible, on another it had a mass of 3e9."""
    with pytest.raises(OutOfReachError, match=rf"^no measure of useful mass comes within {words}.*Use a larger tol"):
        krein.signed_measure(Radial(jump), 16, 1.0, tol=tol)


def test_names_no_number_that_was_computed() -> None:
    messages = {verdict(kernel, 16, 1.0, 1e-3, 1)[0] for kernel in (jump, lambda z: 2.5 * jump(z), lambda z: -jump(z))}
    assert len(messages) == 1


@pytest.mark.parametrize("status", [1, 2, 3, 4])
def test_is_the_same_whatever_the_solver_says(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """A solver that gives up at once, for any reason it knows, is out of reach too, in the same words."""
    expected = verdict(jump, 16, 1.0, 1e-3, 1)[0]
    linprog = solver.linprog

    def gives_up(*args, **kwargs):
        result = linprog(*args, **kwargs)
        result.status, result.x = status, None
        return result

    monkeypatch.setattr(solver, "linprog", gives_up)
    assert verdict(jump, 16, 1.0, 1e-3, 1)[0] == expected != ""


@pytest.mark.parametrize(
    ("kernel", "dim", "radius"),
    [(NTK(), 16, 1.2), (Laplacian(1.0), 3, 2.0), (SphericalPolynomial(2, 3), 6, 1.2)],
    ids=repr,
)
def test_choices_for_a_width_are_the_same(kernel: Kernel, dim: int, radius: float) -> None:
    """Head, tolerance and mass: decided with margins, so the last bits have no say."""
    base = krein.signed_measure(kernel, dim, radius, method="least_mass", n_components=96, head_degree="auto")
    for seed in range(3):
        noisy = Radial(perturbed(kernel.radial, seed), domain=kernel.domain)
        m = krein.signed_measure(noisy, dim, radius, method="least_mass", n_components=96, head_degree="auto")
        assert m.head.degree == base.head.degree
        assert m.mass == pytest.approx(base.mass, rel=0.01)
        assert m.bias == pytest.approx(base.bias, rel=0.05)


def test_a_mass_beyond_the_limit_is_refused() -> None:
    """The least mass within this tolerance is 32: a policy that calls this useless refuses it, 10 % to either side."""
    arguments = Problem(NTK().radial, 16, 1.9), 1e-3
    mass = least_mass(*arguments).mass / float(NTK().radial(0.0))  # in units of the largest |k|
    assert 3.0 < mass < POLICY.mass_limit
    assert least_mass(*arguments, work=Work.of(replace(POLICY, mass_limit=1.1 * mass))).mass < np.inf
    with pytest.raises(OutOfReachError, match="no measure of useful mass"):
        least_mass(*arguments, work=Work.of(replace(POLICY, mass_limit=mass / 1.1)))


def test_masses_that_rise_steeply_take_a_second_program() -> None:
    """A price that buys tolerance says nothing about the mass that meets it: the least tolerance within the limit decides."""
    arguments = Problem(NTK().radial, 16, 1.9), 1e-3
    cautious = replace(POLICY, steepness=0.1)
    work = Work.of(cautious)
    found = least_mass(*arguments, work=work)
    assert found.mass == pytest.approx(least_mass(*arguments).mass, rel=0.05)
    assert found.bias <= 1.2e-3
