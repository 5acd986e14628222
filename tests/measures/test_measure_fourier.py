"""Algorithm 1 with the Jacobian: closed form, Hankel quadrature, and where it refuses."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate

import krein
from krein.kernels import (
    NTK,
    ArcCosine,
    Gaussian,
    Kernel,
    Laplacian,
    Multiquadric,
    Radial,
    Sigmoid,
    SphericalPolynomial,
)
from krein.measures.fourier_transform import hankel_density


def by_mpmath(kernel: SphericalPolynomial, r: float, dim: int) -> float:
    """MATH §1's integral, digit by digit."""
    with mp.workdps(30):
        half, a = mp.mpf(dim) / 2, mp.mpf(kernel.a)
        edges = [2 * mp.mpf(i) / 12 for i in range(13)]
        integral = mp.quad(
            lambda z: (1 - z**2 / a**2) ** kernel.p * z**half * mp.besselj(half - 1, mp.mpf(r) * z), edges
        )
        return float(2 ** (1 - half) / mp.gamma(half) * mp.mpf(r) ** half * integral)


@pytest.mark.parametrize(
    ("a", "p", "dim"), [(2, 2, 1), (2, 2, 3), (2.5, 3, 2), (2, 1, 16), (3, 4, 7), (2, 9, 16), (2, 30, 54)]
)
def test_closed_form_of_the_spherical_polynomial(a: float, p: int, dim: int) -> None:
    kernel = SphericalPolynomial(a, p)
    r = np.array([0.05, 0.9, 3.3, 7.0, 14.5])
    got = kernel.fourier_density(r, dim)
    expected = np.array([by_mpmath(kernel, float(v), dim) for v in r])
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 16, 784])
def test_the_printed_case_is_one_bessel_function(dim: int) -> None:
    """MATH §2.1: ρ(r) = 2·p!/Γ(d/2) r^{d/2−p−1} J_{d/2+p}(2r) for a = 2."""
    p = dim // 2 + 2
    r = np.array([0.3, 1.0, 4.0]) * max(1.0, dim / 8)
    for value, got in zip(r, SphericalPolynomial(2, p).fourier_density(r, dim), strict=True):
        with mp.workdps(30):
            half, big = mp.mpf(dim) / 2, mp.mpf(float(value))
            exact = 2 * mp.factorial(p) / mp.gamma(half) * big ** (half - p - 1) * mp.besselj(half + p, 2 * big)
        assert got == pytest.approx(float(exact), rel=1e-9, abs=1e-280)


@pytest.mark.parametrize(("a", "p"), [(2, 1), (2, 2), (2, 5), (2, 9), (2.5, 3), (4, 2)])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 8, 16])
def test_hankel_quadrature_is_the_closed_form(a: float, p: int, dim: int) -> None:
    kernel = SphericalPolynomial(a, p)
    r = np.concatenate([np.linspace(0.01, 25.0, 300), [40.0, 80.0] if dim <= 8 else []])
    closed = kernel.fourier_density(r, dim)
    quadrature = hankel_density(kernel.radial, r, dim, 2.0)
    np.testing.assert_allclose(quadrature, closed, rtol=0, atol=1e-8 * np.abs(closed).max())


def test_hankel_of_a_gaussian_is_the_chi_density() -> None:
    for dim in (1, 2, 3, 4, 7, 10):
        r = np.linspace(0.0, 6.0, 50)
        expected = Gaussian(1.0).radius_law(dim).pdf(r)
        np.testing.assert_allclose(hankel_density(Gaussian(1.0).radial, r, dim, 12.0), expected, atol=1e-9)


def test_hankel_gives_zero_rather_than_noise() -> None:
    """In high dimension the integral cancels beyond double precision; what is left must not pass for a density."""
    r = np.linspace(10.0, 60.0, 60)
    true = Gaussian(1.0).radius_law(16).pdf(r)
    got = hankel_density(Gaussian(1.0).radial, r, 16, 9.0)
    assert np.abs(got - true).max() < 1e-3
    assert (got[r > 20] == 0.0).all()


class TestTruncated:
    def test_the_papers_setting(self) -> None:
        """letter: d = 16, p = 2, cut at r = 10: mass 18 (MATH §2.1)."""
        m = krein.signed_measure(SphericalPolynomial(2, 2), 16, method="fourier", truncate=10.0)
        assert m.mass == pytest.approx(18.0, abs=0.05)
        assert m.bias > 0.3
        assert "truncated at r = 10 as asked" in m.note
        z = np.random.default_rng(1).uniform(0, 2, 500)
        assert np.abs(m.evaluate(z) - SphericalPolynomial(2, 2).radial(z)).max() <= m.bias

    def test_mass_is_the_integral_up_to_the_cut(self) -> None:
        kernel = SphericalPolynomial(2, 2)
        r = np.linspace(0, 10, 400_001)
        rho = kernel.fourier_density(r, 16)
        exact = float(integrate.trapezoid(np.abs(rho), r))
        m = krein.signed_measure(kernel, 16, method="fourier", truncate=10.0)
        assert m.mass == pytest.approx(exact, rel=1e-6)
        assert float(m.positive.ppf(1.0)) <= 10.0
        assert float(m.negative.ppf(1.0)) <= 10.0

    @pytest.mark.parametrize(
        "kernel", [NTK(), ArcCosine(0), Sigmoid(), Radial(lambda z: 1 - z / 2, domain="sphere")], ids=repr
    )
    def test_any_sphere_kernel_with_its_bias(self, kernel: Kernel) -> None:
        m = krein.signed_measure(kernel, 5, method="fourier", truncate=12.0, radius=1.3)
        z = np.random.default_rng(2).uniform(0, 1.3, 300)
        error = np.abs(m.evaluate(z) - kernel.radial(z)).max()
        assert error <= m.bias <= 1.2 * error  # a bound that a measure of zeros would pass says nothing
        assert m.radius == 1.3

    @pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan, "10", True])
    def test_bad_cut(self, bad) -> None:
        with pytest.raises((ValueError, TypeError), match="truncate must be"):
            krein.signed_measure(SphericalPolynomial(2, 2), 4, method="fourier", truncate=bad)

    def test_needs_the_method(self) -> None:
        with pytest.raises(ValueError, match="goes with method='fourier' only"):
            krein.signed_measure(SphericalPolynomial(2, 2), 4, truncate=10.0)


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (SphericalPolynomial(2, 2), 2),
        (SphericalPolynomial(2, 3), 3),
        (SphericalPolynomial(2, 7), 11),
        (ArcCosine(1), 2),
        (SphericalPolynomial(2, 2) - 0.5 * SphericalPolynomial(2, 4), 3),
        (Radial(lambda z: np.maximum(0.0, 1.0 - z) ** 3), 2),
        (Radial(lambda z: np.exp(-(z**4))), 3),
    ],
    ids=repr,
)
def test_finite_measures_give_the_kernel_back(kernel: Kernel, dim: int) -> None:
    m = krein.signed_measure(kernel, dim, method="fourier")
    z = np.random.default_rng(3).uniform(0.0, min(m.radius, 2.0), 400)
    error = np.abs(m.evaluate(z) - kernel.radial(z)).max()
    assert error <= m.bias
    assert m.bias < 0.03
    assert m.decomposition == "jordan"
    assert m.positive.mass - m.negative.mass == pytest.approx(float(kernel.radial(0.0)), abs=0.03)


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        *((SphericalPolynomial(2, 2), d) for d in (5, 16, 784)),
        (SphericalPolynomial(2.01, 9), 2),
        (NTK(), 2),
        (NTK(2), 1),
        (ArcCosine(0), 16),
        (ArcCosine(1), 4),
        (Sigmoid(), 3),
        (Radial(lambda z: np.maximum(0.0, 1.0 - z)), 3),
    ],
    ids=repr,
)
def test_refuses_where_the_mass_is_infinite(kernel: Kernel, dim: int) -> None:
    with pytest.raises(ValueError, match=r"infinite mass.*\(d-1\)/2.*method='least_mass'.*truncate=r_max"):
        krein.signed_measure(kernel, dim, method="fourier")


def test_refuses_a_cut_made_by_the_radius() -> None:
    with pytest.raises(ValueError, match=r"extended by zero beyond z = 1\.5.*infinite mass"):
        krein.signed_measure(Gaussian(1.0), 3, radius=1.5, method="fourier")


def test_refuses_what_does_not_decay() -> None:
    with pytest.raises(ValueError, match=r"does not decay.*give radius=.*least_mass"):
        krein.signed_measure(Multiquadric(), 3, method="fourier")


def test_refuses_where_the_digits_are_lost() -> None:
    """exp(−z⁴) is smooth, so its mass is finite in every dimension, but double precision cannot compute it in 60."""
    with pytest.raises(ValueError, match=r"lost its digits to cancellation in dimension 60.*least_mass"):
        krein.signed_measure(Radial(lambda z: np.exp(-(z**4))), 60, method="fourier")


def test_a_laplacian_cut_where_it_has_vanished() -> None:
    m = krein.signed_measure(Radial(Laplacian(0.05).radial), 2, method="fourier")
    z = np.linspace(0, 1, 50)
    error = np.abs(m.evaluate(z) - Laplacian(0.05).radial(z)).max()
    assert error <= m.bias < 0.1, "the tail of the kink at 0 is cut, nothing else"
