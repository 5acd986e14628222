"""The least-mass program: within its bias, of least mass, and never in silence where it fails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import krein
from catalog import NAMED
from krein._core.errors import OutOfReachError
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Laplacian,
    Multiquadric,
    Radial,
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)
from krein.measures import Atoms, Outlook, SignedMeasure, omega
from krein.measures.search.least_mass import least_mass_for_width
from krein.measures.search.program import Problem

DIMS = [2, 3, 16, 54, 123, 784]
RADII = [1.2, 2**0.5]

# MATH §3: R = 1.2, ε = 1e-3, head of degree −1 / 0 / 1, in dimensions 16 and 123; two decimals.
TABLE: list[tuple[Kernel, tuple[float, float, float], tuple[float, float, float]]] = [
    (DeltaGaussian(1, 10), (1.90, 0.86, 0.24), (2.06, 0.93, 0.29)),
    (SphericalPolynomial(2, 2), (1.39, 1.28, 0.21), (1.65, 1.39, 0.26)),
    (ArcCosine(0), (1.00, 0.69, 0.15), (1.00, 0.74, 0.16)),
    (NTK(), (3.15, 2.58, 0.62), (3.67, 2.77, 0.71)),
    (Sigmoid(1.0, -0.5), (3.85, 2.39, 0.04), (4.57, 2.72, 0.06)),
    (Multiquadric(1.0), (4.13, 1.35, 0.11), (4.55, 1.48, 0.13)),
    (ThinPlate(), (9.22, 6.15, 0.93), (12.3, 7.79, 1.05)),
]


def least(kernel: Kernel, dim: int, radius: float, **options) -> SignedMeasure:
    return krein.signed_measure(kernel, dim, radius, method="least_mass", **options)


def dense(radius: float, seed: int = 0) -> np.ndarray:
    """Distances that are not on the program's grid, crowded at both ends."""
    rng = np.random.default_rng(seed)
    u = rng.random(3000)
    return radius * np.concatenate([u, u**6, 1 - u**6, [0.0, 1.0]])


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", NAMED, ids=repr)
def test_within_its_bias_everywhere(kernel: Kernel, dim: int, radius: float) -> None:
    z = dense(radius, dim)
    exact = kernel.radial(z)
    tol = 2e-3 * float(np.abs(exact).max())
    degree = 1 if radius == 1.2 else (-1, 0, 2)[(dim + NAMED.index(kernel)) % 3]
    m = least(kernel, dim, radius, tol=tol, head_degree=degree)
    assert np.abs(m.evaluate(z) - exact).max() <= m.bias
    assert m.bias <= 2.5 * tol
    assert m.head.degree == degree
    assert (m.radius, m.dim, m.decomposition) == (radius, dim, "jordan")
    assert isinstance(m.positive, Atoms)
    assert m.positive.radii.size + m.negative.radii.size <= 60


@pytest.mark.parametrize(("kernel", "in_16", "in_123"), TABLE, ids=lambda v: repr(v) if isinstance(v, Kernel) else "")
def test_masses_of_the_table(kernel: Kernel, in_16: tuple, in_123: tuple) -> None:
    for dim, row in ((16, in_16), (123, in_123)):
        masses = [least(kernel, dim, 1.2, tol=1e-3, head_degree=degree).mass for degree in (-1, 0, 1)]
        for mass, printed in zip(masses, row, strict=True):
            assert mass <= 1.02 * (printed + 0.005)
        assert masses == sorted(masses, reverse=True)  # a longer head leaves less to the tail


def test_heads_of_every_degree() -> None:
    z = dense(1.2)
    masses = []
    for degree in (-1, 0, 1, 2):
        m = least(NTK(), 16, 1.2, tol=1e-3, head_degree=degree)
        assert len(m.head.coefficients) == degree + 1
        assert np.abs(m.evaluate(z) - NTK().radial(z)).max() <= m.bias <= 1.1e-3
        masses.append(m.mass)
    assert masses == sorted(masses, reverse=True)


@pytest.mark.parametrize(
    ("kernel", "dim", "degree"),
    [(NTK(), 16, 1), (DeltaGaussian(1, 10), 3, -1), (SphericalPolynomial(2, 2), 123, 0), (Laplacian(1.0), 16, 1)],
    ids=repr,
)
def test_no_measure_of_less_mass(kernel: Kernel, dim: int, degree: int) -> None:
    """Weak duality: any λ with |Σλᵢ Ω_d(rzᵢ)| ≤ 1 for all r and Σλᵢ zᵢ^{2q} = 0 bounds every feasible mass from below.

    The dual is solved here on other grids, made feasible for radii between its grid points, and must come close.
    """
    radius, tol = 1.2, 2e-3
    m = least(kernel, dim, radius, tol=tol, head_degree=degree)
    # Every distance of this grid is one at which the measure is within its bias: use that as the tolerance.
    eps = m.bias
    z = radius * np.unique(np.concatenate([(np.arange(60) + 0.5) / 60, np.geomspace(3e-4, 0.3, 30), [0.0, 1.0]]))
    r = np.concatenate([[0.0], np.sqrt(dim) / radius * np.geomspace(0.05, 600.0, 320)])
    waves = omega(dim, np.multiply.outer(r, z))
    n = z.size
    k = kernel.radial(z)
    # maximize k·λ − eps‖λ‖₁, λ = p − q, subject to |waves λ| ≤ 1 and powers·λ = 0.
    powers = np.stack([(z / radius) ** (2 * q) for q in range(degree + 1)]) if degree >= 0 else np.zeros((0, n))
    solved = linprog(
        np.concatenate([eps - k, eps + k]),
        A_ub=np.block([[waves, -waves], [-waves, waves]]),
        b_ub=np.ones(2 * r.size),
        A_eq=np.concatenate([powers, -powers], axis=1) if degree >= 0 else None,
        b_eq=np.zeros(degree + 1) if degree >= 0 else None,
        bounds=(0.0, None),
        method="highs",
    )
    assert solved.status == 0
    dual = solved.x[:n] - solved.x[n:]
    fine = np.concatenate([[0.0], np.sqrt(dim) / radius * np.geomspace(0.01, 3000.0, 5_000)])
    violation = float(np.abs(omega(dim, np.multiply.outer(fine, z)) @ dual).max())
    if degree >= 0:
        dual = dual - np.linalg.pinv(powers) @ (powers @ dual)  # rounding of the equality
    bound = (float(k @ dual) - eps * float(np.abs(dual).sum())) / max(violation, 1.0)
    assert m.mass >= bound * (1 - 1e-6)
    assert m.mass <= 1.03 * bound + 1e-3


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Laplacian(0.3), Cauchy(1.0)], ids=repr)
def test_never_more_than_the_closed_form(kernel: Kernel) -> None:
    """The classical spectrum is feasible with mass 1; radii that end too early once gave the Laplacian a mass of 21."""
    for dim, degree in ((16, -1), (123, 1)):
        m = least(kernel, dim, 2**0.5, tol=1e-3, head_degree=degree)
        assert m.mass <= 1.001
        assert m.bias < 2.5e-3


def test_scaling_kernel_and_data_changes_nothing_else() -> None:
    base = least(NTK(), 16, 1.2, tol=1e-3)
    for factor in (1e-8, -3.0, 1e8):
        m = least(factor * NTK(), 16, 1.2, tol=1e-3 * abs(factor))
        assert m.mass == pytest.approx(abs(factor) * base.mass, rel=1e-5)
        assert m.bias == pytest.approx(abs(factor) * base.bias, rel=1e-2)
    base = least(Gaussian(1.0), 16, 2.0, tol=1e-3)
    far = least(Gaussian(1e4), 16, 2e4, tol=1e-3)
    assert far.mass == pytest.approx(base.mass, rel=1e-6)
    np.testing.assert_allclose(far.positive.radii * 1e4, base.positive.radii, rtol=1e-9)


def test_low_dimensions_are_resolved_between_grid_points() -> None:
    """Waves in ℝ³ do not die out; a grid too coarse for them once gave a bias of 0.35 at this tolerance."""
    for dim in (1, 3):  # and with a kink below
        m = least(SphericalPolynomial(2, 2), dim, 1.2, tol=1e-4)
        z = dense(1.2)
        assert np.abs(m.evaluate(z) - SphericalPolynomial(2, 2).radial(z)).max() <= m.bias <= 3e-4
    m = least(NTK(), 3, 1.2, tol=5e-4)
    assert np.abs(m.evaluate(z) - NTK().radial(z)).max() <= m.bias <= 1e-3


class TestWholeSphere:
    """Arc-cosine 0 and the NTK have infinite slope at z = 2."""

    @pytest.mark.parametrize("kernel", [NTK(), ArcCosine(0)], ids=repr)
    def test_an_explicit_tolerance_is_refused(self, kernel: Kernel) -> None:
        with pytest.raises(
            OutOfReachError, match=r"no measure of useful mass.*tol=0.01 .*larger tol, a smaller radius"
        ):
            least(kernel, 16, 2.0, tol=1e-2)

    @pytest.mark.parametrize("kernel", [NTK(), ArcCosine(0)], ids=repr)
    def test_auto_is_honest(self, kernel: Kernel) -> None:
        z = dense(2.0)
        for options in ({}, {"n_components": 300}) if kernel == NTK() else ({"n_components": 300},):
            m = least(kernel, 16, 2.0, **options)
            error = np.abs(m.evaluate(z) - kernel.radial(z)).max()
            assert error <= m.bias
            assert m.mass < 10
            assert 0.01 < m.bias < 0.2
            if not options:
                assert "would need a mass beyond use" in m.note
                assert "smaller radius" in m.note

    def test_smooth_kernels_need_no_excuse(self) -> None:
        m = krein.signed_measure(SphericalPolynomial(2, 2), 54)
        assert m.radius == 2.0
        assert m.bias < 2e-3
        assert m.note == ""
        assert m.sphere


class TestWidth:
    """tol='auto' with n_components: no explicit tolerance predicts a smaller error by much."""

    @pytest.mark.parametrize(
        ("kernel", "dim", "radius"),
        [
            (NTK(), 16, 1.2),
            (DeltaGaussian(1, 10), 54, 1.2),
            (ArcCosine(0), 16, 1.9),
            (SphericalPolynomial(2, 2), 123, 2**0.5),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("n_components", [300])
    def test_not_worse_than_a_grid_of_tolerances(
        self, kernel: Kernel, dim: int, radius: float, n_components: int
    ) -> None:
        z = np.linspace(0.0, radius, 101)
        exact = kernel.radial(z)

        def predicted(m: SignedMeasure) -> float:
            return float(np.mean(krein.predicted_error(m, z, n_components) + (m.evaluate(z) - exact) ** 2))

        auto = predicted(least(kernel, dim, radius, n_components=n_components))
        best = np.inf
        for tol in np.geomspace(1e-3, 0.1, 6) * float(np.abs(exact).max()):
            try:
                best = min(best, predicted(least(kernel, dim, radius, tol=float(tol))))
            except OutOfReachError:
                continue  # out of reach on the whole sphere
        assert auto <= 1.05 * best

    def test_more_columns_less_error(self) -> None:
        z = np.linspace(0, 1.2, 50)
        errors = []
        for n in (64, 512, 4096):
            m = least(NTK(), 16, 1.2, n_components=n)
            errors.append(float(np.mean(krein.predicted_error(m, z, n) + (m.evaluate(z) - NTK().radial(z)) ** 2)))
        assert errors == sorted(errors, reverse=True)

    def test_best_head(self) -> None:
        z = np.linspace(0, 1.2, 101)

        def predicted(degree, n: int) -> float:
            m = least(SphericalPolynomial(2, 3), 6, 1.2, n_components=n, head_degree=degree)
            return float(
                np.mean(krein.predicted_error(m, z, n) + (m.evaluate(z) - SphericalPolynomial(2, 3).radial(z)) ** 2)
            )

        for n in (24, 80):
            choices = [d for d, columns in ((-1, 0), (0, 1), (1, 7), (2, 28)) if n >= columns + 2]
            assert predicted("auto", n) <= 1.02 * min(predicted(d, n) for d in choices)

    def test_best_head_with_a_tolerance_that_only_some_heads_reach(self) -> None:
        m = least(ThinPlate(), 16, 1.2, n_components=512, tol=1e-5, head_degree="auto")
        assert m.bias < 1e-4

    def test_too_few_columns(self) -> None:
        with pytest.raises(ValueError, match=r"at least 17 for head_degree=1 in dimension 16, got 16; use 17 or more"):
            least(NTK(), 16, 1.2, n_components=16)
        assert least(NTK(), 16, 1.2, n_components=17).mass == 0.0  # the head alone

    def test_distances_move_the_weight(self) -> None:
        """Errors counted only at small distances: the measure may be worse at large ones."""
        near = np.linspace(0.0, 0.3, 50)
        focused = least(NTK(), 16, 2.0, n_components=512, distances=near)
        plain = least(NTK(), 16, 2.0, n_components=512)

        def error(m: SignedMeasure) -> float:
            return float(np.mean(krein.predicted_error(m, near, 512) + (m.evaluate(near) - NTK().radial(near)) ** 2))

        assert error(focused) <= error(plain)

    @pytest.mark.parametrize("bad", [[], [np.nan], [-1.0], [np.inf, -np.inf]])
    def test_bad_distances(self, bad: list) -> None:
        with pytest.raises(ValueError, match="distances must be distances, finite numbers"):
            least(NTK(), 16, 1.2, n_components=100, distances=bad)


class TestAuto:
    def test_closed_form_without_a_radius(self) -> None:
        assert krein.signed_measure(Gaussian(1.0), 5).bias == 0.0

    def test_least_mass_where_the_data_are_close(self) -> None:
        m = krein.signed_measure(DeltaGaussian(1.0, 10.0), 16, 1.2, tol=1e-3)
        assert m.mass < 0.3
        assert m.head.degree == 1

    @pytest.mark.parametrize("kernel", [Laplacian(1.0), Cauchy(1.0)], ids=repr)
    def test_closed_form_where_the_data_are_far(self, kernel: Kernel) -> None:
        m = krein.signed_measure(kernel, 16, 300.0)
        assert m.mass == 1.0
        assert m.bias == 0.0

    def test_the_zero_kernel(self) -> None:
        for kernel in (0 * NTK(), 0 * Gaussian()):
            m = krein.signed_measure(kernel, 5, 1.0)
            assert m.mass == 0.0
            np.testing.assert_allclose(m.evaluate(np.linspace(0, 1, 5)), np.zeros(5), atol=1e-12)

    def test_euclidean_kernel_on_unit_vectors(self) -> None:
        m = krein.signed_measure(Multiquadric(1.0), 16, sphere=True)
        assert (m.radius, m.sphere) == (2.0, True)
        assert m.head_columns() == 17
        with pytest.raises(ValueError, match="at most 2"):
            krein.signed_measure(Multiquadric(1.0), 16, 2.5, sphere=True)


def _jump(z: np.ndarray) -> np.ndarray:
    return np.where(z < 0.5, 1.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((NTK(), 0, 1.0), ValueError, "dim must be at least 1, the number of columns"),
        ((NTK(), 1.5, 1.0), TypeError, "dim must be an integer, got 1.5"),
        ((NTK(), 16, 0.0), ValueError, "radius must be positive, got 0.0"),
        ((NTK(), 16, -1.0), ValueError, "radius must be positive"),
        ((NTK(), 16, np.nan), ValueError, "radius must be finite"),
        ((NTK(), 16, np.inf), ValueError, "radius must be finite"),
        ((NTK(), 16, 2.01), ValueError, "at most 2, got radius=2.01; use radius=2 or less"),
        ((NTK(), 16, "1"), TypeError, "radius must be a real number"),
        ((NTK(), 16, 1.0, "lp"), ValueError, "method must be one of 'auto', 'closed_form', 'fourier', 'least_mass'"),
        ((NTK(), 16, 1.0, "auto", 3), ValueError, r"head_degree must be at most 2 \(-1 is no head\), got 3"),
        ((NTK(), 16, 1.0, "auto", 1.0), TypeError, "head_degree must be an integer"),
        ((NTK(), 16, 1.0, "auto", "best"), ValueError, "head_degree must be"),
        *(((NTK(), 16, 1.0, "auto", 1, bad), ValueError, "tol must be positive") for bad in (0.0, -1e-3)),
        ((Gaussian(), 16, None, "auto", 1, np.nan), ValueError, "tol must be finite"),
        ((Gaussian(), 16, None, "auto", 1, True), TypeError, "tol must be a real number"),
        ((Gaussian(), 16, None, "auto", 1, "tight"), ValueError, "tol must be 'auto' or a positive number"),
        (("ntk", 16, 1.0), TypeError, r"must be a kernel such as krein\.kernels\.NTK\(\), got 'ntk'"),
        ((np.cos, 16, 1.0), TypeError, r"use krein\.kernels\.Radial\(function\)"),
        ((Multiquadric(), 16), ValueError, "set radius= to the largest distance between two rows"),
        ((Radial(lambda z: z * np.nan), 16, 1.0), ValueError, "NaN or infinity.*define its limit"),
        ((Radial(lambda z: 1 / np.where(z > 0, z, np.nan)), 16, 1.0), ValueError, "first at z = 0; define its limit"),
        ((Radial(lambda z: z + 1j), 16, 1.0), TypeError, "complex.*take .real"),
        ((Radial(lambda z: 1.0), 16, 1.0), ValueError, "one value per distance.*np.vectorize"),
        ((NTK, 16, 1.0), TypeError, r"kernel must be a kernel .*got <class .*NTK.*; use one of it, such as NTK\(\)"),
        (
            (Radial(_jump), 16, 1.0, "auto", 1, 1e-3),
            OutOfReachError,
            "comes within tol=0.001 .*larger tol, a smaller radius",
        ),
        (
            (Radial(_jump), 16, 1.0, "auto", 1, 1e-9),
            OutOfReachError,
            "comes within tol=1e-09 .*larger tol, a smaller radius",
        ),
    ],
)
def test_bad_input(arguments: tuple, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        krein.signed_measure(*arguments)


@pytest.mark.parametrize(("n", "error"), [(0, ValueError), (-5, ValueError), (10.5, TypeError), ("64", TypeError)])
def test_bad_width(n, error: type[Exception]) -> None:
    with pytest.raises(error, match="n_components must be"):
        krein.signed_measure(NTK(), 16, 1.0, n_components=n)


def test_a_jump_with_automatic_tolerance_says_what_it_did() -> None:
    m = krein.signed_measure(Radial(_jump), 16, 1.0)
    assert m.bias > 0.4
    assert "beyond use" in m.note
    z = dense(1.0)
    assert np.abs(m.evaluate(z) - _jump(z)).max() <= m.bias


def test_a_price_that_buys_no_mass_is_not_the_end_of_the_search():
    """Nearly all rows close together: at the first price the head alone is optimal, at lower ones the waves pay."""
    distances = np.concatenate([np.linspace(0.0, 0.2, 180), np.linspace(0.2, 1.2, 20)])
    kernel = SphericalPolynomial(2, 3)
    outlook = Outlook.of(kernel.radial, math.sqrt(2), distances, orthogonal=True)
    found = krein.signed_measure(
        kernel, 8, math.sqrt(2), head_degree=1, n_components=40, distances=distances, orthogonal=True
    )
    head_only = least_mass_for_width(Problem(kernel.radial, 8, math.sqrt(2), sphere=True), 0, 1, outlook)
    assert head_only.mass == 0.0
    assert found.mass > 0.0
    assert outlook.error(found, 15) < 0.6 * outlook.error(head_only, 15)


def test_a_head_without_room_beside_it_is_passed_over():
    """Five columns: the linear head takes all of them, and this tolerance needs a frequency."""
    m = krein.signed_measure(SphericalPolynomial(2, 3), 4, 1.4, head_degree="auto", tol=0.05, n_components=5)
    assert m.head_columns() + 2 <= 5
