"""Sums and signed multiples, equality, hashing, names."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import KERNELS, NAMED
from krein.kernels import (
    NAMED_KERNELS,
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    Kernel,
    Laplacian,
    Multiquadric,
    Radial,
    SphericalPolynomial,
    Sum,
    ThinPlate,
    kernel_name,
    parse_kernel,
)

Z = np.linspace(0.0, 2.0, 41)
coefficients = st.floats(-1e3, 1e3).filter(lambda c: abs(c) > 1e-3)
kernels = st.sampled_from([k for k in KERNELS if not isinstance(k, Radial)])


@given(a=coefficients, b=coefficients, first=kernels, second=kernels)
def test_signed_sums_are_pointwise(a: float, b: float, first: Kernel, second: Kernel) -> None:
    combined = a * first - second * b
    expected = a * first.radial(Z) - b * second.radial(Z)
    np.testing.assert_allclose(combined.radial(Z), expected, atol=1e-9 * (abs(a) + abs(b)))
    assert combined.domain == ("sphere" if "sphere" in (first.domain, second.domain) else "euclidean") or (
        first == second or isinstance(first, Sum) or isinstance(second, Sum)  # terms may cancel
    )


@given(a=coefficients, b=coefficients, c=coefficients, first=kernels, second=kernels)
def test_sums_are_flat_and_equal_terms_are_collected(a, b, c, first: Kernel, second: Kernel) -> None:
    nested = a * (b * first + second) - c * (first - (second + first))
    for _, part in nested.terms():
        assert not isinstance(part, Sum)
    parts = [part for _, part in nested.terms()]
    assert len(parts) == len(set(parts))
    expected = (a * b) * first.radial(Z) + (a + c) * second.radial(Z)
    np.testing.assert_allclose(nested.radial(Z), expected, atol=1e-8 * (abs(a * b) + abs(a) + abs(c)))


def test_simple_identities() -> None:
    g, h = Gaussian(1.0), Laplacian(2.0)
    assert g + h == h + g
    assert hash(g + h) == hash(h + g)
    assert g + h != g - h
    assert g - (-h) == g + h
    minus = -g
    assert -minus == g
    assert 2 * g == g + g == g * 2 == g * np.float64(2) == np.int64(2) * g == Fraction(2) * g
    assert (3 * g) / 3 == g
    assert g * 1 is g
    assert +1.0 * (g - h) == g - h
    assert (g + h) - h == g
    assert (NTK() + g) - NTK() == g
    assert Gaussian(1) == Gaussian(1.0)
    assert Gaussian(1.0) != Laplacian(1.0)
    assert len({g, Gaussian(1.0), Gaussian(2.0), g + h, h + g}) == 3


def test_what_cancels_is_the_zero_kernel() -> None:
    zero = NTK() - NTK()
    np.testing.assert_array_equal(zero.radial(Z), np.zeros_like(Z))
    assert zero.domain == "sphere"
    assert 0 * Gaussian() == Gaussian() - Gaussian()
    np.testing.assert_array_equal(zero([[1.0, 0.0], [0.0, 1.0]]), np.zeros((2, 2)))


def test_delta_gaussian_is_two_gaussians_to_the_algebra() -> None:
    assert DeltaGaussian(1.0, 3.0) + Gaussian(3.0) == Gaussian(1.0)
    assert -DeltaGaussian(1.0, 3.0) == Gaussian(3.0) - Gaussian(1.0)


def test_the_sphere_wins_over_space_in_a_sum() -> None:
    mixed = Gaussian(1.0) - NTK()
    assert mixed.domain == "sphere"
    assert mixed.scales_rows
    X = np.array([[3.0, 0.0], [0.0, 5.0]])
    unit = np.eye(2)
    np.testing.assert_allclose(mixed(X), Gaussian(1.0)(unit) - NTK()(unit), atol=1e-12)
    strict = Gaussian(1.0) - NTK(normalize=False)
    with pytest.raises(ValueError, match="normalize=False"):
        strict(X)


@pytest.mark.parametrize("bad", ["2", None, [1.0], 1j, True, np.ones(2)])
def test_only_numbers_multiply(bad) -> None:
    with pytest.raises(TypeError):
        Gaussian() * bad
    with pytest.raises(TypeError):
        bad * Gaussian()


def test_only_kernels_are_added() -> None:
    for bad in (1.0, None, "gaussian", np.ones(3)):
        with pytest.raises(TypeError):
            Gaussian() + bad
        with pytest.raises(TypeError):
            Gaussian() - bad


def test_factors_are_finite_and_divisors_not_zero() -> None:
    with pytest.raises(ValueError, match="factor must be finite"):
        np.nan * Gaussian()
    with pytest.raises(ZeroDivisionError):
        Gaussian() / 0
    with pytest.raises(TypeError):
        1.0 / Gaussian()
    with pytest.raises(TypeError, match=r"pairs \(coefficient, kernel\)"):
        Sum(((1.0, "gaussian"),))
    with pytest.raises(TypeError, match="at least one"):
        Sum(())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestEveryKernelIsAValue:
    def test_frozen(self, kernel: Kernel) -> None:
        with pytest.raises((FrozenInstanceError, AttributeError)):
            kernel.scale = 2.0

    def test_equal_to_its_copy(self, kernel: Kernel) -> None:
        again = pickle.loads(pickle.dumps(kernel))  # noqa: S301  # our own bytes
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert repr(again) == repr(kernel)
        np.testing.assert_array_equal(again.radial(Z), kernel.radial(Z))

    def test_name_reads_back(self, kernel: Kernel) -> None:
        if "Radial" in repr(kernel):
            pytest.skip("a function has no text")
        assert parse_kernel(repr(kernel)) == kernel


def test_names() -> None:
    for name, cls in NAMED_KERNELS.items():
        assert type(parse_kernel(name)) is cls
        assert kernel_name(parse_kernel(name)) == name
        assert type(parse_kernel(name.upper().replace("-", "_"))) is cls
    assert kernel_name(Gaussian() + NTK()) is None
    assert {kernel_name(k) for k in NAMED} == set(NAMED_KERNELS)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("gaussian", Gaussian()),
        ("delta-gaussian(1, 10)", DeltaGaussian(1.0, 10.0)),
        ("2*gaussian(1) - laplacian(scale=0.5)", 2 * Gaussian(1.0) - Laplacian(0.5)),
        ("-ntk(2)", -NTK(2)),
        (" ntk( depth = 3 ) / 2 ", NTK(3) / 2),
        ("spherical-polynomial(a=2.5, p=3, normalize=False)", SphericalPolynomial(2.5, 3, normalize=False)),
        ("gaussian-cauchy", Gaussian() - Cauchy()),
        ("-(gaussian - 1e-3*cauchy(2))*2", -2 * Gaussian() + 2e-3 * Cauchy(2.0)),
        ("thin-plate + arc-cosine(1)", ThinPlate() + ArcCosine(1)),
        ("+multiquadric(c=+2)", Multiquadric(2.0)),
    ],
)
def test_text(text: str, kernel: Kernel) -> None:
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize(
    "text",
    [
        *("", "2", "ntk(", "foo", "gaussian + 1", "gaussian ** 2", "gaussian/0", "gaussian(1, 2, 3)"),
        *(
            "gaussian(width=1)",
            "gaussian('1')",
            "gaussian(ntk)",
            "__import__('os')",
            "ntk.radial",
            "[ntk]",
            "lambda: ntk",
        ),
        *("spherical-polynomial(1)", "gaussian(-1)", "ntk(1.5)", "gaussian(1e999)", "Radial(exp)"),
    ],
)
def test_text_that_is_no_kernel(text: str) -> None:
    with pytest.raises(ValueError, match=r"known kernels|cannot build|must be|got"):
        parse_kernel(text)
