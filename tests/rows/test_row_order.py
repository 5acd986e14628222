"""Rows in an order that only their values fix."""

import numpy as np
import pytest
import scipy.sparse as sp

from krein.rows.row_order import canonical_order, lexicographic_order


@pytest.fixture
def table(rng) -> np.ndarray:
    """With equal rows, columns of few values, of several units, one of them constant."""
    X = rng.normal(size=(300, 6)) * [1.0, 100.0, 1e-9, 1.0, 1.0, 0.0]
    X[:, 3], X[:, 4] = rng.integers(0, 2, size=300), np.maximum(X[:, 4], 0.0)
    return X[rng.integers(0, 300, size=400)]


def test_columns_in_another_order_and_unit(table, rng):
    order, start = canonical_order(table)
    for _ in range(5):
        turned = (table * 2.0 ** rng.integers(-60, 60, size=6))[:, rng.permutation(6)]
        found = canonical_order(turned)
        np.testing.assert_array_equal(found[0], order)
        np.testing.assert_array_equal(found[1], start)


def test_rows_in_another_order(table, rng):
    mixed = table[rng.permutation(len(table))]
    np.testing.assert_array_equal(mixed[canonical_order(mixed)[0]], table[canonical_order(table)[0]])


@pytest.mark.parametrize("order_of", [canonical_order, lexicographic_order])
def test_sparse_rows_like_dense_ones(table, order_of):
    table = np.where(np.abs(table) < 0.5 * np.abs(table).mean(axis=0), 0.0, table)
    rows = sp.csr_array(table)
    rows.data[::7] = 0.0  # zeros that are stored
    for found, expected in zip(order_of(rows), order_of(rows.toarray()), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_single_precision_keeps_the_order(table):
    single = table.astype(np.float32)
    assert np.unique(single, axis=0).shape == np.unique(table, axis=0).shape
    np.testing.assert_array_equal(canonical_order(single)[0], canonical_order(table)[0])


def test_values_at_the_end_of_floats():
    largest = np.finfo(float).max
    X = np.array([[largest, 0.0], [-largest, 1.0], [0.0, 2.0], [-largest, 1.0]])
    order, start = canonical_order(X)
    assert start.sum() == 3
    assert order[start].tolist() == canonical_order(X[:, ::-1])[0][start].tolist()
