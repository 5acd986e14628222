"""Signed measures: what they evaluate to, their algebra, and which decomposition they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from krein.kernels import Gaussian, Laplacian
from krein.measures import Atoms, Head, LawPart, SignedMeasure, head_columns, omega
from krein.measures.parts import NO_MASS

Z = np.linspace(0.0, 3.0, 31)


def law(kernel, dim: int = 4, total: float = 1.0) -> LawPart:
    return LawPart(kernel.radius_law(dim), kernel.radial, total)


def example() -> SignedMeasure:
    return SignedMeasure.from_atoms(
        4, np.array([1.0, 2.0, 5.0]), np.array([0.5, -1.5, 0.25]), head=Head((1.0, -0.5)), bias=1e-3, radius=3.0
    )


def test_evaluate_is_the_sum_it_says() -> None:
    m = example()
    by_hand = 1.0 - 0.5 * Z**2 + 0.5 * omega(4, Z) - 1.5 * omega(4, 2 * Z) + 0.25 * omega(4, 5 * Z)
    np.testing.assert_allclose(m.evaluate(Z), by_hand, atol=1e-14)
    np.testing.assert_allclose(m.tail(Z), by_hand - (1.0 - 0.5 * Z**2), atol=1e-14)
    np.testing.assert_allclose(
        m.majorant(Z), 0.5 * omega(4, Z) + 1.5 * omega(4, 2 * Z) + 0.25 * omega(4, 5 * Z), atol=1e-14
    )
    assert (m.mass, m.positive.mass, m.negative.mass) == (2.25, 0.75, 1.5)
    assert m.second_moment == 0.5 + 6.0 + 6.25
    assert m.decomposition == "jordan"
    assert np.ndim(m.evaluate(0.5)) == 0


@given(factor=st.floats(-1e6, 1e6).filter(lambda f: abs(f) > 1e-6))
def test_scaling_with_any_sign(factor: float) -> None:
    m = example()
    for scaled in (factor * m, m * np.float64(factor), np.float64(factor) * m):
        np.testing.assert_allclose(scaled.evaluate(Z), factor * m.evaluate(Z), rtol=1e-12, atol=1e-9 * abs(factor))
        assert scaled.mass == pytest.approx(abs(factor) * m.mass)
        assert scaled.bias == pytest.approx(abs(factor) * m.bias)
        assert scaled.decomposition == "jordan"
        first, second = (m.positive, m.negative) if factor > 0 else (m.negative, m.positive)
        assert scaled.positive.mass == pytest.approx(abs(factor) * first.mass)
        assert scaled.negative.mass == pytest.approx(abs(factor) * second.mass)


def test_minus_swaps_the_parts_and_twice_is_nothing() -> None:
    m = example()
    np.testing.assert_array_equal((-m).positive.radii, m.negative.radii)
    np.testing.assert_array_equal((-m).negative.radii, m.positive.radii)
    twice = -(-m)  # noqa: B002  # minus twice, meant
    np.testing.assert_array_equal(twice.evaluate(Z), m.evaluate(Z))
    assert twice.head == m.head


def test_times_zero_is_nothing() -> None:
    zero = 0 * example()
    assert zero.mass == 0.0
    np.testing.assert_array_equal(zero.evaluate(Z), np.zeros_like(Z))


def test_sum_of_atoms_cancels() -> None:
    m = example()
    other = SignedMeasure.from_atoms(
        4, np.array([2.0, 7.0]), np.array([1.0, 1.0]), head=Head((0.0, 0.0, 2.0)), bias=2e-3
    )
    total = m + other
    np.testing.assert_allclose(total.evaluate(Z), m.evaluate(Z) + other.evaluate(Z), atol=1e-12)
    assert total.mass == pytest.approx(0.75 + 0.5 + 1.0)  # −1.5 + 1 at radius 2
    assert total.decomposition == "jordan"
    assert total.bias == pytest.approx(3e-3)
    assert total.radius == 3.0
    assert total.head.coefficients == (1.0, -0.5, 2.0)
    nothing = m - m
    assert nothing.mass == 0.0
    np.testing.assert_allclose(nothing.evaluate(Z), np.zeros_like(Z))


def test_sum_with_laws_is_a_mere_difference() -> None:
    a = SignedMeasure.jordan(4, law(Gaussian(1.0)), NO_MASS)
    b = SignedMeasure.jordan(4, NO_MASS, law(Gaussian(2.0), total=0.5))
    total = a + b
    assert total.decomposition == "difference"
    assert total.mass == 1.5
    np.testing.assert_allclose(total.evaluate(Z), Gaussian(1.0).radial(Z) - 0.5 * Gaussian(2.0).radial(Z), atol=1e-14)
    mixed = total + example()
    np.testing.assert_allclose(mixed.evaluate(Z), total.evaluate(Z) + example().evaluate(Z), atol=1e-13)
    np.testing.assert_allclose((mixed - example()).evaluate(Z), total.evaluate(Z), atol=1e-13)


def test_two_constructors() -> None:
    up, down = Atoms(np.array([1.0, 2.0]), np.ones(2)), Atoms(np.array([2.0]), np.ones(1))
    assert SignedMeasure.difference(3, up, down).decomposition == "difference"
    with pytest.raises(ValueError, match=r"no radius in common; use SignedMeasure\.difference"):
        SignedMeasure.jordan(3, up, down)
    assert SignedMeasure(3, up, down).decomposition == "difference"  # the modest claim is the default
    canceled = SignedMeasure.from_atoms(3, np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, -1.0]))
    assert canceled.mass == 1.0
    assert canceled.negative.mass == 0.0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: SignedMeasure(0), ValueError, "dim must be at least 1"),
        (lambda: SignedMeasure(1.5), TypeError, "dim must be an integer"),
        (lambda: SignedMeasure(3, np.ones(3)), TypeError, r"positive must be a RadialPart such as Atoms"),
        (lambda: SignedMeasure(3, NO_MASS, None), TypeError, "negative must be a RadialPart"),
        (lambda: SignedMeasure(3, bias=-1.0), ValueError, "bias must be at least 0"),
        (lambda: SignedMeasure(3, bias=np.nan), ValueError, "bias must be finite"),
        (lambda: SignedMeasure(3, head=(1.0,)), TypeError, "head must be a Head such as"),
        (lambda: SignedMeasure(3, radius=np.nan), ValueError, "radius must be finite"),
        (lambda: SignedMeasure(3, sphere=1), TypeError, "sphere must be True or False"),
        (lambda: SignedMeasure(3, decomposition="hahn"), ValueError, "decomposition must be one of"),
        (lambda: SignedMeasure(3, note=None), TypeError, "note must be a text"),
        (lambda: Head((1.0, 2.0, 3.0, 4.0)), ValueError, "degree 2 in z² at most, got 3"),
        (lambda: SignedMeasure(3, radius=0.0), ValueError, "radius must be positive"),
        (lambda: SignedMeasure.from_atoms(3, np.ones(2), np.ones(3)), ValueError, "vectors of one length"),
        (
            lambda: SignedMeasure.from_atoms(3, np.ones(2), np.array([1.0, np.nan])),
            ValueError,
            "weights must be finite",
        ),
        (lambda: SignedMeasure.from_atoms(3, np.array([-1.0]), np.ones(1)), ValueError, "non-negative"),
        (lambda: example() + SignedMeasure(5), ValueError, "dimensions 4 and 5; build both with the same dim"),
        (lambda: example() * np.inf, ValueError, "finite number only"),
        (lambda: example() * "2", TypeError, "unsupported operand|multiply"),
        (lambda: example() + 1.0, TypeError, "unsupported operand|multiply"),
        (lambda: example() - None, TypeError, "unsupported operand|multiply"),
        (lambda: np.ones(2) * example(), TypeError, "unsupported operand|multiply"),
    ],
)
def test_bad_input(make, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_frozen_and_readable() -> None:
    m = example()
    with pytest.raises(AttributeError):
        m.bias = 0.0
    text = str(m)
    assert "R^4" in text
    assert "jordan" in text
    assert "positive 0.75, negative 1.5" in text
    assert "0.001" in text
    assert "note" in str(SignedMeasure(3, note="cut at r = 1"))


class TestHead:
    def test_polynomial(self) -> None:
        np.testing.assert_allclose(Head((1.0, 2.0, -3.0)).evaluate(Z), 1 + 2 * Z**2 - 3 * Z**4)
        np.testing.assert_array_equal(Head().evaluate(Z), np.zeros_like(Z))
        assert [Head(c).degree for c in ((), (1.0,), (1.0, 2.0))] == [-1, 0, 1]
        assert Head((1.0,)) + Head((1.0, 2.0)) == Head((2.0, 2.0))
        assert Head((1.0, 2.0)).scaled(-2.0) == Head((-2.0, -4.0))
        with pytest.raises(ValueError, match="coefficients must be finite"):
            Head((np.nan,))

    @pytest.mark.parametrize("dim", [1, 2, 3, 10])
    @pytest.mark.parametrize("sphere", [True, False])
    @pytest.mark.parametrize("degree", [-1, 0, 1, 2])
    def test_columns_are_enough(self, dim: int, sphere: bool, degree: int, rng: np.random.Generator) -> None:
        """The Gram matrix of the head has no more nonzero eigenvalues than columns are set aside for it."""
        X = rng.standard_normal((100, dim))
        if sphere:
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        square = ((X[:, None] - X[None]) ** 2).sum(-1)
        gram = sum(
            (c * square**q for q, c in zip(range(degree + 1), (0.7, -1.3, 0.4), strict=False)), np.zeros_like(square)
        )
        values = np.abs(np.linalg.eigvalsh(gram)) if degree >= 0 else np.zeros(1)
        rank = int((values > 1e-9 * max(values.max(), 1e-300)).sum()) if degree >= 0 else 0
        assert rank <= head_columns(degree, dim, sphere=sphere)
        if dim == 10:  # and hardly one too many: |x|² is a sum of products, and on the sphere 1 is
            assert rank >= head_columns(degree, dim, sphere=sphere) - (degree == 2)

    def test_degree_three_is_refused(self) -> None:
        with pytest.raises(ValueError, match="degree 2 in z² at most"):
            head_columns(3, 5, sphere=True)


def test_laplacian_has_no_second_moment() -> None:
    assert np.isinf(SignedMeasure.jordan(4, law(Laplacian(1.0)), NO_MASS).second_moment)


@pytest.mark.parametrize("radius", [1e150, 1e-150])
def test_a_head_beyond_floating_point_numbers_is_refused(radius):
    assert Head.of_unit((1.0, 0.0, 1e-17), radius) == Head((1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="scale the data"):
        Head.of_unit((1.0, 0.0, 0.5), radius)
