"""Products: their algebra, their values, and the facts they declare, checked in many digits."""

from __future__ import annotations

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import krein
from catalog import KERNELS, POSITIVE, _exact
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
    Product,
    Radial,
    Sigmoid,
    SphericalPolynomial,
    Sum,
    ThinPlate,
    parse_kernel,
)

Z = np.linspace(0.0, 2.0, 41)
kernels = st.sampled_from([k for k in KERNELS if not isinstance(k, Radial)])


@given(first=kernels, second=kernels, third=kernels)
def test_products_are_pointwise_and_distribute(first: Kernel, second: Kernel, third: Kernel) -> None:
    values = [k.radial(Z) for k in (first, second, third)]
    size = max(1.0, *(np.abs(v).max() for v in values)) ** 3
    for got, expected in (
        (first * second, values[0] * values[1]),
        ((first + second) * third, (values[0] + values[1]) * values[2]),
        (third * (first - 2 * second), (values[0] - 2 * values[1]) * values[2]),
        (first * second * third, values[0] * values[1] * values[2]),
    ):
        np.testing.assert_allclose(got.radial(Z), expected, rtol=0, atol=1e-10 * size)
        assert not any(isinstance(part, Sum) for _, part in got.terms())
        assert not any(isinstance(f, Product | Sum) for _, k in got.terms() if isinstance(k, Product) for f in k.parts)


@given(first=kernels, second=kernels)
def test_order_does_not_count(first: Kernel, second: Kernel) -> None:
    left, right = first * second, second * first
    if not (isinstance(first, Sum) or isinstance(second, Sum)):  # sums of rounded coefficients may differ by a bit
        assert left == right
        assert hash(left) == hash(right)
    assert pickle.loads(pickle.dumps(left)) == left  # noqa: S301  # our own bytes
    if "Radial" not in repr(left):
        assert parse_kernel(repr(left)) == left


def test_identities() -> None:
    g, c, m = Gaussian(1.0), Cauchy(2.0), Multiquadric(1.0)
    assert repr(g * c) == "Gaussian(scale=1.0) * Cauchy(scale=2.0)"
    assert repr(-2 * g * c + m) == "-2.0 * Gaussian(scale=1.0) * Cauchy(scale=2.0) + Multiquadric(c=1.0)"
    assert (g * c) * m == g * (c * m) == m * c * g
    assert (2 * g) * (3 * c) == 6 * (g * c)
    assert g * c != g * Cauchy(3.0)
    assert c * c != c
    assert c * c * m != c * m * m
    assert len({c * m, m * c, c * c * m}) == 2
    assert (g - g) * c == 0 * (g * c)
    assert ((NTK() - NTK()) * g).domain == "sphere"
    assert c * (g + m) - c * g == c * m
    assert (g * NTK()).domain == "sphere"
    assert (g * NTK()).scales_rows
    assert not (g * NTK(normalize=False)).scales_rows
    assert np.float64(2) * (g * c) == (g * c) * 2


def test_families_that_stay_families() -> None:
    assert (Gaussian(3.0) * Gaussian(4.0)).get_params() == pytest.approx({"scale": 2.4})
    assert (Gaussian(1e200) * Gaussian(1e200)).get_params() == pytest.approx({"scale": 1e200 / math.sqrt(2)})
    assert Gaussian(1e-300) * Cauchy(1.0) * Gaussian(1e300) == Gaussian(1e-300) * Cauchy(1.0)
    assert Laplacian(3.0) * Laplacian(6.0) == Laplacian(2.0)
    assert SphericalPolynomial(2, 3) * SphericalPolynomial(2, 4) == SphericalPolynomial(2, 7)
    assert isinstance(SphericalPolynomial(2, 3) * SphericalPolynomial(3, 4), Product)
    assert isinstance(SphericalPolynomial(2, 9000) * SphericalPolynomial(2, 9000), Product)
    product = DeltaGaussian(3.0, 4.0) * Gaussian(4.0)
    assert [c for c, _ in product.terms()] == [1.0, -1.0]
    assert [k.length_scale for _, k in product.terms()] == pytest.approx([2.4, math.sqrt(8.0)])
    assert product.terms()[0][1].radius_law(3) is not None
    assert (Gaussian(1.0) * Cauchy(1.0)).radius_law(3) is None


def test_what_is_no_product() -> None:
    with pytest.raises(ValueError, match="at least two kernels"):
        Product((Gaussian(1.0),))
    with pytest.raises(ValueError, match="at least two kernels"):
        Product((Gaussian(1.0), Gaussian(2.0)))
    for bad in ("gaussian", 2.0, Gaussian() - Cauchy()):
        with pytest.raises(TypeError, match="kernels that are not sums"):
            Product((Gaussian(1.0), bad))
    with pytest.raises(ValueError, match="a sum of one kernel is that kernel"):
        Sum(((1.0, Gaussian()),))


def test_products_of_sums_stay_small() -> None:
    many: Kernel = Log(1.0)
    for i in range(2, 34):
        many = many + Log(float(i))
    with pytest.raises(ValueError, match=r"1089 terms, more than 1024.*Radial"):
        many * many
    power: Kernel = Cauchy(1.0)
    for _ in range(63):
        power = power * Cauchy(1.0)
    with pytest.raises(ValueError, match="at most 64 factors"):
        power * Cauchy(1.0)
    binomial: Kernel = Log(1.0) + Cauchy(1.0)
    for _ in range(20):  # equal terms are collected
        binomial = binomial * (Log(1.0) + Cauchy(1.0))
    assert len(binomial.terms()) == 22


def test_length_scales() -> None:
    assert (Gaussian(3.0) * Gaussian(4.0)).length_scale == pytest.approx(2.4)
    assert (Cauchy(3.0) * Gaussian(4.0)).length_scale == pytest.approx(2.4)
    assert (2 * Cauchy(3.0) - Gaussian(4.0)).length_scale == 3.0
    assert DeltaGaussian(2.0, 3.0).length_scale == 2.0
    assert (Multiquadric(5.0).length_scale, Log(6.0).length_scale, Matern(7.0).length_scale) == (5.0, 6.0, 7.0)
    for none in (
        ThinPlate(),
        NTK(),
        GeodesicGaussian(2.0),
        Gaussian() * ThinPlate(),
        Gaussian() + NTK(),
        0 * Gaussian(),
    ):
        assert none.length_scale is None


def test_the_example_of_the_design_has_a_measure() -> None:
    kernel = Gaussian(1.0) * Cauchy(2.0)
    found = krein.diagnose(kernel, dim=3)
    assert found.positive_on_sphere
    assert found.finite
    measure = krein.signed_measure(kernel, 3, radius=2.0)
    np.testing.assert_allclose(measure.evaluate(Z), kernel.radial(Z), atol=5e-3)


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_positive_products_are_positive(kernel: Kernel, rng: np.random.Generator) -> None:
    """Schur: the least eigenvalue of a Gram matrix is not below 0 by more than rounding."""
    X = rng.standard_normal((60, 4))
    gram = kernel(X / np.linalg.norm(X, axis=1, keepdims=True))
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-12 * values[-1] * len(X)
    assert kernel.facts.positive_on_spheres


@pytest.mark.parametrize(
    ("kernel", "bounded"),
    [
        (Gaussian() * Cauchy(), True),
        (Multiquadric() * Gaussian(), True),
        (Multiquadric() * Log(), False),
        (ThinPlate() * ThinPlate(), False),
        (Multiquadric() - Gaussian() * Multiquadric(), False),
    ],
    ids=repr,
)
def test_what_grows(kernel: Kernel, bounded: bool) -> None:
    assert kernel.facts.bounded == bounded
    far = np.abs(kernel.radial(np.geomspace(1e2, 1e6, 9)))
    assert bounded == bool((np.diff(far) <= 0).all())


ON_SPHERE = [
    ArcCosine(0) * SphericalPolynomial(2, 2),
    NTK() * Gaussian(1.5),
    GeodesicGaussian(1.0) * SphericalPolynomial(2, 3),
    Sigmoid(2.0, 2.0) * ArcCosine(0),
    SphericalPolynomial(2.5, 2) * ArcCosine(1),
    NTK(2) * Laplacian(1.0) * Sigmoid(1.0, -0.5),
    ArcCosine(0) * ArcCosine(0),
    ArcCosine(1) * NTK(),
    SphericalPolynomial(2.0, 2) * SphericalPolynomial(2.5, 3),
]


@pytest.mark.parametrize("kernel", ON_SPHERE, ids=repr)
def test_what_happens_at_the_edge(kernel: Kernel) -> None:
    """With t = √(2−z) every kernel here is a power series in t: its first power, and its first odd one, are twice the exponents."""
    coefficients = _series_in_root(kernel, 14)
    first = next(i for i, c in enumerate(coefficients) if abs(c) > 1e-12)
    odd = next((i for i, c in enumerate(coefficients) if i % 2 and abs(c) > 1e-12), math.inf)
    assert kernel.facts.edge_exponent == first / 2
    assert kernel.facts.edge_smoothness in (odd / 2, None)
    rough = [k for k in kernel.parts if math.isfinite(k.facts.edge_smoothness)]
    assert (kernel.facts.edge_smoothness is None) == (len(rough) > 1)


def _series_in_root(kernel: Kernel, n: int) -> list[float]:
    with mp.workdps(120):
        nodes = [mp.mpf(j) / 10**4 for j in range(1, 2 * n + 1)]
        matrix = mp.matrix([[t**i for i in range(2 * n)] for t in nodes])
        values = mp.matrix([_exact(kernel, 2 - t**2) for t in nodes])
        return [float(c) for c in mp.lu_solve(matrix, values)[:n]]


def test_edges_that_are_not_known() -> None:
    assert (Radial(np.cos, "sphere") * NTK()).facts.edge_exponent is None
    assert (Radial(np.cos) * NTK()).facts.edge_exponent is None
    assert (Gaussian(1e-3) * NTK()).facts.edge_exponent is None  # it underflows to 0 at z = 2
    assert (Gaussian() * Cauchy()).facts.edge_exponent is None  # no edge on all of space
    assert (Gaussian() * Cauchy()).facts.edge_smoothness == math.inf
