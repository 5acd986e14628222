"""Proposition 1 with its constants right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import krein
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian
from krein.measures import SignedMeasure

MEASURES = {
    "gaussian": krein.signed_measure(Gaussian(1.0), 3),
    "delta-gaussian": krein.signed_measure(DeltaGaussian(1.0, 10.0), 16),
    "ntk": krein.signed_measure(NTK(), 16, 1.2, tol=1e-3),
    "one dimension": krein.signed_measure(Gaussian(2.0), 1),
}


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(MEASURES)),
    epsilon=st.floats(0.01, 0.5),
    delta=st.floats(1e-6, 0.9),
    radius=st.floats(0.1, 1.2),
)
def test_the_two_questions_are_inverse(name: str, epsilon: float, delta: float, radius: float) -> None:
    m = MEASURES[name]
    n = krein.components_for_error(m, radius, epsilon, delta)
    assert krein.uniform_error_bound(m, radius, n, epsilon) <= delta * (1 + 1e-9)
    least = m.head_columns() + 2
    if n > least:
        assert krein.uniform_error_bound(m, radius, n - 2, epsilon) > delta * (1 - 1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_monotone(name: str) -> None:
    m = MEASURES[name]
    at = [krein.uniform_error_bound(m, 1.0, n, 0.1) for n in (100, 10_000, 100_000, 1_000_000)]
    assert at == sorted(at, reverse=True)
    assert all(0.0 <= p <= 1.0 for p in at)
    in_epsilon = [krein.uniform_error_bound(m, 1.0, 200_000, e) for e in (0.01, 0.03, 0.1, 0.3)]
    assert in_epsilon == sorted(in_epsilon, reverse=True)
    in_radius = [krein.components_for_error(m, r, 0.1) for r in (0.2, 0.6, 1.2)]
    assert in_radius == sorted(in_radius)
    in_delta = [krein.components_for_error(m, 1.0, 0.1, d) for d in (0.5, 0.1, 1e-3)]
    assert in_delta == sorted(in_delta)


def test_the_formula_by_hand() -> None:
    """Sutherland and Schneider's Proposition 1 for a unit mass, with 2σ for σ: D = 2s columns, σ² = E‖ω‖², ℓ the diameter."""
    m, d, n, eps, diameter = MEASURES["gaussian"], 3, 4000, 0.2, 1.5
    beta = ((d / 2) ** (-d / (d + 2)) + (d / 2) ** (2 / (d + 2))) * 2 ** ((6 * d + 2) / (d + 2))
    by_hand = beta * (2 * math.sqrt(3.0) * diameter / eps) ** (2 / (1 + 2 / d)) * math.exp(-n * eps**2 / (8 * (d + 2)))
    assert krein.uniform_error_bound(m, diameter, n, eps) == pytest.approx(min(1.0, by_hand), rel=1e-12)


def test_the_constant_is_at_most_the_one_printed() -> None:
    for d in (1, 2, 3, 10, 100, 10_000):
        beta = ((d / 2) ** (-d / (d + 2)) + (d / 2) ** (2 / (d + 2))) * 2 ** ((6 * d + 2) / (d + 2))
        assert beta <= 66


def test_mass_counts() -> None:
    """Twice the kernel at twice the error is the same question."""
    kernel = DeltaGaussian(1.0, 10.0)
    m, twice, thrice = (krein.signed_measure(c * kernel, 16) for c in (1, 2, -3))
    assert krein.uniform_error_bound(twice, 1.0, 10**6, 0.2) == pytest.approx(
        krein.uniform_error_bound(m, 1.0, 10**6, 0.1)
    )
    assert krein.components_for_error(thrice, 1.0, 0.3) == krein.components_for_error(m, 1.0, 0.1)


def test_the_simulated_error_stays_below() -> None:
    """sup over a fine grid of differences, 40 maps: with the bound at 5 %, more than 8 failures have probability 2e-4."""
    m = MEASURES["one dimension"]
    rng = np.random.default_rng(3)
    epsilon, radius = 0.25, 1.2
    n = krein.components_for_error(m, radius, epsilon, 0.05)
    z = np.linspace(0.0, radius, 200)
    failures = 0
    for _ in range(40):
        omega = m.positive.ppf(rng.random(n // 2))
        estimate = np.cos(np.multiply.outer(z, omega)).mean(axis=1)
        failures += int(np.abs(estimate - m.evaluate(z)).max() > epsilon)
    assert failures <= 8


def test_bias_counts_against_the_error() -> None:
    m = MEASURES["ntk"]
    assert krein.uniform_error_bound(m, 1.0, 10**7, m.bias) == 1.0
    assert krein.uniform_error_bound(m, 1.0, 10**7, 0.5 * m.bias) == 1.0
    with pytest.raises(ValueError, match=r"not above the measure's bias .* smaller tol"):
        krein.components_for_error(m, 1.0, 0.9 * m.bias)
    biased = SignedMeasure.jordan(3, MEASURES["gaussian"].positive, MEASURES["gaussian"].negative, bias=0.1)
    assert krein.components_for_error(biased, 1.0, 0.2) == krein.components_for_error(MEASURES["gaussian"], 1.0, 0.1)


def test_no_mass_no_error() -> None:
    nothing = SignedMeasure(5)
    assert krein.uniform_error_bound(nothing, 1.0, 2, 0.1) == 0.0
    assert krein.components_for_error(nothing, 1.0, 0.1) >= 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: krein.uniform_error_bound(m, 0.0, 100, 0.1), ValueError, "radius must be positive"),
        (lambda m: krein.uniform_error_bound(m, 1.0, 100, 0.0), ValueError, "epsilon must be positive"),
        (lambda m: krein.uniform_error_bound(m, 1.0, 100, np.nan), ValueError, "epsilon must be finite"),
        (lambda m: krein.uniform_error_bound(m, 1.0, 1.5, 0.1), TypeError, "n_components must be an integer"),
        (lambda m: krein.uniform_error_bound(m, 1.3, 100, 0.1), ValueError, r"beyond the distances.*larger radius"),
        (lambda m: krein.components_for_error(m, 1.0, 0.1, 0.0), ValueError, "delta must be positive"),
        (lambda m: krein.components_for_error(m, 1.0, 0.1, 1.0), ValueError, "delta must be a probability"),
        (lambda m: krein.components_for_error(m, 1.0, "0.1"), TypeError, "epsilon must be a real number"),
    ],
)
def test_bad_input(call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(MEASURES["ntk"])


def test_heavy_tails_have_no_bound() -> None:
    with pytest.raises(ValueError, match=r"finite second moment.*method='least_mass'"):
        krein.components_for_error(krein.signed_measure(Laplacian(1.0), 3), 1.0, 0.1)


def test_absurd_errors():
    m = MEASURES["gaussian"]
    assert krein.components_for_error(m, 1.0, 1e308) == 2
    assert krein.uniform_error_bound(m, 1.0, 64, 1e308) == 0.0
    with pytest.raises(ValueError, match="use a larger epsilon"):
        krein.components_for_error(m, 1.0, 1e-300)
