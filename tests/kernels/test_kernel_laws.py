"""Laws of the radius: distribution functions, and the transform that must give the kernel back."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special

from krein.kernels import Cauchy, Gaussian, Kernel, Laplacian, Matern
from krein.kernels.laws import RadiusLaw, VarianceGammaLaw, log_kv
from krein.measures import omega

KERNELS: list[Kernel] = [
    Gaussian(1.0),
    Gaussian(0.2),
    Laplacian(1.0),
    Laplacian(3.0),
    Matern(1.0, 1.5),
    Matern(0.7, 0.3),
    Matern(2.0, 8.0),
    Cauchy(1.0),
    Cauchy(4.0),
]
DIMS = [1, 2, 3, 16, 123, 784]
U = np.array([1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.97, 0.999, 1 - 1e-6, 1 - 1e-9])


def law_of(kernel: Kernel, dim: int) -> RadiusLaw:
    law = kernel.radius_law(dim)
    assert law is not None
    return law


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestEveryLaw:
    def test_ppf_inverts_cdf(self, kernel: Kernel, dim: int) -> None:
        law = law_of(kernel, dim)
        r = law.ppf(U)
        assert (np.diff(r) > 0).all()
        lost = 1e-11 if isinstance(kernel, Cauchy) else 1e-13  # its cdf is one minus a Bessel function
        np.testing.assert_allclose(law.cdf(r), U, rtol=1e-6, atol=lost)
        np.testing.assert_allclose(law.sf(r), 1 - U, rtol=1e-6, atol=lost)

    def test_pdf_integrates_to_cdf(self, kernel: Kernel, dim: int) -> None:
        law = law_of(kernel, dim)
        edges = law.ppf(np.array([1e-3, 0.1, 0.4, 0.7, 0.9, 0.99]))
        for low, high in itertools.pairwise(edges):
            # In log r, because heavy tails span decades between these quantiles.
            mass = integrate.quad(
                lambda s, law=law: law.pdf(np.exp(s)) * np.exp(s), *np.log([low, high]), epsabs=1e-12
            )[0]
            assert mass == pytest.approx(float(law.cdf(high) - law.cdf(low)), abs=1e-10)

    def test_ends(self, kernel: Kernel, dim: int) -> None:
        law = law_of(kernel, dim)
        assert float(law.cdf(np.array(0.0))) == pytest.approx(0.0, abs=1e-12)
        assert float(law.sf(np.array(0.0))) == pytest.approx(1.0, abs=1e-12)
        assert float(law.cdf(np.array(np.inf))) == 1.0
        assert float(law.sf(np.array(np.inf))) == 0.0
        assert float(law.ppf(np.array(0.0))) == pytest.approx(0.0, abs=1e-9)
        assert np.isinf(law.ppf(np.array(1.0)))

    def test_transform_is_the_kernel(self, kernel: Kernel, dim: int) -> None:
        """∫ Ω_d(rz) f(r) dr by Gauss–Legendre on panels that resolve both the law and the waves, rest of the tail bounded."""
        law = law_of(kernel, dim)
        x, w = np.polynomial.legendre.leggauss(20)
        for z in (0.0, 0.15 * kernel.scale, 0.8 * kernel.scale):
            low, median, top = (float(v) for v in law.ppf(np.array([1e-10, 0.5, 1 - 1e-9])))
            if z > 0:
                top = min(top, max(10 * median, 2000.0 / z))
            edges = np.geomspace(low, top, 600)
            if z > 0:  # at most 12 radians per panel
                edges = np.union1d(edges, np.arange(edges[-1], 0.0, -12.0 / z))
                edges = edges[edges >= low]
            half = np.diff(edges) / 2
            r = (edges[:-1] + half)[:, None] + half[:, None] * x
            value = float(np.sum(omega(dim, r * z) * law.pdf(r) * (half[:, None] * w)))
            # Beyond top, |Ω_d| ≤ 1, and integrating a wave against a falling density gains a factor 1/(rz) more.
            rest = float(law.sf(np.array(top)))
            if z > 0 and top * z > 100:
                rest = min(rest, 4 * float(law.pdf(np.array(top))) / z)
            assert value == pytest.approx(float(kernel.radial(z)), abs=2e-8 + rest)
            assert rest < 0.02

    def test_second_moment(self, kernel: Kernel, dim: int) -> None:
        """k″(0) = −E[r²]/d, checked on k itself; infinite exactly when k has a kink."""
        moment = law_of(kernel, dim).second_moment
        h = 1e-3 * kernel.scale
        curvature = 2 * (1.0 - float(kernel.radial(h))) / h**2
        if np.isinf(moment):
            finer = 2 * (1.0 - float(kernel.radial(h / 100))) / (h / 100) ** 2
            assert finer > 5 * curvature
        else:
            assert moment / dim == pytest.approx(curvature, rel=0.02)


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.5])
def test_heavy_tails_keep_their_digits(nu: float) -> None:
    """P(r > R) is a beta integral; mpmath has it for radii at which x = r²/(r² + 2ν) is 1 in double precision."""
    law = law_of(Matern(1.0, nu), 3)
    for r in (1e3, 1e10, 1e30):
        with mp.workdps(60):
            rest = 2 * mp.mpf(nu) / (mp.mpf(r) ** 2 + 2 * mp.mpf(nu))
            exact = mp.betainc(mp.mpf(nu), mp.mpf(3) / 2, 0, rest, regularized=True)
        assert float(law.sf(np.array(r))) == pytest.approx(float(exact), rel=1e-9)
        assert float(law.cdf(np.array(r))) == pytest.approx(1 - float(exact), rel=1e-9)


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0, 3.0, 8.5, 61.0, 391.5, 4999.0])
def test_log_of_the_bessel_function(order: float) -> None:
    """K_ν = ½∫ e^{νs − x cosh s} ds in 30 digits around its peak, with the peak's height taken out."""
    x = np.array([1e-300, 1e-30, 1e-4, 0.3, 5.0, 90.0, 650.0, 3000.0])
    got = log_kv(order, x)
    for value, result in zip(x, got, strict=True):
        if value < 1e-8:
            with mp.workdps(30):
                small = mp.mpf(float(value))
                exact = (
                    mp.log(mp.gamma(order) / 2) + order * mp.log(2 / small)
                    if order
                    else mp.log(-mp.log(small / 2) - mp.euler)
                )
        else:
            exact = _log_kv_by_quadrature(order, float(value))
        assert result == pytest.approx(float(exact), rel=2e-13, abs=1e-12)


def _log_kv_by_quadrature(order: float, x: float) -> mp.mpf:
    with mp.workdps(25):
        peak = mp.asinh(order / mp.mpf(x))
        height = order * peak - x * mp.cosh(peak)
        width = (mp.mpf(x) ** 2 + order**2) ** mp.mpf(-0.25)
        width = min(width, mp.mpf(3))

        def integrand(s: mp.mpf) -> mp.mpf:
            return mp.exp(order * s - x * mp.cosh(s) - height)

        reach = 12 if width < 1 else 6
        nodes = [peak + width * j for j in range(-reach, reach + 1, 3)]
        if order < 10:  # the left flank is only e^{νs}: go on until it is gone
            nodes = (
                [-nodes[-1] - 6, *nodes]
                if order
                else [-n for n in reversed(nodes) if n > 0] + [n for n in nodes if n >= 0]
            )
        return height + mp.log(mp.quad(integrand, nodes) / 2)


def test_variance_gamma_tail_is_the_closed_form() -> None:
    """For d = 2 the survival function is x K₁(x)."""
    law = VarianceGammaLaw(2, 1.0)
    r = np.array([0.01, 0.5, 2.0, 20.0])
    np.testing.assert_allclose(law.sf(r), r * special.k1(r), rtol=1e-12)


def test_laws_of_independent_draws(rng: np.random.Generator) -> None:
    """The cdf against simulated norms; Dvoretzky–Kiefer–Wolfowitz at 1e-6 with 40,000 draws is 0.0135."""
    n, dim = 40_000, 5
    bound = np.sqrt(np.log(2 / 1e-6) / (2 * n))
    normal = rng.standard_normal((n, dim))
    samples = {
        Gaussian(0.5): np.linalg.norm(normal, axis=1) / 0.5,
        Laplacian(2.0): np.linalg.norm(normal, axis=1) / np.abs(rng.standard_normal(n)) / 2.0,
        Matern(1.5, 2.0): np.linalg.norm(normal, axis=1) / np.sqrt(rng.chisquare(4.0, n) / 4.0) / 1.5,
        Cauchy(3.0): np.linalg.norm(normal, axis=1) * np.sqrt(2 * rng.exponential(size=n)) / 3.0,
    }
    for kernel, radii in samples.items():
        law = law_of(kernel, dim)
        radii = np.sort(radii)
        gap = np.max(np.abs(law.cdf(radii) - (np.arange(n) + 0.5) / n))
        assert gap < bound
        wrong = (
            law_of(type(kernel)(kernel.scale * 1.1), dim)
            if not isinstance(kernel, Matern)
            else law_of(Matern(1.65, 2.0), dim)
        )
        assert np.max(np.abs(wrong.cdf(radii) - (np.arange(n) + 0.5) / n)) > bound  # a scale 10 % off would be seen


@pytest.mark.parametrize("scale", [1e-100, 1e100])
@pytest.mark.parametrize("kernel", [Gaussian, Laplacian, lambda scale: Matern(scale, 1.5), Cauchy])
def test_scales_far_from_one(kernel, scale) -> None:
    """The density of r/ℓ is that of r at ℓ = 1, times ℓ."""
    unit, law = law_of(kernel(1.0), 3), law_of(kernel(scale), 3)
    r = np.array([0.3, 1.0, 4.0])
    np.testing.assert_allclose(law.pdf(r / scale), unit.pdf(r) * scale, rtol=1e-11)
    assert law.second_moment == pytest.approx(unit.second_moment / scale**2)
