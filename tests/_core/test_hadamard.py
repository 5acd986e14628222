"""Hadamard matrices: entries and structured rows against scipy's matrix."""

import numpy as np
import pytest
import scipy.linalg

from krein._core.directions import hadamard_entries, hadamard_order, structured_rows


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


@pytest.mark.parametrize(("p", "count", "dim"), [(1, 3, 1), (8, 8, 8), (8, 19, 5), (4, 0, 3), (64, 100, 50), (2, 5, 2)])
def test_structured_rows_are_the_product_of_matrices(p, count, dim):
    signs = np.random.default_rng(p).choice(np.array([-1, 1], np.int8), (-(-count // p), 3, p))
    H = scipy.linalg.hadamard(p) / np.sqrt(p)
    blocks = [H @ np.diag(b[2]) @ H @ np.diag(b[1]) @ H @ np.diag(b[0]) for b in signs.astype(float)]
    expected = np.vstack([np.empty((0, p)), *blocks])[:count, :dim]
    np.testing.assert_allclose(structured_rows(signs, count, dim), expected, atol=1e-14)
