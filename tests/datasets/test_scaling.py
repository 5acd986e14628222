"""Columns to [0, 1], rows to unit length, and the rows that have none."""

import numpy as np
import pytest

from krein import datasets
from krein.datasets import MinMax, minmax_unit, unit


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(3, 5, (50, 4))
    X.setflags(write=False)
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fitted_columns_reach_exactly_0_and_1(X, dtype):
    scaled = MinMax.fit(X.astype(dtype)).apply(X.astype(dtype), clip=False)
    assert scaled.dtype == dtype
    np.testing.assert_array_equal(scaled.min(axis=0), 0)
    np.testing.assert_array_equal(scaled.max(axis=0), 1)


def test_blocks_equal_the_formula(X):
    many = np.tile(X, (1000, 1))  # more rows than one block
    expected = (many - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    np.testing.assert_array_equal(MinMax.fit(X).apply(many), expected)


def test_constant_column_is_zero():
    scaler = MinMax.fit([[1, 7], [3, 7]])
    np.testing.assert_array_equal(scaler.apply([[2, 7], [2, 9]], clip=False), [[0.5, 0], [0.5, 0]])


def test_rows_beyond_the_training_range():
    scaler = MinMax.fit([[0.0], [2.0]])
    np.testing.assert_array_equal(scaler.apply([[-1.0], [3.0]]), [[0], [1]])
    np.testing.assert_array_equal(scaler.apply([[-1.0], [3.0]], clip=False), [[-0.5], [1.5]])


def test_minmax_is_immutable():
    scaler = MinMax.fit([[0.0], [2.0]])
    with pytest.raises(ValueError, match="read-only"):
        scaler.low[0] = 1


@pytest.mark.parametrize(
    ("low", "high"), [([0], [np.nan]), ([0], [np.inf]), ([1], [0]), ([0, 0], [1]), ([-1e308], [1e308])]
)
def test_minmax_refuses_bad_bounds(low, high):
    with pytest.raises(ValueError, match=r"low|high"):
        MinMax(low, high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_unit_length(X, dtype, scale):
    rows = (X * scale).astype(dtype)
    scaled = unit(rows)
    assert scaled.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(scaled.astype(float), axis=1), 1, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(scaled, unit(X), rtol=16 * np.finfo(dtype).eps)


def test_unit_of_extreme_rows():
    np.testing.assert_allclose(unit(np.array([[3e-320, 4e-320], [3e307, 4e307]])), [[0.6, 0.8]] * 2, rtol=1e-3)


def test_unit_leaves_its_argument_alone(X):
    before = X.copy()
    unit(X)
    minmax_unit(X, X)
    np.testing.assert_array_equal(X, before)


def test_integers_become_float64():
    assert unit([[3, 4]]).dtype == np.float64
    assert unit(np.array([[3, 4]], np.uint8)).tolist() == [[0.6, 0.8]]


def test_no_rows():
    assert unit(np.empty((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="no rows"):
        MinMax.fit(np.empty((0, 3)))


def test_zero_row():
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"row 1 of X is all zeros .*2 such row.*zero_rows='keep'"):
        unit(X)
    np.testing.assert_array_equal(unit(X, zero_rows="keep"), X)
    with pytest.raises(ValueError, match="one of 'raise', 'keep', got 'drop'"):
        unit(X, zero_rows="drop")


def test_minimum_of_all_columns_is_a_zero_row():
    train = np.array([[0.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="row 0"):
        minmax_unit(train)
    kept, test = minmax_unit(train, [[-5.0, 2.0]], zero_rows="keep")
    np.testing.assert_array_equal(kept[0], 0)
    np.testing.assert_array_equal(test, [[0, 1]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite(bad):
    with pytest.raises(ValueError, match="row 1 of X has a value that is NaN or infinite"):
        unit([[1.0, 2.0], [bad, 1.0]])


def test_wrong_shapes(X):
    with pytest.raises(ValueError, match=r"got shape \(4,\)"):
        unit(X[0])
    with pytest.raises(ValueError, match="X has 3 columns, but the bounds were made for 4"):
        minmax_unit(X, X[:, :3])


def test_letter_has_no_zero_rows():
    data = datasets.load("letter")
    train, test = minmax_unit(data.X_train, data.X_test)
    for rows in (train, test):
        assert rows.dtype == np.float32
        assert rows.min() >= 0
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)


def test_centered_columns_reach_from_minus_one_to_one_before_rows_are_scaled():
    train, test = minmax_unit(np.array([[0.0, 9.0], [5.0, 1.0], [2.5, 3.0]]), np.array([[10.0, 9.0]]), centered=True)
    expected = np.array([[-1.0, 1.0], [1.0, -1.0], [0.0, -0.5]])
    np.testing.assert_allclose(train, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(test, [[2**-0.5, 2**-0.5]])
