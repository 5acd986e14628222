"""The variance of the estimates: as predicted, lower with orthogonal directions (Proposition 1 (ii)), lower with shared ones."""

from __future__ import annotations

import numpy as np
import pytest

import krein
from helpers import hoeffding_tolerance
from krein.kernels import NTK, DeltaGaussian, Gaussian, Multiquadric
from krein.measures import SignedMeasure, omega, orthogonal_variance, predicted_error
from krein.sampling import MonteCarlo, Orthogonal, Sampler
from krein.sampling.orthogonal import shared_covariance, sharing_helps

DIM = 8
Z = np.linspace(0.2, 2.0, 6)


def along_an_axis(z: np.ndarray, dim: int = DIM) -> np.ndarray:
    differences = np.zeros((z.size, dim))
    differences[:, 0] = z
    return differences


def batch_errors(
    sampler: Sampler, measure: SignedMeasure, n: int, rng: np.random.Generator, *, batches: int, size: int
) -> np.ndarray:
    """Mean squared error over distances and the replicates of a batch, one for each batch."""
    at, exact = along_an_axis(Z, measure.dim), measure.tail(Z)
    errors = [np.mean((sampler.sample(measure, n, rng).evaluate(at) - exact) ** 2) for _ in range(batches * size)]
    return np.mean(np.reshape(errors, (batches, size)), axis=1)


def test_predicted_error_of_independent_frequencies(rng):
    """One sign: (cos − k)² of 200,000 draws, in [0, 4], against the closed form, by Hoeffding."""
    measure = krein.signed_measure(Gaussian(1.0), DIM, method="closed_form")
    n = 200_000
    drawn = MonteCarlo().sample(measure, n, rng)
    squares = np.stack([(np.cos(drawn.vectors[:, 0] * z) - measure.tail(z)) ** 2 for z in Z])
    predicted = predicted_error(measure, Z, 2 * n) * n
    tol = hoeffding_tolerance([2.0], [n], n_checks=Z.size)  # a range of 4 is that of ±2
    np.testing.assert_allclose(squares.mean(axis=1), predicted, rtol=0, atol=tol)
    assert 2 * tol < 0.2 * predicted.max()


@pytest.mark.parametrize("allocation", ["mass", "equal"])
def test_prediction_for_two_signs(allocation, rng):
    measure = SignedMeasure.from_atoms(DIM, np.array([0.7, 2.0, 3.0]), np.array([-0.5, 0.8, 0.3]))
    predicted = predicted_error(measure, Z, 20, allocation).mean()
    batches = batch_errors(MonteCarlo(allocation=allocation), measure, 10, rng, batches=40, size=30)
    # A batch's mean lies within a third of its expectation nine times in ten, and 24 of 40 do with probability 1 − 1e-6.
    assert np.count_nonzero(np.abs(batches / predicted - 1) < 1 / 3) >= 24


def test_orthogonal_variance_in_the_plane_is_exact():
    """Two orthogonal directions and one radius: the mean over the angle is an integral of a periodic function."""
    r, angle = 1.7, 2 * np.pi * (np.arange(4000) + 0.5) / 4000
    measure = SignedMeasure.from_atoms(2, np.array([r]), np.array([1.3]))
    for z in Z:
        estimate = 1.3 * (np.cos(r * z * np.cos(angle)) + np.cos(r * z * np.sin(angle))) / 2
        expected = np.mean((estimate - 1.3 * omega(2, r * z)) ** 2)
        assert float(orthogonal_variance(measure, z, 2)) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", [4, 8, 24])
def test_orthogonal_variance_against_simulation(n, rng):
    measure = SignedMeasure.from_atoms(DIM, np.array([2.5]), np.array([1.0]))
    predicted = orthogonal_variance(measure, Z, n).mean()
    batches = batch_errors(Orthogonal(), measure, n, rng, batches=40, size=50)
    assert np.count_nonzero(np.abs(batches / predicted - 1) < 1 / 2) >= 24
    if n > 1:  # the covariance of orthogonal directions is seen: without it the prediction is far off
        assert predicted < 0.6 * predicted_error(measure, Z, 2 * n).mean() or n < DIM


def test_orthogonal_variance_bounds_that_of_a_least_mass_measure(rng):
    """The formula is for radii in random order; in ascending order they do better."""
    measure = krein.signed_measure(NTK(), 16, radius=1.4, tol=1e-3, head_degree=-1)
    predicted = orthogonal_variance(measure, Z[Z < 1.4], 64).mean()
    at, exact = along_an_axis(Z[Z < 1.4], 16), measure.tail(Z[Z < 1.4])
    sampler = Orthogonal(share=False)
    errors = [np.mean((sampler.sample(measure, 64, rng).evaluate(at) - exact) ** 2) for _ in range(1000)]
    batches = np.mean(np.reshape(errors, (25, 40)), axis=1)
    assert np.count_nonzero(batches < predicted) >= 20


@pytest.mark.parametrize(
    "measure",
    [
        krein.signed_measure(Gaussian(1.0), DIM, method="closed_form"),
        SignedMeasure.from_atoms(DIM, np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.8, -0.4])),
    ],
    ids=["law", "atoms"],
)
def test_orthogonal_directions_lower_the_error(measure, rng):
    """Proposition 1 (ii), paired: of 60 batches orthogonal wins nearly all, and a method no better would win half.

    With a win in nine of ten, fewer than 42 have probability 1e-6; with a win in two, 42 or more have probability 0.002.
    """
    independent = batch_errors(MonteCarlo(), measure, 32, rng, batches=60, size=30)
    orthogonal = batch_errors(Orthogonal(share=False), measure, 32, rng, batches=60, size=30)
    assert np.count_nonzero(orthogonal < independent) >= 42


OVERLAPPING = {
    "difference": SignedMeasure(
        DIM,
        krein.signed_measure(Gaussian(1.0), DIM, method="closed_form").positive,
        krein.signed_measure(Gaussian(2.0), DIM, method="closed_form").positive,
    ),
    "least mass": krein.signed_measure(Multiquadric(1.0), DIM, radius=2.0, tol=1e-3, head_degree=0),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_shared_directions_lower_the_error_where_predicted(name, rng):
    measure = OVERLAPPING[name]
    assert sharing_helps(measure)
    size = {"difference": 60, "least mass": 150}[name]  # the smaller gain needs the larger batches
    alone = batch_errors(Orthogonal(share=False), measure, 32, rng, batches=40, size=size)
    shared = batch_errors(Orthogonal(share=True), measure, 32, rng, batches=40, size=size)
    assert np.count_nonzero(shared < alone) >= 26


def test_jordan_parts_of_a_difference_share_as_well():
    assert sharing_helps(krein.signed_measure(DeltaGaussian(1.0, 2.0), DIM, method="closed_form"))


def test_sharing_is_chosen_where_it_helps():
    measure = OVERLAPPING["difference"]
    chosen, shared = (Orthogonal(s).sample(measure, 12, np.random.default_rng(1)) for s in ("auto", True))
    np.testing.assert_array_equal(chosen.vectors, shared.vectors)
    one_sign = krein.signed_measure(Gaussian(1.0), DIM, method="closed_form")
    assert not sharing_helps(one_sign)


def test_shared_covariance_is_that_of_cosines():
    """In the plane the mean over directions is a periodic integral."""
    measure = SignedMeasure.from_atoms(2, np.array([1.0, 2.2]), np.array([1.0, -1.0]))
    angle = 2 * np.pi * (np.arange(4000) + 0.5) / 4000
    for z in Z:
        a, b = np.cos(1.0 * z * np.cos(angle)), np.cos(2.2 * z * np.cos(angle))
        expected = np.mean(a * b) - np.mean(a) * np.mean(b)
        assert shared_covariance(measure, np.array([z]))[0] == pytest.approx(expected, abs=1e-12)


def test_sharing_hurts_where_the_covariance_is_negative():
    """A radius at which one wave is at a maximum of its square where the other is at a minimum."""
    pairs = [
        SignedMeasure.from_atoms(2, np.array([4.0, r]), np.array([1.0, -1.0])) for r in np.linspace(0.51, 12.0, 60)
    ]
    covariance = [shared_covariance(pair, np.array([1.0]))[0] for pair in pairs]
    assert min(covariance) < 0 < max(covariance)
