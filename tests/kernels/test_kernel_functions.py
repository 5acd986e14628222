"""k(z) of every kernel against its formula in 40 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import KERNELS, NAMED, reference
from krein.kernels import (
    NAMED_KERNELS,
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
    Sigmoid,
    SphericalPolynomial,
    ThinPlate,
)

GRID = [0.0, 1e-9, 1e-4, 0.03, 0.4, 1.0, 1.41421356, 1.7, 1.99, 2.0 - 1e-5, 2.0]


@pytest.mark.parametrize("kernel", [*KERNELS, Matern(1.0, 150.0), Matern(0.5, 0.06)], ids=repr)
def test_radial_is_the_formula(kernel: Kernel) -> None:
    grid = GRID if kernel.domain == "sphere" else [*GRID, 5.0, 17.3]
    got = kernel.radial(np.array(grid))
    expected = np.array([reference(kernel, z) for z in grid])
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=4e-13 * scale)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_radial_keeps_shape_and_takes_lists_and_numbers(kernel: Kernel) -> None:
    z = np.linspace(0, 2, 6).reshape(2, 3)
    assert kernel.radial(z).shape == (2, 3)
    assert kernel.radial([0.0, 1.0]).shape == (2,)
    assert np.ndim(kernel.radial(1.0)) == 0
    assert kernel.radial(np.float32(1.0)).dtype == np.float64


def test_every_named_kernel_is_listed() -> None:
    assert {type(k) for k in NAMED} == set(NAMED_KERNELS.values())


@pytest.mark.parametrize("depth", [1, 2, 5, 12])
@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-8, 1e-3])
def test_ntk_keeps_its_digits_at_both_ends(depth: int, gap: float) -> None:
    """κ₀ and κ₁ cancel at the pole and at the antipode; 40 digits of mpmath do not."""
    kernel = NTK(depth)
    for z in (gap, 2.0 - gap):
        with mp.workdps(40):
            chord = mp.mpf(z)
            assert float(kernel.radial(z)) == pytest.approx(reference(kernel, float(chord)), rel=0, abs=1e-13)


def test_ntk_depth_one_is_the_formula_of_the_paper() -> None:
    z = np.linspace(0, 2, 101)
    printed = ((2 - z**2) * np.arccos(z**2 / 2 - 1) + z / 2 * np.sqrt(4 - z**2)) / np.pi
    np.testing.assert_allclose(NTK().radial(z), printed, atol=1e-13)
    u = 1 - z * z / 2
    np.testing.assert_allclose(u * ArcCosine(0).radial(z) + ArcCosine(1).radial(z), printed, atol=1e-13)
    assert float(NTK().radial(0.0)) == 2.0


def test_ntk_at_zero_counts_its_layers() -> None:
    assert [float(NTK(depth).radial(0.0)) for depth in (1, 2, 3, 7)] == [2.0, 3.0, 4.0, 8.0]


def test_arc_cosine_is_the_expectation_it_stands_for() -> None:
    """κ_n = 2E[(w·x)_+^n (w·y)_+^n], an integral over the angle of w in the plane of x and y, by quadrature."""
    angles = (np.arange(400_000) + 0.5) * (2 * np.pi / 400_000)
    for theta in (0.0, 0.3, 1.2, 2.5, np.pi):
        z = 2 * np.sin(theta / 2)
        a, b = np.cos(angles), np.cos(angles - theta)
        both = (a > 0) & (b > 0)
        assert float(ArcCosine(0).radial(z)) == pytest.approx(2 * both.mean(), abs=2e-5)
        # E‖w‖² = 2 in the plane, and κ₁(0) = 1 fixes the constant.
        assert float(ArcCosine(1).radial(z)) == pytest.approx(4 * (a * b * both).mean(), abs=2e-5)


def test_the_whole_first_order_arc_cosine_kernel_not_the_printed_half() -> None:
    z = np.linspace(0.01, 1.99, 50)
    printed = z * np.sqrt(4 - z**2) / (2 * np.pi)  # Appendix E.2
    missing = (1 - z**2 / 2) * np.arccos(z**2 / 2 - 1) / np.pi
    np.testing.assert_allclose(ArcCosine(1).radial(z), printed + missing, atol=1e-13)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.domain == "sphere"], ids=repr)
def test_distances_beyond_the_sphere_are_refused_or_were_rounding(kernel: Kernel) -> None:
    if "Radial" in repr(kernel):
        pytest.skip("a function of the user's is taken at its word")
    np.testing.assert_allclose(kernel.radial(2.0 + 1e-12), kernel.radial(2.0), rtol=1e-11)
    with pytest.raises(ValueError, match=r"at most 2.*unit length"):
        kernel.radial([0.5, 2.1])


@given(a=st.floats(0.01, 50.0), ratio=st.floats(1.0001, 100.0), z=st.floats(0.0, 100.0))
def test_delta_gaussian_is_the_difference(a: float, ratio: float, z: float) -> None:
    b = a * ratio
    got, zero = float(DeltaGaussian(a, b).radial(z)), float(DeltaGaussian(a, b).radial(0.0))
    assert got == pytest.approx(float(Gaussian(a).radial(z)) - float(Gaussian(b).radial(z)), abs=1e-14)
    assert got <= 0.0
    assert zero == 0.0


@given(nu=st.floats(0.05, 300.0), z=st.floats(0.0, 30.0), scale=st.floats(0.1, 10.0))
def test_matern_falls_from_one_whatever_its_smoothness(nu: float, z: float, scale: float) -> None:
    kernel = Matern(scale, nu)
    near, far = kernel.radial([z, z + 0.5])
    assert float(kernel.radial(0.0)) == 1.0
    assert 0.0 <= far <= near + 1e-12
    assert near <= 1.0


def test_matern_of_large_smoothness_is_nearly_gaussian() -> None:
    z = np.linspace(0, 4, 40)
    np.testing.assert_allclose(Matern(1.0, 2000.0).radial(z), Gaussian(1.0).radial(z), atol=1e-3)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Gaussian(0), ValueError, "scale must be positive"),
        (lambda: Gaussian(-1.0), ValueError, "scale must be positive"),
        (lambda: Gaussian(np.nan), ValueError, "scale must be finite"),
        (lambda: Gaussian("1"), TypeError, "scale must be a real number"),
        (lambda: Gaussian(True), TypeError, "scale must be a real number"),
        (lambda: Laplacian(np.inf), ValueError, "scale must be finite"),
        (lambda: Matern(1.0, 0.0), ValueError, "nu must be positive"),
        (lambda: Cauchy(None), TypeError, "scale must be a real number"),
        (lambda: DeltaGaussian(2.0, 1.0), ValueError, r"needs a < b.*-DeltaGaussian\(1.0, 2.0\)"),
        (lambda: DeltaGaussian(1.0, 1.0), ValueError, "needs a < b"),
        (lambda: SphericalPolynomial(1.9, 2), ValueError, "a must be at least 2.*use a=2"),
        (lambda: SphericalPolynomial(2, 0), ValueError, "p must be at least 1"),
        (lambda: SphericalPolynomial(2, 1.5), TypeError, "p must be an integer"),
        (lambda: SphericalPolynomial(2, True), TypeError, "p must be an integer"),
        (lambda: ArcCosine(2), ValueError, "order must be at most 1"),
        (lambda: ArcCosine(-1), ValueError, "order must be at least 0"),
        (lambda: ArcCosine(1.0), TypeError, "order must be an integer"),
        (lambda: NTK(0), ValueError, "depth must be at least 1"),
        (lambda: NTK(2.0), TypeError, "depth must be an integer"),
        (lambda: NTK(normalize="no"), TypeError, "normalize must be True or False"),
        (lambda: Sigmoid(0.0, 1.0), ValueError, "a must not be 0.*use a=1"),
        (lambda: Sigmoid(1.0, np.inf), ValueError, "b must be finite"),
        (lambda: GeodesicGaussian(0.0), ValueError, "scale must be positive"),
        (lambda: Multiquadric(0.0), ValueError, "c must be positive"),
        (lambda: Log(-2.0), ValueError, "c must be positive"),
        (lambda: ThinPlate(1.0), TypeError, "positional"),
    ],
)
def test_bad_parameters(make, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
