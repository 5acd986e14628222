"""Clusters: what Lloyd's algorithm promises, and that threads do not matter."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from krein._core import representatives
from krein._core.representatives import cluster_centers


def groups(rng, n=400, k=8, dim=5):
    """So far apart that no draw in proportion to squared distances falls into a group twice."""
    return 1e4 * rng.normal(size=(k, dim))[np.arange(n) % k] + rng.normal(size=(n, dim))


def inertia(X, centers):
    return float(np.square(X[:, None] - centers).sum(axis=2).min(axis=1).sum())


def test_groups_far_apart_are_found(rng):
    """A center in each group: then the squared distances are those within groups, about n·dim."""
    X = groups(rng)
    assert inertia(X, cluster_centers(X, 8, rng)) < 1.5 * X.size


def test_centers_are_means_of_the_rows_nearest_to_them(rng, monkeypatch):
    monkeypatch.setattr(representatives, "_PASSES", 100)
    monkeypatch.setattr(representatives, "_SETTLED", 0.0)
    X = rng.normal(size=(300, 2))
    centers = cluster_centers(X, 12, rng)
    nearest = np.square(X[:, None] - centers).sum(axis=2).argmin(axis=1)
    for j in range(12):
        np.testing.assert_allclose(centers[j], X[nearest == j].mean(axis=0), atol=1e-12)


def test_sparse_rows_give_what_dense_rows_give(rng):
    X = groups(rng, n=200, k=9, dim=6)
    dense, sparse = (cluster_centers(A, 9, np.random.default_rng(3)) for A in (X, sp.csr_array(X)))
    assert isinstance(sparse, np.ndarray)
    # the means of the groups, each a sum of some twenty rows
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=50 * np.finfo(float).eps * np.abs(X).max())


def test_fewer_distinct_rows_than_centers(rng):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    centers = cluster_centers(X, 6, rng)
    assert {tuple(row) for row in centers} == {(0.0, 1.0), (2.0, 3.0)}
    np.testing.assert_array_equal(cluster_centers(np.zeros((5, 2)), 3, rng), np.zeros((3, 2)))


def test_a_tie_goes_to_the_first_center(rng):
    """Rows at equal distance from two centers: rounding may say either, the margin says the first."""
    centers = rng.normal(size=(2, 3))
    middle = centers.mean(axis=0) + np.linspace(-1.0, 1.0, 50)[:, None] * np.cross(*centers)
    np.testing.assert_array_equal(representatives._nearest(middle, centers, 1e-9), 0)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_a_bit(monkeypatch, threads):
    X = np.random.default_rng(0).normal(size=(5000, 7))
    monkeypatch.setattr(representatives, "n_threads", lambda: 1)
    one = cluster_centers(X, 40, np.random.default_rng(1))
    monkeypatch.setattr(representatives, "n_threads", lambda: threads)
    np.testing.assert_array_equal(cluster_centers(X, 40, np.random.default_rng(1)), one)
