"""The error predicted before anything is drawn, against loops and against drawing."""

from __future__ import annotations

import numpy as np
import pytest

import krein
from helpers import bernstein_tolerance
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian
from krein.measures import (
    Atoms,
    Head,
    Outlook,
    SignedMeasure,
    frequencies_for_width,
    omega,
    orthogonal_variance,
    predicted_error,
)
from krein.sampling import allocate

DIM = 6
ATOMS = SignedMeasure.from_atoms(
    DIM, np.array([0.7, 2.0, 5.0]), np.array([1.0, -0.6, 0.3]), head=Head((0.4, -0.1)), radius=2.0, sphere=True
)
Z = np.array([0.0, 0.3, 1.0, 1.9])


def test_loops() -> None:
    """Σ± (M±/s±)[Σ w_j (1 + Ω_d(2 r_j z))/2 − τ±(z)²/M±], one number after the other; 25 frequencies are 17 and 8."""
    n_components = 7 + 2 * 25
    for z, got in zip(Z, predicted_error(ATOMS, Z, n_components), strict=True):
        total = 0.0
        for atoms, count in (([(0.7, 1.0), (5.0, 0.3)], 17), ([(2.0, 0.6)], 8)):
            mass, second, tau = 0.0, 0.0, 0.0
            for r, w in atoms:
                mass += w
                second += w * (1 + float(omega(DIM, 2 * r * z))) / 2
                tau += w * float(omega(DIM, r * z))
            total += mass / count * (second - tau**2 / mass)
        assert got == pytest.approx(total, rel=1e-12)


def test_the_numbers_of_a_difference_of_gaussians() -> None:
    """Two signs cancel at z = 0 in every draw, as their numbers are fixed; random numbers would leave .236 there."""
    m = krein.signed_measure(DeltaGaussian(1.0, 2.0), 16)
    z = np.array([0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(np.sqrt(predicted_error(m, z, 128)), [0.0, 0.0274, 0.0797, 0.1371], atol=1e-4)
    random_numbers = (m.mass * (m.mass + m.majorant(2 * z)) / 2 - m.tail(z) ** 2) / 64
    np.testing.assert_allclose(np.sqrt(random_numbers), [0.236, 0.220, 0.192, 0.162], atol=5e-4)


def test_equal_allocation_may_be_worse_than_random_numbers() -> None:
    m = krein.signed_measure(2 * Gaussian(1.0) - 0.2 * Gaussian(3.0), 16)
    z = np.array([2.5])
    random_numbers = float((m.mass * (m.mass + m.majorant(2 * z)) / 2 - m.tail(z) ** 2)[0]) / 64
    assert predicted_error(m, z, 128, "mass")[0] < random_numbers < predicted_error(m, z, 128, "equal")[0]


@pytest.mark.parametrize("allocation", ["mass", "equal"])
@pytest.mark.parametrize(
    "measure",
    [
        ATOMS,
        krein.signed_measure(DeltaGaussian(1.0, 2.0), DIM),
        krein.signed_measure(2 * Gaussian(1.0) - Laplacian(1.0), DIM),
        krein.signed_measure(-Gaussian(0.5), DIM),
    ],
    ids=["atoms", "delta-gaussian", "heavy tail", "negative"],
)
def test_drawing(measure: SignedMeasure, allocation: str, rng: np.random.Generator) -> None:
    """The variance of what the sampler draws, from the variance of its terms: 100,000 of each sign."""
    n, counts = 100_000, allocate(measure, 32, allocation)
    parts = [p for p in (measure.positive, measure.negative) if p.mass > 0]
    for z in (0.2, 0.9, 2.5):
        total = tol = 0.0
        for part, count in zip(parts, [c for c in counts if c], strict=True):
            cosines = np.cos(part.ppf(rng.random(n)) * directions(rng, n, DIM)[:, 0] * z)
            squares = part.mass**2 / count * (cosines - float(part.evaluate(z, DIM)) / part.mass) ** 2
            total += squares.mean()
            tol += bernstein_tolerance(float(squares.var()) * 1.1, 4 * part.mass**2 / count, n, n_checks=24)
        predicted = float(predicted_error(measure, z, measure.head_columns() + 64, allocation))
        assert total == pytest.approx(predicted, abs=tol)
        assert tol < 0.1 * measure.mass**2 / 32  # a forgotten factor would be seen


def directions(rng: np.random.Generator, n: int, dim: int) -> np.ndarray:
    direction = rng.standard_normal((n, dim))
    return direction / np.linalg.norm(direction, axis=1, keepdims=True)


def test_it_falls_with_the_number_of_frequencies_and_vanishes_at_zero_for_one_sign() -> None:
    m = krein.signed_measure(Gaussian(1.0), DIM)
    errors = predicted_error(m, Z, 200)
    assert errors[0] == pytest.approx(0.0, abs=1e-15)  # every term is cos 0
    np.testing.assert_allclose(predicted_error(m, Z, 400), errors / 2, atol=1e-18)
    assert (predicted_error(ATOMS, Z[1:], 100) > 0).all()
    with pytest.raises(ValueError, match="two signs needs at least two"):
        predicted_error(ATOMS, Z, 9)
    assert Outlook.of(NTK().radial, 1.2).error(ATOMS, 1) == np.inf
    assert predicted_error(m, np.ones((2, 3)), 10).shape == (2, 3)


def test_the_head_costs_columns_but_no_variance() -> None:
    bare = SignedMeasure.jordan(DIM, ATOMS.positive, ATOMS.negative)
    np.testing.assert_allclose(predicted_error(ATOMS, Z, 57), predicted_error(bare, Z, 50))
    only_head = SignedMeasure(DIM, head=Head((1.0, 2.0)), sphere=True)
    np.testing.assert_array_equal(predicted_error(only_head, Z, 7), np.zeros(4))


def test_width() -> None:
    assert frequencies_for_width(ATOMS, 9) == 1
    assert frequencies_for_width(ATOMS, 10) == 1
    assert frequencies_for_width(ATOMS, 107) == 50
    with pytest.raises(ValueError, match=r"at least 9: 7 columns for the head and two for a frequency, got 8; use 9"):
        frequencies_for_width(ATOMS, 8)
    with pytest.raises(ValueError, match="n_components must be at least"):
        predicted_error(ATOMS, Z, 0)
    for bad in (10.0, "10", None, True):
        with pytest.raises(TypeError, match="n_components must be an integer"):
            predicted_error(ATOMS, Z, bad)


def orthogonal_directions(rng: np.random.Generator, blocks: int, dim: int) -> np.ndarray:
    """Haar orthogonal matrices, by QR with the signs of R's diagonal."""
    q, r = np.linalg.qr(rng.standard_normal((blocks, dim, dim)))
    return q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]


def test_variance_of_orthogonal_blocks(rng: np.random.Generator) -> None:
    """One block of d orthogonal directions with stratified radii (here: d radii given in the measure's proportions)."""
    dim = 4
    m = SignedMeasure.from_atoms(dim, np.array([1.0, 3.0]), np.array([1.5, -0.5]))
    radii, signs = np.array([1.0, 1.0, 1.0, 3.0]), np.array([1.0, 1.0, 1.0, -1.0])
    replicates = 60_000
    q = orthogonal_directions(rng, replicates, dim)
    order = rng.permuted(np.tile(np.arange(dim), (replicates, 1)), axis=1)
    for z in (0.4, 1.3):
        first = q[:, 0, :]  # ω·Δ for Δ = z e₁: the first coordinate of each direction
        estimate = (m.mass / dim) * np.sum(signs[order] * np.cos(z * radii[order] * first), axis=1)
        squares = (estimate - float(m.tail(z))) ** 2
        tol = bernstein_tolerance(float(squares.var()) * 1.1, 16.0, replicates, n_checks=2)
        predicted = float(orthogonal_variance(m, z, dim))
        # Radii are fixed per block, so pairs of equal radii are one fewer than the formula's independent pairs.
        single = omega(dim, z * radii)
        pairs = omega(dim, z * np.hypot.outer(radii, radii)) - np.multiply.outer(single, single)
        np.fill_diagonal(pairs, (1 + omega(dim, 2 * z * radii)) / 2 - single**2)
        exact = (m.mass / dim) ** 2 * float(signs @ pairs @ signs)
        assert squares.mean() == pytest.approx(exact, abs=tol)
        assert predicted == pytest.approx(exact, rel=0.35)  # the formula takes pairs of radii as independent
        alone = (m.mass / dim) ** 2 * float(np.trace(pairs))
        assert float(predicted_error(m, z, 2 * dim)) == pytest.approx(alone, rel=1e-12)  # without the pairs


def test_orthogonal_variance_needs_atoms() -> None:
    with pytest.raises(TypeError, match="measures of atoms only"):
        orthogonal_variance(krein.signed_measure(Gaussian(1.0), DIM), Z, 10)
    np.testing.assert_array_equal(orthogonal_variance(SignedMeasure(DIM), Z, 10), np.zeros(4))


def test_outlook_adds_the_squared_bias() -> None:
    m = krein.signed_measure(NTK(), 16, 1.2, tol=1e-2)
    z = np.linspace(0, 1.2, 30)
    outlook = Outlook.of(NTK().radial, 1.2, z)
    by_hand = np.mean(predicted_error(m, z, m.head_columns() + 64) + (m.evaluate(z) - NTK().radial(z)) ** 2)
    assert outlook.error(m, 32) == pytest.approx(float(by_hand), rel=1e-12)
    assert isinstance(m.positive, Atoms)
    assert Outlook.of(NTK().radial, 1.2, orthogonal=True).error(m, 32) < outlook.error(m, 32) * 1.5


@pytest.mark.parametrize("measure", [None, 3, "x", [1.0]])
def test_what_is_no_measure(measure) -> None:
    for call in (
        lambda: krein.predicted_error(measure, 1.0, 8),
        lambda: krein.uniform_error_bound(measure, 1.0, 8, 0.1),
        lambda: krein.components_for_error(measure, 1.0, 0.1),
    ):
        with pytest.raises(TypeError, match="measure must be a SignedMeasure"):
            call()


@pytest.mark.parametrize("z", ["x", None, -1.0, [0.0, float("nan")]])
def test_what_is_no_distance(z) -> None:
    measure = krein.signed_measure(krein.kernels.Gaussian(), 3, radius=2.0)
    with pytest.raises((TypeError, ValueError), match=r"z must be (distances|an array)"):
        krein.predicted_error(measure, z, 64)
