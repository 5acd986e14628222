"""Every kernel at 0, at the least positive number, and at distances near the end of the floating range."""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

from catalog import KERNELS, _exact
from krein.kernels import (
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
    ThinPlate,
)

DISTANCES = [0.0, 5e-324, 1e-160, 1e-8, 1.0, 1e3, 1e8, 1e10, 1e70]
EXTREME = [
    Matern(0.1, 1.0),
    Matern(1.0, 0.3),
    Matern(1.0, 0.9999999),
    Gaussian(1e-6),
    Gaussian(1e100),
    DeltaGaussian(1e-3, 1e9),
    ThinPlate() * Cauchy(3.0),
    ThinPlate().scaled(0.1) * Gaussian(1.0),
    ThinPlate() - ThinPlate().scaled(2.0),
    Cauchy(1.0) * Cauchy(1.0) * Multiquadric(1.0) * Multiquadric(2.0),
    0 * ThinPlate(),
]


@pytest.mark.parametrize("kernel", [*KERNELS, *EXTREME], ids=repr)
def test_a_value_or_a_limit_and_never_nan(kernel: Kernel) -> None:
    """The formula in 60 digits; beyond the floating range it rounds to infinity, as the kernel does."""
    distances = [z for z in DISTANCES if z <= 2.0 or kernel.domain == "euclidean"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = kernel.radial(np.array(distances))
        alone = [float(kernel.radial(z)) for z in distances]
    assert not np.isnan(values).any()
    with mp.workdps(60):
        expected = np.array([float(_exact(kernel, mp.mpf(z))) for z in distances])
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(alone, expected, rtol=1e-11, atol=1e-12)


def test_matern_of_large_smoothness_is_gaussian() -> None:
    """log M = −t²/2 + (t⁴/8 − t²/2)/ν + O(ν⁻²), so the difference is at most 2/ν."""
    z = np.array([0.0, 1e-300, 1e-8, 0.3, 1.0, 3.0, 10.0, 1e8])
    np.testing.assert_allclose(Matern(1.0, 1e4).radial(z), Gaussian(1.0).radial(z), rtol=0, atol=2e-4)
    for wrong in (0.01, 1e5):
        with pytest.raises(ValueError, match=r"nu must be between 0\.05 and 10,000"):
            Matern(3.0, wrong)


@pytest.mark.parametrize("nu", [200.3, 999.999, 1000.001])
def test_matern_of_large_order(nu: float) -> None:
    """Terms of the size ν log ν cancel in the logarithm: some roundings of them are left."""
    z = np.array([0.01, 0.5, 1.0, 2.0, 5.0, 20.0])
    with mp.workdps(400):  # mpmath takes K as a difference of two huge numbers, and needs long for integer orders
        expected = [float(_exact(Matern(1.0, nu), mp.mpf(x))) for x in z]
    np.testing.assert_allclose(Matern(1.0, nu).radial(z), expected, rtol=0, atol=8 * nu * np.log(nu) * 2.0**-52)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e100, 1e150, 1e200, 1e307])
@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, Radial)], ids=repr)
def test_gram_matrices_are_finite_or_refused_with_the_row(kernel: Kernel, size: float) -> None:
    X = size * np.array([[1.0, 0.5], [-1.0, 0.25], [0.5, -1.0]])
    for other in (None, X[::-1].copy()):
        finite = np.isfinite(kernel.gram(kernel.place(X), other if other is None else kernel.place(other))).all()
        if finite:
            assert np.isfinite(kernel(X, other)).all()
        else:
            assert size > 1e100
            with pytest.raises(ValueError, match="leaves the range of float64 between row"):
                kernel(X, other)


def test_what_is_too_large_for_float32_is_refused() -> None:
    X = np.array([[0.0], [1e18], [2e20]], dtype=np.float32)
    with pytest.raises(
        ValueError, match=r"leaves the range of float32 between row 0 of X and row 2 of X; scale the data"
    ):
        ThinPlate()(X)
    with pytest.raises(ValueError, match="between row 0 of X and row 0 of Y"):
        ThinPlate()(X[:1], X[2:])
    assert np.isfinite(ThinPlate()(X.astype(np.float64))).all()


@pytest.mark.parametrize(
    "make",
    [
        *(Gaussian, Laplacian, Matern, Cauchy, Multiquadric, Log, GeodesicGaussian),
        lambda value: Matern(1.0, value),
        lambda value: DeltaGaussian(1.0, value),
        lambda value: Sigmoid(value),
        lambda value: Sigmoid(1.0, value),
        lambda value: value * Gaussian(),
        lambda value: Gaussian() / value,
    ],
)
def test_integers_beyond_the_floating_range(make) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        make(10**400)


def test_equal_scales_are_refused() -> None:
    with pytest.raises(ValueError, match=r"needs a < b, got a=2\.0 and b=2\.0; equal ones cancel"):
        DeltaGaussian(2, 2)
    assert DeltaGaussian(2, 4.0).b == 4.0
