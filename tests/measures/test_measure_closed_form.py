"""Closed forms: classical spectra, and the Jordan parts of signed sums of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import krein
from krein.kernels import Cauchy, DeltaGaussian, Gaussian, Kernel, Laplacian, Matern
from krein.measures import Density, LawPart, omega

Z = np.linspace(0.0, 6.0, 61)
SUMS: list[Kernel] = [
    DeltaGaussian(1.0, 10.0),
    DeltaGaussian(1.0, 1.1),
    2.0 * Gaussian(1.0) - Laplacian(1.0),
    Laplacian(1.0) - 0.3 * Gaussian(3.0),
    Cauchy(1.0) - Gaussian(2.0),
    Gaussian(1.0) - 2.0 * Gaussian(2.0) + Gaussian(4.0),
    Matern(1.0, 0.2) - Gaussian(1.0),
    -1.0 * Matern(0.5, 2.5) - Gaussian(0.3),
]


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(2.0), Matern(1.0, 2.5), Cauchy(1.5)], ids=repr)
@pytest.mark.parametrize("factor", [1.0, -3.0])
def test_one_spectrum(kernel: Kernel, factor: float) -> None:
    m = krein.signed_measure(factor * kernel, 7)
    np.testing.assert_allclose(m.evaluate(Z), factor * kernel.radial(Z), rtol=1e-14)
    assert (m.mass, m.bias, m.radius) == (abs(factor), 0.0, np.inf)
    assert (m.positive if factor > 0 else m.negative).mass == abs(factor)
    assert isinstance(m.positive if factor > 0 else m.negative, LawPart)


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 784])
@pytest.mark.parametrize("kernel", SUMS, ids=repr)
class TestJordanParts:
    def test_evaluate(self, kernel: Kernel, dim: int) -> None:
        m = krein.signed_measure(kernel, dim)
        np.testing.assert_allclose(m.evaluate(Z), kernel.radial(Z), atol=1e-12)
        assert m.decomposition == "jordan"
        assert m.bias == 0.0

    def test_mass_is_the_integral_of_the_absolute_density(self, kernel: Kernel, dim: int) -> None:
        if dim == 784 and "Cauchy" in repr(kernel):
            pytest.skip("its Bessel functions are slow, and the laws' own tests cover them")
        m = krein.signed_measure(kernel, dim)
        laws = [k.radius_law(dim) for _, k in kernel.terms()]
        low = min(float(law.ppf(np.array(1e-9))) for law in laws)
        high = max(float(law.ppf(np.array(1 - 1e-9))) for law in laws)
        s = np.linspace(np.log(low), np.log(high), 40_001)  # in log r, trapezoid: far finer than the table
        values = np.array(sum(c * k.radius_law(dim).pdf(np.exp(s)) for c, k in kernel.terms())) * np.exp(s)
        exact = float(integrate.trapezoid(np.abs(values), s))
        assert m.mass == pytest.approx(exact, abs=2e-6)
        net = sum(c for c, _ in kernel.terms())
        assert m.positive.mass - m.negative.mass == pytest.approx(net, abs=1e-9)
        assert m.mass <= sum(abs(c) for c, _ in kernel.terms()) + 1e-9

    def test_parts_do_not_overlap(self, kernel: Kernel, dim: int) -> None:
        """Where the positive part has mass the density is positive, and the other way round."""
        m = krein.signed_measure(kernel, dim)
        u = np.linspace(0.001, 0.999, 400)
        for sign, part in ((1, m.positive), (-1, m.negative)):
            if part.mass > 1e-12:
                r = part.ppf(u)
                values = sign * np.array(sum(c * k.radius_law(dim).pdf(r) for c, k in kernel.terms()))
                assert (values > -1e-9 * np.abs(values).max()).all()


@pytest.mark.parametrize("dim", [2, 16])
def test_light_part_is_the_transform_of_its_density(dim: int) -> None:
    m = krein.signed_measure(DeltaGaussian(1.0, 2.0), dim)
    for part in (m.positive, m.negative):
        assert isinstance(part, Density)
        for z in (0.0, 0.7, 3.0):
            direct = omega(dim, z * part.nodes) @ part.weights
            assert float(part.evaluate(z, dim)) == pytest.approx(float(direct), abs=1e-9)


def test_overlapping_gaussians_have_less_than_mass_two() -> None:
    for dim in (1, 2, 3, 16):
        masses = [krein.signed_measure(DeltaGaussian(1.0, b), dim).mass for b in (1.05, 1.5, 3.0, 10.0)]
        assert all(m < 2 for m in masses)
        assert masses == sorted(masses)  # the farther apart, the less cancels


def test_one_dimension_by_hand() -> None:
    """In one dimension the two half-normal densities cross once, at r² = 2 log(b/a)/(a² − b²)·(−1)."""
    a, b = 1.0, 3.0
    cross = np.sqrt(2 * np.log(b / a) / (b**2 - a**2))
    wide, narrow = Gaussian(a).radius_law(1), Gaussian(b).radius_law(1)
    expected = 2 * float(narrow.cdf(np.array(cross)) - wide.cdf(np.array(cross)))
    assert krein.signed_measure(DeltaGaussian(a, b), 1).mass == pytest.approx(expected, abs=1e-9)


def test_sums_without_a_negative_part() -> None:
    m = krein.signed_measure(Gaussian(1.0) + 2 * Laplacian(0.5) + Cauchy(1.0), 5)
    assert m.negative.mass == 0.0
    assert m.mass == pytest.approx(4.0, abs=1e-9)
    np.testing.assert_allclose(m.positive.cdf(m.positive.ppf([0.1, 0.9])), [0.1, 0.9], atol=1e-9)
    negative = krein.signed_measure(-(Gaussian(1.0) + Laplacian(0.5)), 5)
    assert negative.positive.mass == 0.0


def test_the_zero_kernel_has_no_mass() -> None:
    m = krein.signed_measure(Gaussian() - Gaussian(), 5)
    assert m.mass == 0.0
    np.testing.assert_array_equal(m.evaluate(Z), np.zeros_like(Z))


@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian(1.0, 3.0)], ids=repr)
@pytest.mark.parametrize("cut", [1.0, 5.0, 40.0])
def test_truncation_states_what_it_cut_off(kernel: Kernel, cut: float) -> None:
    m = krein.signed_measure(kernel, 4, method="fourier", truncate=cut)
    z = np.linspace(0, 8, 101)
    assert np.abs(m.evaluate(z) - kernel.radial(z)).max() <= m.bias
    assert "truncated" in m.note
    for part in (m.positive, m.negative):
        if part.mass:
            assert float(part.ppf(1.0)) <= cut * (1 + 1e-12)


def test_fourier_of_a_classical_kernel_is_its_spectrum() -> None:
    m = krein.signed_measure(DeltaGaussian(1.0, 2.0), 9, method="fourier")
    assert m.mass == pytest.approx(krein.signed_measure(DeltaGaussian(1.0, 2.0), 9).mass)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"no closed-form spectrum; use method='least_mass'"):
        krein.signed_measure(krein.kernels.NTK(), 5, method="closed_form")
    with pytest.raises(ValueError, match=r"nu must be between 0\.05 and"):
        Matern(1.0, 0.01)
