"""Distinct rows with their targets."""

import numpy as np

from krein.rows.equal import merge_rows


def test_few_targets_are_not_mixed(rng):
    rows = merge_rows(rng.normal(size=(30, 2)), rng.normal(size=(30, 64)))
    assert rows.sketched() is rows


def test_mixtures_keep_sums_of_squares_and_do_not_hang_on_the_order_of_targets(rng):
    X, Y = rng.integers(0, 300, size=(400, 1)) / 7.0, rng.normal(size=(400, 200)) * np.geomspace(1.0, 10.0, 200)
    rows = merge_rows(X, Y)
    mixed = rows.sketched()
    # of 64 mixtures, each row with a relative standard deviation of at most sqrt(2 / 64); six of the mean of all rows
    deviation = 6.0 * np.sqrt(2.0 / 64.0)
    ratio = np.square(mixed.Y).sum(axis=1) / np.square(rows.Y).sum(axis=1)
    assert np.abs(ratio - 1.0).max() < deviation
    np.testing.assert_allclose(mixed.scatter.sum(axis=1), rows.scatter.sum(axis=1))
    turned = merge_rows(X, Y[:, rng.permutation(200)]).sketched()
    np.testing.assert_allclose(turned.Y, mixed.Y, atol=1e-10)
