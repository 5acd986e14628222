"""Where rows live: which radius, and which rows fall outside."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import unit_vectors
from krein.features.region import region_of


def both(X: np.ndarray) -> list:
    return [X, X.astype(np.float32), sp.csr_matrix(X), sp.csr_array(X)]


class TestSphere:
    def test_radius(self, rng):
        X = unit_vectors(rng, 50, 4)
        assert region_of(X, sphere=True, normalize=True, radius=None).radius == 2.0
        positive = region_of(np.abs(X), sphere=True, normalize=True, radius=None)
        assert positive.radius == math.sqrt(2.0)
        assert positive.non_negative
        assert region_of(np.ones((5, 1)), sphere=True, normalize=True, radius=None).radius == 2.0

    def test_given_radius(self, rng):
        X = np.abs(unit_vectors(rng, 50, 4))
        assert not region_of(X, sphere=True, normalize=True, radius=2.0).non_negative
        assert region_of(X, sphere=True, normalize=True, radius=math.sqrt(2)).non_negative
        assert region_of(X, sphere=True, normalize=True, radius=1.0).radius == 1.0

    def test_negative_entries_are_outside(self, rng):
        region = region_of(np.abs(unit_vectors(rng, 50, 4)), sphere=True, normalize=True, radius=None)
        X = np.abs(unit_vectors(rng, 6, 4))
        X[2, 0] *= -1
        X[4, 3] *= -1
        for rows in both(X):
            assert region.outside(rows) == 2
        X[2:5] = np.abs(X[2:5])
        X[0, 0] = -1e-9  # rounding
        for rows in both(X):
            assert region.outside(rows) == 0

    def test_place(self, rng):
        X = 3 * unit_vectors(rng, 5, 4)
        region = region_of(unit_vectors(rng, 5, 4), sphere=True, normalize=True, radius=None)
        np.testing.assert_allclose(np.linalg.norm(region.place(X), axis=1), 1.0)
        X[3] = 0
        with pytest.raises(ValueError, match="row 103 of the rows is zero"):
            region.place(X, name="the rows", first=100)
        strict = region_of(unit_vectors(rng, 5, 4), sphere=True, normalize=False, radius=None)
        with pytest.raises(ValueError, match=r"row 7 of X has length 3"):
            strict.place(3 * unit_vectors(rng, 5, 4), first=7)


class TestFound:
    def test_unit_rows_are_noticed(self, rng):
        X = unit_vectors(rng, 50, 4)
        region = region_of(X, sphere=False, normalize=False, radius=None)
        assert region.found
        assert region.sphere
        assert region.place(X) is X
        assert region.outside(X) == 0
        for rows in both(np.vstack([X[:3], 1.5 * X[:2]])):
            assert region.outside(rows) == 2

    def test_not_where_the_radius_asks_for_more(self, rng):
        X = unit_vectors(rng, 50, 4)
        assert not region_of(X, sphere=False, normalize=False, radius=3.0).found
        assert region_of(X, sphere=False, normalize=False, radius=2.0).found


class TestSpace:
    def test_diameter_with_margin(self, rng):
        X = rng.standard_normal((300, 3)) + 100.0
        diameter = max(np.linalg.norm(X - x, axis=1).max() for x in X)
        region = region_of(X, sphere=False, normalize=False, radius=None)
        assert region.radius == pytest.approx(1.1 * diameter)
        np.testing.assert_allclose(region.center, X.mean(axis=0))
        assert region.scale == pytest.approx(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
        assert region.place(X) is X

    def test_diameter_of_many_rows(self, rng):
        X = rng.standard_normal((5000, 3))
        X[1234] = [30.0, 0, 0]
        X[4321] = [-30.0, 0, 0]
        assert region_of(X, sphere=False, normalize=False, radius=None).radius == pytest.approx(66.0)

    def test_far_rows_are_outside(self, rng):
        X = rng.standard_normal((300, 3))
        region = region_of(X, sphere=False, normalize=False, radius=None)
        for rows in both(X):
            assert region.outside(rows) == 0
        for rows in both(np.vstack([X[:4], 100 * X[:3]])):
            assert region.outside(rows) == 3

    def test_one_point(self):
        region = region_of(np.full((4, 2), 7.0), sphere=False, normalize=False, radius=None)
        assert region.radius == 1.0
        assert region.outside(np.full((4, 2), 7.0)) == 0

    def test_given_radius(self, rng):
        X = rng.standard_normal((100, 3))
        assert region_of(X, sphere=False, normalize=False, radius=50.0).outside(10 * X[:5]) == 0
        assert region_of(X, sphere=False, normalize=False, radius=5.0).outside(100 * X[:5]) == 5


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"radius": 0.0}, "radius must be a positive number"),
        ({"radius": math.nan}, "radius must be a positive number"),
        ({"radius": "2"}, "radius must be a positive number"),
        ({"reach": -1.0}, "reach must be a positive number"),
        ({"scale": math.inf}, "scale must be a positive number"),
        ({"center": np.zeros((2, 2))}, "center must have shape"),
        ({"center": np.array([np.nan])}, "center must be finite"),
    ],
)
def test_a_region_is_whole_or_not_made(change, error):
    whole = region_of(np.eye(3), sphere=False, normalize=False, radius=5.0)
    with pytest.raises((TypeError, ValueError), match=error):
        replace(whole, **change)


def test_rows_too_far_apart():
    with pytest.raises(ValueError, match="too far apart for squared distances to be finite"):
        region_of(1e200 * np.eye(3), sphere=False, normalize=False, radius=None)
