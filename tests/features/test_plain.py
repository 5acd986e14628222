"""One compiled pass against the same features step by step."""

import math

import numpy as np
import pytest

from krein.features import FeatureMap, fitted_map, head_basis
from krein.features.fitted_map import plain_map
from krein.features.region import Region
from krein.measures import Head
from krein.sampling import Frequencies

DIM = 6
HEADS = [Head(), Head((0.5,)), Head((0.5, -0.25)), Head((0.5, -0.25, 0.125))]


def region(sphere, *, normalize=True, found=False, non_negative=False, reach=math.inf):
    center = np.zeros(DIM) if sphere else np.linspace(-0.5, 0.5, DIM)
    return Region(sphere, normalize and sphere, found, 2.0, non_negative, center, reach, 1.0)


def feature_map(head, sphere, s=9, padding=1):
    rng = np.random.default_rng(0)
    weights = rng.choice([-1.0, 1.0], s) * rng.uniform(0.5, 1.5, s)
    frequencies = Frequencies(3.0 * rng.normal(size=(s, DIM)), weights)
    basis = head_basis(head, DIM, sphere=sphere, center=None if sphere else region(sphere).center)
    return FeatureMap(basis, frequencies, basis.weights, weights, padding)


def step_by_step(m, where, X):
    placed = where.place(X)
    return m.columns(placed), where.outside(placed)


def one_pass(m, where, X):
    out = np.full((len(X), m.n_outputs), np.nan, dtype=X.dtype)
    return out, plain_map(m, where, X, out)


def rows(n, dtype=np.float64, seed=1):
    return np.random.default_rng(seed).normal(size=(n, DIM)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize("head", HEADS, ids=lambda h: f"degree{h.degree}")
@pytest.mark.parametrize("n", [1, 131, 5000])
def test_same_features(dtype, sphere, head, n):
    m, where, X = feature_map(head, sphere), region(sphere), rows(n, dtype)
    expected, _ = step_by_step(m, where, X)
    out, outside = one_pass(m, where, X)
    assert outside == 0
    # Lengths may differ in their last bits: arguments, at most 40 here, and head columns move by some ulps of their size.
    size = np.maximum(40.0, np.abs(expected).max())
    np.testing.assert_allclose(out, expected, rtol=0, atol=20 * np.finfo(dtype).eps * size)


def test_blocks_and_layouts_do_not_matter(monkeypatch):
    m, where, X = feature_map(HEADS[2], True), region(True), rows(700)
    whole, _ = one_pass(m, where, X)
    monkeypatch.setattr(fitted_map.blocks, "rows_per_block", lambda *_: 32)
    for other in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        np.testing.assert_array_equal(one_pass(m, where, other)[0], whole)
    read_only = X.copy()
    read_only.setflags(write=False)
    np.testing.assert_array_equal(one_pass(m, where, read_only)[0], whole)


def test_no_frequencies_and_no_head():
    where, X = region(True), rows(40)
    for m in (feature_map(HEADS[1], True, s=0), feature_map(HEADS[0], True, s=2), feature_map(HEADS[0], True, s=0)):
        out, outside = one_pass(m, where, X)
        np.testing.assert_allclose(out, step_by_step(m, where, X)[0], atol=1e-13)
        assert outside == 0


@pytest.mark.parametrize(
    "where",
    [
        region(True, non_negative=True),
        region(True, found=True),
        region(True, found=True, non_negative=True),
        region(False, reach=2.5),
    ],
    ids=["sign", "length", "length and sign", "distance"],
)
def test_rows_outside_are_counted(where):
    X = rows(500)
    if where.found:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X[:7] *= 1.01
    m = feature_map(HEADS[2], where.sphere)
    expected, outside = step_by_step(m, where, X)
    out, counted = one_pass(m, where, X)
    assert counted == outside > 0
    np.testing.assert_allclose(out, expected, atol=1e-12 * np.abs(expected).max())


def test_rows_that_need_care_go_the_long_way():
    m, X = feature_map(HEADS[2], True), rows(10)
    for bad in (0.0, 1e-150, 1e150):
        odd = X.copy()
        odd[3] *= bad
        assert one_pass(m, region(True), odd)[1] is None
    assert one_pass(m, region(True, normalize=False), X)[1] is None  # not of unit length, and not to be made so
    assert one_pass(m, region(True, normalize=False), X / np.linalg.norm(X, axis=1, keepdims=True))[1] == 0


def test_maps_beyond_one_pass_go_the_long_way(monkeypatch):
    m, X = feature_map(HEADS[2], True), rows(10)
    monkeypatch.setattr(fitted_map, "PANEL_BYTES", 8)
    assert one_pass(m, region(True), X)[1] is None


def test_rows_of_another_width_are_refused():
    """The compiled pass would read outside of its arrays."""
    m = feature_map(HEADS[2], True)
    with pytest.raises(ValueError, match="X must have 6 columns"):
        plain_map(m, region(True), rows(10)[:, :5], np.empty((10, m.n_outputs)))


@pytest.mark.parametrize(("dtype", "huge"), [(np.float32, 1e30), (np.float64, 1e150), (np.float64, 1e200)])
@pytest.mark.parametrize("reach", [2.5, math.inf])
def test_rows_too_large_are_refused_by_number(dtype, huge, reach):
    X = rows(10, dtype)
    X[7, 2] = huge
    m, where = feature_map(HEADS[3], False), region(False, reach=reach)
    with pytest.raises(ValueError, match=r"row 7 of X has length 1e\+"):
        one_pass(m, where, X)
