"""The head's columns give its polynomial to rounding: on the sphere and off it, in both precisions, far from the origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers import unit_vectors
from krein.features import head_basis
from krein.measures import Head

HEADS = [
    Head(coefficients)
    for coefficients in ((0.7,), (-0.7,), (0.3, -1.1), (0.0, 0.5), (0.3, -0.4, 0.2), (-1.0, 0.3, -2.0), (0.0, 0.0, 0.0))
]


def product(basis, X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
    amplitudes = np.sqrt(np.abs(basis.weights)).astype(X.dtype)
    sign = np.where(basis.weights < 0, -1.0, 1.0).astype(X.dtype)
    out = [np.full((len(A), basis.n_columns), np.nan, dtype=X.dtype) for A in (X, X if Y is None else Y)]
    basis.write(X, amplitudes, out[0])
    basis.write(X if Y is None else Y, amplitudes, out[1])
    return (out[0] * sign) @ out[1].T


def squared_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.array([[sum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True)) for y in Y] for x in X])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("head", HEADS, ids=str)
@pytest.mark.parametrize("dim", [1, 2, 5])
class TestExact:
    def test_on_the_sphere(self, head, dim, dtype, rng):
        X, Y = (unit_vectors(rng, n, dim).astype(dtype) for n in (12, 9))
        basis = head_basis(head, dim, sphere=True)
        expected = head.evaluate(np.sqrt(squared_distances(X, Y)))
        size = sum(abs(c) * 4**q for q, c in enumerate(head.coefficients))
        np.testing.assert_allclose(product(basis, X, Y), expected, rtol=0, atol=20 * np.finfo(dtype).eps * max(size, 1))

    def test_off_the_sphere(self, head, dim, dtype, rng):
        X, Y = (3 * rng.standard_normal((n, dim)).astype(dtype) for n in (12, 9))
        center, scale = X.mean(axis=0, dtype=np.float64), float(np.mean(X.astype(float) ** 2) * dim)
        basis = head_basis(head, dim, sphere=False, center=center, scale=scale)
        squares = squared_distances(X, Y)
        expected = head.evaluate(np.sqrt(squares))
        size = sum(abs(c) * (4 * squares.max()) ** q for q, c in enumerate(head.coefficients))
        np.testing.assert_allclose(product(basis, X, Y), expected, rtol=0, atol=20 * np.finfo(dtype).eps * max(size, 1))

    def test_far_from_the_origin(self, head, dim, dtype, rng):
        """Without its center, squares of the offset would take all digits."""
        offset = 2.0**12
        X = (offset + rng.integers(-64, 64, size=(12, dim)) / 32).astype(dtype)  # exact in both types
        basis = head_basis(head, dim, sphere=False, center=X.mean(axis=0, dtype=np.float64), scale=2.0)
        squares = squared_distances(X, X)
        size = sum(abs(c) * (4 * squares.max()) ** q for q, c in enumerate(head.coefficients))
        expected = head.evaluate(np.sqrt(squares))
        np.testing.assert_allclose(product(basis, X), expected, rtol=0, atol=20 * np.finfo(dtype).eps * max(size, 1))


@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize("degree", [-1, 0, 1, 2])
def test_counts_and_names(sphere, degree):
    """On the sphere 1, 4 coordinates and 10 products; off it also ‖x‖², then ‖x‖⁴ and coordinates times ‖x‖²."""
    head = Head((0.5, -0.3, 0.1)[: degree + 1])
    basis = head_basis(head, 4, sphere=sphere)
    assert basis.weights.shape == (basis.n_columns,)
    names = basis.names()
    assert len(names) == len(set(names)) == basis.n_columns == ((0, 1, 5, 15) if sphere else (0, 1, 6, 21))[degree + 1]
    assert basis.coefficients == head.coefficients
    kinds = {name.split("_")[1].rstrip("0123456789") for name in names}
    radial = {"constant"} if sphere else {"radial"}
    assert kinds == (set(), radial, radial | {"linear"}, radial | {"linear", "product"})[degree + 1]


def test_signature():
    """c₀ + c₁z² off the sphere: {1, ‖x‖²} takes one column of either sign, the linear ones the sign of −c₁."""
    basis = head_basis(Head((0.5, -0.3)), 3, sphere=False)
    assert sorted(np.sign(basis.weights[:2])) == [-1, 1]
    assert (basis.weights[2:] > 0).all()
    on_sphere = head_basis(Head((0.5, 0.3)), 3, sphere=True)
    np.testing.assert_allclose(on_sphere.weights, [0.5 + 2 * 0.3, -0.6, -0.6, -0.6])


def test_degree_three_has_no_features():
    with pytest.raises(ValueError, match="degree 2 in z² at most, got 3"):
        head_basis(Head((1.0, 1.0, 1.0, 1.0)), 3, sphere=True)


@pytest.mark.parametrize("scale", [1e96, 1e160])
def test_rows_too_far_away_for_a_polynomial_are_refused(scale):
    with pytest.raises(ValueError, match="standardize the columns of X"):
        head_basis(Head((1.0, 0.5, 1e200)), 2, sphere=False, scale=scale)


def test_no_head_writes_nothing():
    basis = head_basis(Head(), 3, sphere=True)
    basis.write(np.ones((2, 3)), np.empty(0), np.empty((2, 0)))
    assert basis.names() == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 7, 3000])
def test_columns_are_the_same_in_any_output(dtype, sphere, rows):
    rng = np.random.default_rng(0)
    X = (unit_vectors(rng, rows, 5) if sphere else rng.normal(size=(rows, 5))).astype(dtype)
    basis = head_basis(Head((1.0, -0.5, 0.25)), 5, sphere=sphere)
    amplitudes = rng.uniform(0.5, 1.5, basis.n_columns).astype(dtype)
    alone = np.full((rows, basis.n_columns), np.nan, dtype=dtype)
    basis.write(X, amplitudes, alone)
    wide = np.full((rows, basis.n_columns + 6), np.nan, dtype=dtype)
    basis.write(X, amplitudes, wide[:, 3:-3])
    np.testing.assert_array_equal(wide[:, 3:-3], alone)
    assert np.isnan(wide[:, :3]).all()
    assert np.isnan(wide[:, -3:]).all()
    fortran = np.empty(alone.shape, dtype=dtype, order="F")
    basis.write(np.asfortranarray(X), amplitudes, fortran)
    np.testing.assert_array_equal(fortran, alone)
    assert np.isfinite(alone).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(3)}, "weights must have shape"),
        ({"weights": np.full(10, np.nan)}, "weights must be finite"),
        ({"center": np.zeros(4)}, "center must have shape"),
        ({"radial_mix": np.eye(2)}, "radial_mix must have shape"),
        ({"linear_mix": np.eye(3)}, "linear_mix must have shape"),
        ({"dim": 0}, "dim must be at least 1"),
        ({"degree": 3}, "degree must be at most 2"),
        ({"scale": 0.0}, "scale must be positive"),
        ({"coefficients": (1.0,)}, "coefficients must be 3 finite numbers"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    """The compiled loop relies on these lengths."""
    basis = head_basis(Head((1.0, -0.5, 0.25)), 2, sphere=False)
    with pytest.raises(ValueError, match=message):
        replace(basis, **change)


@pytest.mark.parametrize(
    ("rows", "amplitudes", "out"),
    [((5, 3), 10, (5, 10)), ((5, 2), 9, (5, 10)), ((5, 2), 10, (5, 9)), ((4, 2), 10, (5, 10))],
)
def test_rows_and_outputs_that_do_not_fit_are_refused(rows, amplitudes, out):
    basis = head_basis(Head((1.0, -0.5, 0.25)), 2, sphere=False)
    assert basis.n_columns == 10
    with pytest.raises(ValueError, match="must have shape"):
        basis.write(np.zeros(rows), np.ones(amplitudes), np.empty(out))
