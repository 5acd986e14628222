"""Three questions: a finite measure, a positive decomposition, positive definite; which rule answers, and the parts themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import krein
from catalog import KERNELS, POSITIVE
from helpers import unit_vectors
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Kernel,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    Radial,
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)
from krein.measures.harmonics import lower_dimension_with_negative_degree, negative_degrees, sphere_eigenvalues


@pytest.fixture
def no_masses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict needs no quadrature; its tables are tested elsewhere."""
    monkeypatch.setattr("krein.measures.kernel_diagnosis._masses", lambda kernel, dim, tail: {})


@pytest.mark.usefixtures("no_masses")
class TestSphericalPolynomial:
    @pytest.mark.parametrize("dim", range(1, 21))
    def test_finite_exactly_above_the_critical_index(self, dim: int) -> None:
        for p in range(1, 13):
            d = krein.diagnose(SphericalPolynomial(2, p), dim)
            assert d.finite == (p > (dim - 1) / 2)
            assert d.rule == "critical exponent"
            assert d.tail_exponent == pytest.approx(1 + p - (dim - 1) / 2)
            assert d.any_extension  # a polynomial in z² continues smoothly
            assert d.positive_on_sphere
            assert not d.numerical
            assert math.isinf(d.mass or 0.0) == (not d.finite)

    @pytest.mark.parametrize("dim", [1, 2, 3, 16])
    def test_a_jump_is_infinite_everywhere(self, dim: int) -> None:
        for a, p in ((2.001, 12), (3.0, 1), (10.0, 5)):
            d = krein.diagnose(SphericalPolynomial(a, p), dim)
            assert d.finite is False
            assert d.mass == math.inf
            assert "jump" in d.reason
            assert d.any_extension

    @pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
    def test_decided_numerically_alike(self, dim: int) -> None:
        """The same function as a black box: the fitted exponent gives the same verdict, and says that it was fitted."""
        for p in (1, 2, 3):
            d = krein.diagnose(Radial(SphericalPolynomial(2, p).radial, domain="sphere"), dim)
            assert d.finite == (p > (dim - 1) / 2)
            assert d.numerical
            assert "decided numerically" in " ".join(str(d).split())
            assert d.tail_exponent == pytest.approx(1 + p - (dim - 1) / 2, abs=0.05)
            assert d.any_extension


@pytest.mark.usefixtures("no_masses")
class TestInfiniteSlope:
    """MATH §2.3."""

    @pytest.mark.parametrize("kernel", [NTK(), NTK(2), NTK(5), ArcCosine(0), GeodesicGaussian(1.0)], ids=repr)
    def test_square_root_at_the_antipode(self, kernel: Kernel) -> None:
        for dim in (1, 2, 3, 4, 16, 784):
            d = krein.diagnose(kernel, dim)
            assert d.any_extension == (dim == 1)  # ½ > (d − 1)/2; at d = 2 the mass diverges like a logarithm
            assert d.on_range
            if dim >= 2:
                assert d.finite is False
                assert "no continuation helps" in d.reason
                assert "radius below 2" in d.advice

    def test_arc_cosine_of_order_one(self) -> None:
        for dim in range(1, 9):
            d = krein.diagnose(ArcCosine(1), dim)
            assert d.any_extension == d.finite == (dim < 4)  # 3/2 > (d − 1)/2

    def test_multiples_keep_the_answer(self) -> None:
        for factor in (2.0, -1.0):
            d = krein.diagnose(factor * NTK(), 16)
            assert d.finite is False
            assert d.any_extension is False
            assert d.positive_on_sphere == (factor > 0)

    def test_black_box(self) -> None:
        for dim in (1, 2, 3, 16):
            d = krein.diagnose(Radial(NTK().radial, domain="sphere"), dim)
            assert d.any_extension == (dim == 1)
            assert d.numerical


class TestOnSpheres:
    @pytest.mark.parametrize("dim", [1, 2, 3, 5, 16, 123, 784, 10_000])
    @pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
    def test_positive_by_theorem_and_by_coefficients(self, kernel: Kernel, dim: int) -> None:
        assert lower_dimension_with_negative_degree(kernel.radial, dim) is None
        assert (sphere_eigenvalues(kernel.radial, dim) > -1e-12).all()

    @pytest.mark.parametrize("kernel", [k for k in POSITIVE if k.domain == "sphere"], ids=repr)
    @pytest.mark.parametrize("dim", [2, 3, 16])
    def test_positive_grams(self, kernel: Kernel, dim: int, rng: np.random.Generator) -> None:
        values = np.linalg.eigvalsh(kernel(unit_vectors(rng, 200, dim)))
        assert values[0] > -1e-11 * values[-1]
        d = krein.diagnose(kernel, dim)
        assert d.positive_on_sphere
        assert d.negative_degree is None

    @pytest.mark.parametrize(
        "kernel",
        [
            DeltaGaussian(1, 10),
            Sigmoid(1.0, -0.5),
            Multiquadric(1.0),
            Log(1.0),
            ThinPlate(),
            -NTK(),
            GeodesicGaussian(2.0),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("dim", [3, 16, 784])
    def test_indefinite(self, kernel: Kernel, dim: int, rng: np.random.Generator) -> None:
        d = krein.diagnose(kernel, dim)
        assert not d.positive_on_sphere
        if isinstance(kernel, GeodesicGaussian):
            return  # its negative eigenvalues need more points than a test has
        values = np.linalg.eigvalsh(kernel(unit_vectors(rng, 300, dim)))
        assert values[0] < -1e-6 * np.abs(values).max()
        assert d.negative_degree is not None

    def test_what_lower_spheres_show(self) -> None:
        """A jump at z = 1: its negative coefficients are far below rounding in 784 dimensions, and plain in three."""
        ball = Radial(lambda z: np.where(z < 1.0, 1.0, 0.0))
        assert krein.diagnose(ball, 3).negative_degree is not None
        high = krein.diagnose(ball, 784)
        assert not high.positive_on_sphere
        assert "lower dimension" in str(high) or high.negative_degree is not None

    @pytest.mark.parametrize("dim", [2, 3, 4, 9, 50])
    def test_eigenvalues_of_polynomials_by_hand(self, dim: int) -> None:
        """k = u: only degree 1, with eigenvalue 1/d; k = u²: 1/d at degree 0 and 2/(d(d+2)) at degree 2."""

        def u(z: np.ndarray) -> np.ndarray:
            return 1 - z * z / 2

        first = sphere_eigenvalues(u, dim, 5)
        np.testing.assert_allclose(first, [0, 1 / dim, 0, 0, 0], atol=1e-12)
        second = sphere_eigenvalues(lambda z: u(z) ** 2, dim, 5)
        np.testing.assert_allclose(second, [1 / dim, 0, 2 / (dim * (dim + 2)), 0, 0], atol=1e-12)

    def test_eigenvalues_are_those_of_weighted_grams(self) -> None:
        """A rule on S² exact for products of harmonics up to degree 15: there the Gram matrix has eigenvalues b with their
        multiplicities 2l + 1, and a positive rest whose trace is what they leave of k(0) = 2.
        """
        heights, weights = np.polynomial.legendre.leggauss(16)
        angles = np.arange(32) * np.pi / 16
        across = np.sqrt(1.0 - heights**2)[:, None]
        points = np.stack(
            np.broadcast_arrays(across * np.cos(angles), across * np.sin(angles), heights[:, None]), axis=2
        )
        roots = np.sqrt(np.repeat(weights / 64.0, 32))
        found = np.linalg.eigvalsh(roots[:, None] * NTK()(points.reshape(-1, 3)) * roots)[::-1]
        b = sphere_eigenvalues(NTK().radial, 3)[:16]
        expected = np.sort(np.repeat(b, 2 * np.arange(16) + 1))[::-1]
        rest = 2.0 - expected.sum()
        assert 0.0 < rest < 0.1 * b[0]
        assert (found[:256] >= expected - 1e-12).all()
        assert (found[:256] <= expected + rest).all()

    def test_two_points(self) -> None:
        np.testing.assert_allclose(sphere_eigenvalues(NTK().radial, 1), [1.0, 1.0])
        np.testing.assert_array_equal(negative_degrees(Log(1.0).radial, 1), [0])


class TestClosedForms:
    @pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(2.0), Matern(1.0, 2.5), Cauchy(1.0)], ids=repr)
    def test_classical(self, kernel: Kernel) -> None:
        d = krein.diagnose(kernel, 16)
        assert (d.finite, d.rule, d.mass, d.negative_mass) == (True, "closed form", 1.0, 0.0)
        assert d.positive_definite
        assert d.positive_on_sphere
        assert "closed_form" in d.advice
        minus = krein.diagnose(-kernel, 16)
        assert minus.finite
        assert minus.positive_definite is False
        assert (minus.positive_mass, minus.negative_mass) == (0.0, 1.0)

    def test_sums(self) -> None:
        d = krein.diagnose(2 * Gaussian(1.0) - Laplacian(1.0), 5)
        assert d.finite
        assert d.positive_definite is False
        # radii of the two spectra: chi with 5 degrees of freedom; R² = 5 F with F's law of 5 and 1
        terms = stats.chi(5).pdf, lambda r: 2 * r / 5 * stats.f(5, 1).pdf(r * r / 5)
        crossings = [
            0.0,
            *(optimize.brentq(lambda r: 2 * terms[0](r) - terms[1](r), a, b) for a, b in ((1e-3, 1), (2, 9))),
        ]
        pieces = itertools.pairwise([*crossings, np.inf])
        exact = sum(abs(integrate.quad(lambda r: 2 * terms[0](r) - terms[1](r), a, b)[0]) for a, b in pieces)
        assert d.mass == pytest.approx(exact, rel=1e-6)
        assert "less than the difference" in d.reason
        assert d.positive_mass - d.negative_mass == pytest.approx(1.0, abs=1e-9)
        still = krein.diagnose(Gaussian(1.0) + 0.5 * Cauchy(1.0), 5)
        assert still.positive_definite
        dominated = krein.diagnose(Laplacian(1.0) - 0.2 * Gaussian(1.0), 1)  # the heavy tail and center outweigh it
        assert dominated.positive_definite == (
            krein.signed_measure(Laplacian(1.0) - 0.2 * Gaussian(1.0), 1).negative.mass == 0
        )


class TestGrowth:
    @pytest.mark.parametrize(
        "kernel", [Multiquadric(1.0), Log(1.0), ThinPlate(), Multiquadric(1.0) - Gaussian(1.0)], ids=repr
    )
    def test_unbounded(self, kernel: Kernel) -> None:
        d = krein.diagnose(kernel, 16)
        assert (d.finite, d.rule, d.mass) == (False, "boundedness", math.inf)
        assert d.positive_definite is False
        assert "least_mass" in d.advice

    def test_growth_that_cancels(self) -> None:
        d = krein.diagnose(Multiquadric(1.0) - Multiquadric(2.0), 3)
        assert d.finite
        assert d.numerical

    def test_black_box_growth_is_seen(self) -> None:
        d = krein.diagnose(Radial(lambda z: np.sqrt(1 + z)), 3)
        assert (d.finite, d.rule, d.numerical) == (False, "boundedness", True)


class TestBlackBoxes:
    """Askey's functions (1 − z)₊^ℓ: finite iff ℓ > (d−1)/2, positive definite iff ℓ ≥ (d+1)/2."""

    @pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("power", [1, 2, 3])
    def test_askey(self, power: int, dim: int) -> None:
        d = krein.diagnose(Radial(lambda z: np.maximum(0.0, 1.0 - z) ** power), dim)
        assert d.finite == (power > (dim - 1) / 2)
        assert (d.rule, d.numerical) == ("smoothness", True)
        assert d.tail_exponent == pytest.approx(1 + power - (dim - 1) / 2, abs=0.05)
        assert f"|z - z0|^{power}" in d.reason or "0.99" in d.reason or "^1" in d.reason or "^2" in d.reason
        if d.finite and d.positive_definite is not None:
            assert d.positive_definite == (power >= (dim + 1) / 2)
        if power >= (dim + 1) / 2:
            assert d.mass == pytest.approx(1.0, abs=1e-3)

    @pytest.mark.parametrize("dim", [1, 3, 10, 16])
    def test_smooth_and_positive(self, dim: int) -> None:
        d = krein.diagnose(Radial(lambda z: np.exp(-(z**2))), dim)
        assert d.finite
        assert d.mass == pytest.approx(1.0, abs=1e-6)
        assert d.positive_definite

    def test_smooth_and_indefinite(self) -> None:
        """exp(−z⁴) is not positive definite: the exponent exceeds 2."""
        d = krein.diagnose(Radial(lambda z: np.exp(-(z**4))), 3)
        assert d.finite
        assert d.positive_definite is False
        assert d.mass is not None
        assert d.mass > 1.0

    @pytest.mark.parametrize("dim", [3, 16, 784])
    def test_a_kink_away_from_zero(self, dim: int) -> None:
        d = krein.diagnose(Radial(lambda z: np.exp(-np.abs(z - 1.0))), dim)
        assert d.finite is False
        assert d.positive_definite is False

    def test_a_kink_at_zero_does_no_harm(self) -> None:
        for dim in (2, 16, 784):
            assert krein.diagnose(Radial(lambda z: np.exp(-z)), dim).finite

    def test_a_jump_at_zero(self) -> None:
        d = krein.diagnose(Radial(lambda z: np.where(z == 0.0, 1.0, 0.5 * np.exp(-z))), 3)
        assert (d.finite, d.rule) == (False, "continuity")
        assert d.positive_definite is None  # it is: 1 at 0 and 0 elsewhere is positive definite, and has no measure

    @pytest.mark.parametrize("function", [np.cos, np.sinc], ids=["cos", "sinc"])
    def test_oscillation_is_left_undecided(self, function) -> None:
        """cos z and sin(πz)/(πz) are transforms in one and three dimensions and of no finite measure in high ones."""
        d = krein.diagnose(Radial(function), 16)
        assert (d.finite, d.rule) == (None, "undecided")
        assert "undecided" in str(d)

    def test_sphere_edges(self) -> None:
        straight = Radial(lambda z: 1 - z / 2, domain="sphere")
        assert [krein.diagnose(straight, d).finite for d in (1, 2, 3, 4)] == [True, True, False, False]
        root = Radial(lambda z: np.sqrt(2 - z), domain="sphere")
        d = krein.diagnose(root, 3)
        assert (d.finite, d.any_extension) == (False, False)


@pytest.mark.usefixtures("no_masses")
class TestSumsOnTheSphere:
    def test_a_jump_from_a_euclidean_term(self) -> None:
        d = krein.diagnose(NTK() + Gaussian(1.0), 1)
        assert d.finite is False
        assert d.any_extension  # (2 − z)^{1/2} is fine on the line
        assert not d.numerical
        assert krein.diagnose(NTK() + Gaussian(1.0), 2).any_extension is False

    def test_the_worst_term_decides(self) -> None:
        d = krein.diagnose(SphericalPolynomial(2, 5) - ArcCosine(1), 3)
        assert d.finite  # 3/2 > 1
        assert d.tail_exponent == pytest.approx(1.5)
        assert krein.diagnose(SphericalPolynomial(2, 5) - ArcCosine(1), 4).finite is False

    def test_terms_that_may_cancel_are_measured(self) -> None:
        d = krein.diagnose(NTK() - ArcCosine(0), 3)
        assert d.numerical
        assert d.any_extension is False
        # u κ₀ + κ₁ − κ₁ = u κ₀ ends like −√(2−z): κ₀ added to it cancels the root, and what is left is of order 3/2.
        canceled = krein.diagnose(NTK() + ArcCosine(0) - ArcCosine(1), 3)
        assert canceled.numerical
        assert canceled.any_extension

    def test_smooth_sums(self) -> None:
        d = krein.diagnose(SphericalPolynomial(2, 2) + Sigmoid(1.0, -0.5), 16)
        assert d.any_extension
        assert d.finite is False

    def test_zero(self) -> None:
        for kernel in (0 * NTK(), 0 * Gaussian(1.0)):
            d = krein.diagnose(kernel, 7)
            assert d.finite
            assert d.positive_on_sphere


class TestMasses:
    @pytest.mark.parametrize(("p", "dim"), [(2, 1), (2, 3), (3, 4), (6, 8)])
    def test_mass_of_the_zero_extension(self, p: int, dim: int) -> None:
        """∫|ρ| on a fine grid far out, tail by its power law; the difference of the parts is k(0) = 1."""
        d = krein.diagnose(SphericalPolynomial(2, p), dim)
        r = np.linspace(1e-9, 600.0, 240_001)
        rho = np.abs(SphericalPolynomial(2, p).fourier_density(r, dim))
        beta = 1 + p - (dim - 1) / 2
        last = r > 580
        rest = float(np.mean(rho[last] * r[last] ** beta)) * 600.0 ** (1 - beta) / (beta - 1)
        exact = float(rho.sum() * (r[1] - r[0])) + rest
        assert d.mass == pytest.approx(exact, rel=2e-3)
        assert d.positive_mass - d.negative_mass == pytest.approx(1.0, abs=5e-3)
        assert d.positive_definite == (d.negative_mass <= 1e-6)

    def test_arc_cosine_on_the_plane(self) -> None:
        """ρ(r) = r ∫ z k(z) J₀(rz) dz up to r = 100, and from there its power law, as (2 − z)^1.5 at the end makes it: r⁻²."""
        d = krein.diagnose(ArcCosine(1), 2)
        nodes, weights = np.polynomial.legendre.leggauss(800)
        z, r = 1.0 + nodes, 0.01 + 0.02 * np.arange(5000)
        rho = np.abs(r * (special.j0(np.outer(r, z)) @ (weights * z * ArcCosine(1).radial(z))))
        rest = float(np.mean((rho * r**2)[r > 90])) / 100.0
        assert rest < 0.01 * d.mass  # so that the power law's own error is far below the tolerance
        assert d.mass == pytest.approx(0.02 * float(rho.sum()) + rest, rel=2e-3)
        assert d.positive_definite is False


@pytest.mark.usefixtures("no_masses")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_gets_a_readable_answer(kernel: Kernel) -> None:
    for dim in (2, 54):
        d = krein.diagnose(kernel, dim)
        text = str(d)
        assert repr(kernel) in text
        assert f"dimension {dim}" in text
        for words in ("finite measure on R^", "positive decomposition", "positive definite on the sphere", "use "):
            assert words in text
        assert d.decomposes in (True, None)


SQUARE, FOURTH = Radial(lambda z: z**2), Radial(lambda z: z**4)
DECOMPOSED = [
    (SQUARE, "polynomial in z²", (-1, 1)),
    (FOURTH, "polynomial in z²", (1, 2)),
    (Multiquadric(1.0), "conditionally definite", (-1, 1)),
    (-Multiquadric(1.0), "conditionally definite", (1, 1)),
    (Log(1.0), "conditionally definite", (1, 1)),
    (ThinPlate(), "conditionally definite", (1, 2)),
    (ThinPlate().scaled(3.0), "conditionally definite", (1, 2)),
    (Multiquadric(1.0) - 2.0 * Multiquadric(3.0), "sum of conditionally definite", None),
    (Gaussian(3.0) * SQUARE, "product of positive definite, polynomial in z²", None),
    (Gaussian(3.0) * SQUARE - ThinPlate(), "sum of positive definite, polynomial in z², conditionally definite", None),
    (Radial(lambda z: 1 - z**2 + 0.1 * z**6), "polynomial in z²", (-1, 3)),
    (DeltaGaussian(1.0, 10.0), "signed sum", None),
    (Gaussian(1.0) * Cauchy(2.0), "positive definite", (1, 0)),
    (NTK(), "positive definite", None),
    (-NTK() + ArcCosine(1), "signed sum", None),
    (Sigmoid(1.0, -0.5), "power series", None),
    (GeodesicGaussian(1.0), "power series", None),
    (NTK() * Sigmoid(0.5, 0.2) - Log(2.0), "sum of positive definite, power series, conditionally definite", None),
    (0 * Gaussian(1.0), "polynomial in z²", (1, 0)),
]


class TestDecompositions:
    @pytest.mark.parametrize(("kernel", "rule", "conditional"), DECOMPOSED, ids=lambda value: repr(value)[:60])
    def test_the_parts_are_positive_and_their_difference_is_the_kernel(
        self, kernel: Kernel, rule: str, conditional: tuple[int, int] | None, rng: np.random.Generator
    ) -> None:
        d = krein.diagnose(kernel, 16)
        assert (d.decomposes, d.decomposition_rule, d.conditional) == (True, rule, conditional)
        X, Y = rng.normal(size=(300, 16)), rng.normal(size=(7, 16))
        plus, minus = d.decomposition()
        exact = kernel(X)
        for part in (plus, minus):
            values = np.linalg.eigvalsh(part(X))
            assert values[0] >= -1e-10 * max(values[-1], 1e-300)
        np.testing.assert_allclose(plus(X) - minus(X), exact, rtol=0, atol=1e-10 * max(1.0, np.abs(exact).max()))
        np.testing.assert_allclose(plus(X, Y), plus(np.vstack([X, Y]))[:300, 300:], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose((-kernel)(X), -exact)

    @pytest.mark.parametrize("kernel", [SQUARE, ThinPlate(), Multiquadric(1.0) * SQUARE], ids=repr)
    def test_a_minus_sign_swaps_the_parts(self, kernel: Kernel, rng: np.random.Generator) -> None:
        X = rng.normal(size=(20, 3))
        (plus, minus), (other_plus, other_minus) = (krein.diagnose(k, 3).decomposition() for k in (kernel, -kernel))
        np.testing.assert_array_equal(plus(X), other_minus(X))
        np.testing.assert_array_equal(minus(X), other_plus(X))

    def test_the_parts_of_a_computed_measure(self, rng: np.random.Generator) -> None:
        """exp(−z⁴) is finite by quadrature only: its Jordan parts are positive to the accuracy of that."""
        kernel = Radial(lambda z: np.exp(-(z**4)))
        d = krein.diagnose(kernel, 3)
        assert (d.decomposes, d.decomposition_rule) == (True, "finite measure")
        X = rng.normal(size=(60, 3))
        plus, minus = d.decomposition()
        assert min(np.linalg.eigvalsh(part(X))[0] for part in (plus, minus)) > -1e-8
        np.testing.assert_allclose(plus(X) - minus(X), kernel(X), atol=1e-12)
        assert np.linalg.eigvalsh(minus(X))[-1] > 1e-3

    @pytest.mark.parametrize(
        "function",
        [
            lambda z: np.exp(-(z**2) / 2e12),
            lambda z: z**2 + 1e-9 * z,
            lambda z: z**10,
            lambda z: np.minimum(z**2, 400.0),
            lambda z: z,
        ],
    )
    def test_what_is_no_polynomial_in_the_square_is_not_taken_for_one(self, function) -> None:
        assert Radial(function).split(3) is None

    def test_never_no_without_a_proof(self) -> None:
        for kernel, dim in (
            (Radial(lambda z: np.maximum(0.0, 1.0 - z)), 16),
            (Radial(np.sqrt), 3),
            (Radial(np.cos), 3),
        ):
            d = krein.diagnose(kernel, dim)
            assert d.decomposes is None
            assert "not known" in str(d)
            with pytest.raises(ValueError, match="no decomposition"):
                d.decomposition()

    def test_known_to_exist_without_a_formula(self) -> None:
        """A steep sigmoid is analytic up to z = 2, so some extension has a finite measure; its Taylor series diverges."""
        d = krein.diagnose(Sigmoid(5.0, 0.0), 16)
        assert (d.decomposes, d.decomposition_rule, d.any_extension) == (True, "finite measure", True)
        with pytest.raises(ValueError, match="signed_measure"):
            d.decomposition()

    def test_finite_on_a_range(self) -> None:
        hat = Radial(lambda z: np.maximum(0.0, 1.0 - z))
        assert [krein.diagnose(hat, d).on_range for d in (2, 3)] == [True, False]
        assert krein.diagnose(SQUARE, 16).on_range
        assert krein.diagnose(ThinPlate(), 784).on_range


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((NTK(), 0), ValueError, "dim must be at least 1"),
        ((NTK(), 1.5), TypeError, "dim must be an integer"),
        ((3.0, 3), ValueError, "dim is for kernels"),
        ((Gaussian, 3), TypeError, "got .*Gaussian.*; use one of it, such as Gaussian"),
        ((np.exp, 3), TypeError, r"krein\.kernels\.Radial"),
        ((Radial(lambda z: z * np.nan), 3), ValueError, "NaN or infinity"),
        ((Radial(lambda z: 1j * z), 3), TypeError, "complex"),
    ],
)
def test_bad_input(arguments: tuple, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        krein.diagnose(*arguments)
