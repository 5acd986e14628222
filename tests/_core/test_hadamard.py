"""Hadamard matrices: butterflies, entries and structured rows against scipy's matrix."""

import numpy as np
import pytest
import scipy.linalg

from krein._core.directions import hadamard_entries, hadamard_order, hadamard_transform, structured_rows

DTYPES = [np.float32, np.float64]


@pytest.mark.parametrize(("dim", "order"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (784, 1024), (1024, 1024)])
def test_order(dim, order):
    assert hadamard_order(dim) == order


def test_order_needs_a_dimension():
    with pytest.raises(ValueError, match="dim must be at least 1"):
        hadamard_order(0)


@pytest.mark.parametrize("p", [2**k for k in range(8)])
def test_entries(p):
    entries = hadamard_entries(np.arange(p)[:, None], np.arange(p))
    np.testing.assert_array_equal(entries, scipy.linalg.hadamard(p))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [2**k for k in range(12)])
def test_transform_is_multiplication_by_the_matrix(p, dtype):
    X = np.random.default_rng(p).standard_normal((37, p)).astype(dtype)
    block = X.copy()
    assert hadamard_transform(block) is block
    expected = X.astype(float) @ scipy.linalg.hadamard(p)
    bound = np.abs(X.astype(float)).sum(1, keepdims=True) * np.finfo(dtype).eps * (1 + p.bit_length())
    assert (np.abs(block - expected) <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_transform_of_integers_is_exact_and_its_own_inverse(dtype):
    X = np.random.default_rng(0).integers(-8, 8, (21, 64)).astype(dtype)
    np.testing.assert_array_equal(hadamard_transform(hadamard_transform(X.copy())) / 64, X)


def test_transform_in_place_of_any_layout():
    X = np.random.default_rng(0).standard_normal((6, 16))
    expected = hadamard_transform(X.copy())
    wide = np.zeros((6, 40))
    wide[:, 3:35:2] = X
    hadamard_transform(wide[:, 3:35:2])
    np.testing.assert_array_equal(wide[:, 3:35:2], expected)
    assert (wide[:, 4:35:2] == 0).all()
    np.testing.assert_array_equal(hadamard_transform(np.asfortranarray(X)), expected)
    np.testing.assert_array_equal(hadamard_transform(X[::-1].copy()[::-1]), expected)
    assert hadamard_transform(np.empty((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    ("block", "message"),
    [(np.zeros((2, 3)), "pad them to 4"), (np.zeros((2, 0)), "power of two"), (np.zeros((2, 4), int), "float32 or")],
)
def test_transform_refuses(block, message):
    with pytest.raises(ValueError, match=message):
        hadamard_transform(block)


@pytest.mark.parametrize(("p", "count", "dim"), [(1, 3, 1), (8, 8, 8), (8, 19, 5), (4, 0, 3)])
def test_structured_rows_are_the_product_of_matrices(p, count, dim):
    signs = np.random.default_rng(p).choice(np.array([-1, 1], np.int8), (-(-count // p), 3, p))
    H = scipy.linalg.hadamard(p) / np.sqrt(p)
    blocks = [H @ np.diag(b[2]) @ H @ np.diag(b[1]) @ H @ np.diag(b[0]) for b in signs.astype(float)]
    expected = np.vstack([np.empty((0, p)), *blocks])[:count, :dim]
    np.testing.assert_allclose(structured_rows(signs, count, dim), expected, atol=1e-14)
