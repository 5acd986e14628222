"""Signed measures: what they evaluate to, their algebra, and which decomposition they are."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import Laplacian
from krein.measures import Atoms, Head, LawPart, SignedMeasure, head_columns, omega
from krein.measures.radial_parts import NO_MASS

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


def test_two_constructors() -> None:
    up, down = Atoms(np.array([1.0, 2.0]), np.ones(2)), Atoms(np.array([2.0]), np.ones(1))
    with pytest.raises(ValueError, match=r"no radius in common; use SignedMeasure\(dim"):
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
        (lambda: Head((1.0, 2.0, 3.0, 4.0)), ValueError, "degree 2 in z² at most, got 3"),
        (lambda: SignedMeasure(3, radius=0.0), ValueError, "radius must be positive"),
        (lambda: SignedMeasure.from_atoms(3, np.ones(2), np.ones(3)), ValueError, "weights must have shape"),
        (
            lambda: SignedMeasure.from_atoms(3, np.ones(2), np.array([1.0, np.nan])),
            ValueError,
            "weights must be finite",
        ),
        (lambda: SignedMeasure.from_atoms(3, np.array([-1.0]), np.ones(1)), ValueError, "non-negative"),
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


def test_a_head_in_units_of_the_radius() -> None:
    """What is below rounding of the largest coefficient is left out."""
    assert Head.of_unit((1.0, 0.0, 1e-17), 0.1) == Head((1.0, 0.0, 0.0))
    assert Head.of_unit((1.0, 3.0, 8.0), 2.0) == Head((1.0, 0.75, 0.5))
