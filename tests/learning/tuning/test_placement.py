"""Where rows are placed."""

import numpy as np
import pytest
import scipy.sparse as sp

from krein.learning.tuning.placement import Placement, scaled_columns
from krein.rows.columns import ColumnSummary

X = np.random.default_rng(0).normal(2.0, [1.0, 5.0, 0.0], size=(50, 3))


def test_standard_columns_have_mean_zero_and_variance_one():
    placed = scaled_columns("standard", ColumnSummary.of(X))(X)
    np.testing.assert_allclose(placed.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(placed.var(axis=0), [1.0, 1.0, 0.0], atol=1e-12)  # the last is constant


def test_minmax_cuts_other_rows_to_the_interval():
    place = scaled_columns("minmax", ColumnSummary.of(X))
    assert place(X).min() == 0.0
    assert place(X).max() == 1.0
    assert place(10.0 * X).max() == 1.0


def test_a_lift_ends_on_the_unit_sphere_and_keeps_order_of_lengths():
    place = Placement(lift=2.0)
    placed = place(X)
    assert placed.shape == (50, 4)
    np.testing.assert_allclose(np.linalg.norm(placed, axis=1), 1.0)
    np.testing.assert_allclose(placed[:, :3] / placed[:, 3:] * 2.0, X)


@pytest.mark.parametrize("lift", [None, 1.0])
def test_sparse_rows_stay_sparse_and_agree_with_dense_ones(lift):
    place = Placement(scale=np.array([1.0, 2.0, 3.0]), lift=lift)
    sparse = place(sp.csr_array(X))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), place(X))
    shifted = Placement(shift=np.ones(3), lift=lift)
    np.testing.assert_allclose(shifted(sp.csr_array(X)), shifted(X))


def test_single_precision_stays():
    place = Placement(np.ones(3), np.full(3, 2.0), lift=1.0)
    assert place(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(place(X.astype(np.float32)), place(X), atol=1e-6)


@pytest.mark.parametrize("first", [None, np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)])
@pytest.mark.parametrize("second", [np.array([3.0, 1.0, 2.0]), np.arange(6.0).reshape(3, 2)])
def test_directions_follow_the_scaling_of_columns(first, second):
    place = Placement(np.ones(3), first)
    turned = place(X) * second if second.ndim == 1 else place(X) @ second
    np.testing.assert_allclose(place.followed_by(second)(X), turned)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"lift": 0.0}, "lift must be positive"),
        ({"shift": np.ones(2), "scale": np.ones(3)}, "shift has 2 columns"),
        ({"limits": (1.0, 0.0)}, "limits must be an interval"),
        ({"scale": np.ones((2, 2, 2))}, "vector or a matrix"),
        ({"shift": np.array([np.nan])}, "finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Placement(**parts)


def test_an_unknown_scaling_is_refused():
    with pytest.raises(ValueError, match="scaling must be"):
        scaled_columns("robust", ColumnSummary.of(X))
