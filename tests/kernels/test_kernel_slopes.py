"""k'(z)/z of every kernel against 40 digits of mpmath's derivative of its formula."""

from __future__ import annotations

import numpy as np
import pytest

from catalog import KERNELS, exact_slope
from krein.kernels import NTK, ArcCosine, Gaussian, Kernel, Laplacian, Matern, Radial, Sum, ThinPlate

GRID = [1e-6, 1e-3, 0.03, 0.4, 1.0, 1.41421356, 1.7, 1.99]


@pytest.mark.parametrize("kernel", [*KERNELS, Matern(1.0, 1.0), Matern(1.0, 0.05), Matern(1.0, 150.0)], ids=repr)
def test_slope_is_the_derivative_over_the_distance(kernel: Kernel) -> None:
    grid = GRID if kernel.domain == "sphere" else [*GRID, 5.0, 17.3]
    got = kernel.radial_slope(np.array(grid))
    expected = np.array([exact_slope(kernel, z) for z in grid])
    # values near 1 are rounded to 1e-16, and the step is 6e-6 · 1e-6
    digits = 1e-4 if _by_differences(kernel) else 1e-10
    np.testing.assert_allclose(got, expected, rtol=digits, atol=1e-12 * np.abs(expected[2:]).max())


def _by_differences(kernel: Kernel) -> bool:
    return "Radial" in repr(kernel)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slope_is_finite_wherever_a_distance_can_be(kernel: Kernel) -> None:
    far = [2.0] if kernel.domain == "sphere" else [1e3, 1e8]
    got = kernel.radial_slope(np.array([[0.0, 1e-300, 1e-160, *far]]))
    assert got.shape == (1, 3 + len(far))
    assert got.dtype == np.float64
    assert np.isfinite(got).all()


@pytest.mark.parametrize(
    "kernel", [Laplacian(0.7), Matern(1.0, 0.5), Matern(1.0, 1.0), ThinPlate(), ArcCosine(0), NTK(2)]
)
def test_a_kink_at_the_origin_leaves_the_pair_out(kernel: Kernel) -> None:
    assert float(kernel.radial_slope(0.0)) == 0.0


def test_a_smooth_kernel_has_its_curvature_at_the_origin() -> None:
    assert float(Gaussian(2.0).radial_slope(0.0)) == -0.25
    assert float(Matern(2.0, 1.5).radial_slope(0.0)) == pytest.approx(-0.75, rel=1e-14)


def test_gradient_of_a_gram_row() -> None:
    """∇ₓ k(‖x − y‖) = k'(z)/z · (x − y), by differences of the kernel itself."""
    rng = np.random.default_rng(0)
    x, Y = rng.normal(size=3), rng.normal(size=(5, 3))
    kernel = 2.0 * Gaussian(1.0) - Matern(0.8, 2.5)
    assert isinstance(kernel, Sum)
    gradient = kernel.radial_slope(np.linalg.norm(x - Y, axis=1))[:, None] * (x - Y)
    for j, axis in enumerate(1e-6 * np.eye(3)):
        difference = (kernel([x + axis], Y) - kernel([x - axis], Y))[0] / 2e-6
        np.testing.assert_allclose(gradient[:, j], difference, atol=1e-9)


def test_a_function_of_the_users() -> None:
    z = np.linspace(0.1, 4.0, 9)
    np.testing.assert_allclose(Radial(np.cos).radial_slope(z), -np.sin(z) / z, rtol=1e-8, atol=1e-9)
