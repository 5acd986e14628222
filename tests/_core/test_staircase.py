"""Signed features in a form with zeros: the same matrix, and products that are those of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.staircase import Staircase, as_staircase

# rows, positive columns, negative columns: a triangle, one with few of the other sign, fewer columns than rows, and so on
SHAPES = [
    (40, 40, 0),
    (40, 38, 2),
    (40, 2, 38),
    (40, 37, 0),
    (40, 30, 10),
    (60, 20, 20),
    (30, 3, 20),
    (5, 3, 2),
    (4, 0, 0),
]


def turned(rows: int, positive: int, negative: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rows + positive)
    signature = np.repeat([1.0, -1.0], [positive, negative])[rng.permutation(positive + negative)]
    root = rng.normal(size=(rows, positive + negative))
    return root, signature, *as_staircase(root, signature)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_signed_product_stays(shape):
    root, signature, stairs, signs = turned(*shape)
    np.testing.assert_allclose((stairs * signs) @ stairs.T, (root * signature) @ root.T, atol=1e-11)
    assert sorted(signs) == sorted(signature)
    for sign in (1.0, -1.0):
        group = stairs[:, signs == sign]
        assert not np.triu(group[: group.shape[1]], 1).any()
        assert (np.diagonal(group) >= 0.0).all()
    again, _ = as_staircase(stairs, signs)
    np.testing.assert_array_equal(again, stairs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(shape, dtype):
    _, _, stairs, signs = turned(*shape)
    stairs = stairs.astype(dtype)
    found = Staircase.of(stairs, signs)
    block = np.random.default_rng(0).normal(size=(23, shape[0])).astype(dtype)
    exact = block.astype(np.float64) @ stairs
    # sums of some dozens of products of order one
    atol = 200 * np.finfo(dtype).eps * (1.0 + np.abs(exact).max(initial=0.0))
    out = np.empty((23, stairs.shape[1] + 3), dtype)[:, 1:-2]
    found.multiply(block.copy(), out)
    np.testing.assert_allclose(out, exact, atol=atol)
    if found.in_place:
        found.multiply(block, block)
        np.testing.assert_array_equal(block, out)


def test_a_matrix_without_zeros():
    """As in files of earlier versions."""
    matrix = np.random.default_rng(0).normal(size=(30, 30))
    found = Staircase.of(matrix, np.ones(30))
    assert not found.in_place
    out = np.empty((4, 30))
    block = np.random.default_rng(1).normal(size=(4, 30))
    found.multiply(block, out)
    np.testing.assert_array_equal(out, block @ matrix)
