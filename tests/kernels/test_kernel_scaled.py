"""k(z/s), in the same family where there is such a member."""

from __future__ import annotations

import numpy as np
import pytest

from catalog import KERNELS
from krein.kernels import (
    NTK,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    Radial,
    Scaled,
    Sum,
    ThinPlate,
    parse_kernel,
)

ON_SPACE = [k for k in KERNELS if k.domain == "euclidean"]
Z = np.array([0.0, 1e-7, 0.3, 1.0, 2.0, 7.5])


@pytest.mark.parametrize("factor", [0.25, 3.0, 7.0])
@pytest.mark.parametrize("kernel", ON_SPACE, ids=repr)
def test_is_the_kernel_of_scaled_distances(kernel: Kernel, factor: float) -> None:
    scaled, expected = kernel.scaled(factor), kernel.radial(Z / factor)
    np.testing.assert_allclose(scaled.radial(Z), expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    back = scaled.scaled(1 / factor)
    np.testing.assert_allclose(
        back.radial(Z), kernel.radial(Z), rtol=1e-11, atol=1e-12 * np.abs(kernel.radial(Z)).max()
    )
    assert scaled.domain == kernel.domain
    if kernel.length_scale is None:
        assert scaled.length_scale is None
    else:
        assert scaled.length_scale == pytest.approx(factor * kernel.length_scale, rel=1e-14)
    if "Radial" not in repr(kernel):
        assert parse_kernel(repr(scaled)) == scaled
    assert kernel.scaled(1.0) is kernel
    assert scaled.facts.bounded == kernel.facts.bounded


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.domain == "sphere"], ids=repr)
def test_a_chord_has_no_scale(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match="a chord has no scale"):
        kernel.scaled(2.0)
    with pytest.raises(ValueError, match="a chord of the sphere has no scale"):
        Scaled(kernel, 2.0)


def test_families() -> None:
    assert Gaussian(2.0).scaled(3) == Gaussian(6.0)
    assert Laplacian(2.0).scaled(3) == Laplacian(6.0)
    assert Matern(2.0, 0.7).scaled(3) == Matern(6.0, 0.7)
    assert Cauchy(2.0).scaled(3) == Cauchy(6.0)
    assert DeltaGaussian(2.0, 5.0).scaled(3) == DeltaGaussian(6.0, 15.0)
    assert Log(2.0).scaled(3) == Log(6.0)
    assert Multiquadric(2.0).scaled(4) == 0.25 * Multiquadric(8.0)
    assert (2 * Gaussian(1.0) - Cauchy(2.0)).scaled(2) == 2 * Gaussian(2.0) - Cauchy(4.0)
    assert (Cauchy(1.0) * Gaussian(2.0)).scaled(2) == Cauchy(2.0) * Gaussian(4.0)
    assert ThinPlate().scaled(2.0) == Scaled(ThinPlate(), 2.0)
    assert ThinPlate().scaled(2.0).scaled(3.0) == ThinPlate().scaled(6.0)
    assert ThinPlate().scaled(2.0).scaled(0.5) == ThinPlate()
    assert isinstance((ThinPlate() - Log(2.0)).scaled(2.0), Sum)


def test_scaled_rows_are_the_same(rng: np.random.Generator) -> None:
    X = rng.standard_normal((9, 3))
    for kernel in (Radial(np.cos), ThinPlate(), Gaussian(1.0) * Cauchy(2.0)):
        np.testing.assert_allclose(kernel.scaled(2.5)(X), kernel(X / 2.5), atol=1e-12)


def test_positive_on_larger_spheres_is_positive_on_smaller_ones() -> None:
    """Only a kernel of the user's can say so."""

    class Declared(Kernel):
        domain = "euclidean"
        facts = Gaussian().facts

        def radial(self, z):
            return np.exp(-np.asarray(z))

        def __repr__(self) -> str:
            return "Declared()"

    assert Declared().scaled(2.0).facts.positive_on_spheres
    assert Declared().scaled(0.5).facts.positive_on_spheres is None
    assert Declared().get_params() == {}


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, 10**400])
def test_factors_are_positive_and_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="factor must be"):
        Gaussian().scaled(bad)


def test_what_is_no_scaled_kernel() -> None:
    with pytest.raises(TypeError, match="factor must be a real number"):
        Gaussian().scaled("2")
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        Scaled("thin-plate", 2.0)
    with pytest.raises(ValueError, match="is defined on the unit sphere"):
        (Gaussian() - NTK()).scaled(2.0)
    with pytest.raises(ValueError, match="scale must be finite"):
        Gaussian(1e300).scaled(1e300)
