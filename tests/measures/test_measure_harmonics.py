"""Ω_d against forty digits, from the first dimension to the ten-thousandth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from helpers import omega_reference
from krein.measures import omega

DIMS = [1, 2, 3, 4, 5, 7, 16, 33, 54, 123, 255, 784, 1000, 2047, 5000, 9999, 10_000]
FIXED = [0.0, 1e-150, 1e-8, 1e-3, 0.3, 1.0, 4.5, 10.0, 63.7, 101.3, 250.0, 640.0, 999.0]
LARGE = [1234.5, 1e4, 99_999.9, 1e6]


@pytest.mark.parametrize("dim", DIMS)
def test_accurate_to_ten_digits(dim: int) -> None:
    near = np.sqrt(dim) * np.array([0.1, 0.7, 1.5, 3.0, 6.0, 9.0])  # where Ω_d falls from 1 to 0 in high dimension
    t = np.unique(np.concatenate([FIXED, near, LARGE, [dim / 2 - 1.0, dim / 2 + 1.0]]))
    t = t[t >= 0]
    expected = np.array([omega_reference(dim, float(v)) for v in t])
    np.testing.assert_allclose(omega(dim, t), expected, rtol=0, atol=1e-13 if dim != 2 else 1e-12)


@pytest.mark.parametrize("dim", [4, 16, 123, 784])
def test_no_seam_where_the_formula_changes(dim: int) -> None:
    """The quadrature and the Bessel form on a fine grid through all of their common range: no jump beyond the slope's."""
    t = np.linspace(0.0, 900.0, 60_001)
    step = np.diff(omega(dim, t))
    assert np.abs(step).max() <= (t[1] - t[0]) * 1.0 / np.sqrt(dim) + 1e-12
    assert np.abs(np.diff(step)).max() <= (t[1] - t[0]) ** 2 / dim * 1.05 + 1e-12


@pytest.mark.parametrize(("dim", "closed"), [(1, np.cos), (2, special.j0), (3, lambda t: np.sin(t) / t)])
def test_low_dimensions_are_elementary(dim: int, closed) -> None:
    t = np.geomspace(1e-3, 1e3, 50)
    np.testing.assert_allclose(omega(dim, t), closed(t), atol=1e-13)


def test_average_of_a_cosine_over_directions(rng: np.random.Generator) -> None:
    """What Ω_d is: the mean of cos(t·u₁) for u uniform on the sphere."""
    for dim in (2, 5, 40):
        u = rng.standard_normal((60_000, dim))
        first = u[:, 0] / np.linalg.norm(u, axis=1)
        t = np.array([0.5, 2.0, 7.0])
        mean = np.cos(np.multiply.outer(t, first)).mean(axis=1)
        tol = np.sqrt(2 * np.log(2 * 9 / 1e-6) / 60_000)
        np.testing.assert_allclose(mean, omega(dim, t), atol=tol)
        assert np.abs(omega(dim + 1, t) - omega(dim, t)).max() > tol or dim == 40  # one dimension off would be seen


def test_shape_and_bounds() -> None:
    for dim in (1, 2, 3, 5, 17, 400):
        t = np.linspace(0, 50, 24).reshape(2, 3, 4)
        values = omega(dim, t)
        assert values.shape == t.shape
        assert np.abs(values).max() <= 1.0
        assert np.ndim(omega(dim, 2.0)) == 0
        assert float(omega(dim, 0.0)) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_array_equal(omega(dim, -t), values)
        assert omega(dim, []).shape == (0,)


@pytest.mark.parametrize("dim", [0, -3])
def test_dimension_below_one(dim: int) -> None:
    with pytest.raises(ValueError, match="dim must be at least 1, the number of columns"):
        omega(dim, 1.0)


@pytest.mark.parametrize("dim", [1.5, 2.0, "3", None, True])
def test_dimension_that_is_no_integer(dim) -> None:
    with pytest.raises(TypeError, match="dim must be an integer, got"):
        omega(dim, 1.0)
