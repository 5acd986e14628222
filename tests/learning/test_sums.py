"""Sums over rows: the same in one piece and in many, with and without weights, far from the origin."""

import numpy as np
import pytest

from krein.learning import NormalSums
from krein.learning.ridge_sums import RidgeSums
from krein.rows.blocks import FeatureBlock
from krein.rows.sample import RowSample, row_keys


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(500, 7)) + 3.0, rng.normal(size=(500, 2)) - 2.0
    weight = rng.uniform(0.0, 2.0, size=500)
    for array in (Z, Y, weight):
        array.setflags(write=False)
    return Z, Y, weight


def reference(Z, Y, weight):
    mean, y_mean = np.average(Z, axis=0, weights=weight), np.average(Y, axis=0, weights=weight)
    A, B = (Z - mean), (Y - y_mean)
    return mean, y_mean, (A.T * weight) @ A, (A.T * weight) @ B, weight @ B**2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [(), (1, 2, 499), (250,)])
def test_centered_sums_do_not_depend_on_blocks(rows, weighted, cuts):
    Z, Y, weight = rows
    sums = NormalSums(Z[:10].mean(axis=0), Y[:10].mean(axis=0))
    for part in np.split(np.arange(500), cuts):
        sums.add(Z[part], Y[part], weight[part] if weighted else None)
    found = sums.centered()
    mean, y_mean, gram, cross, square = reference(Z, Y, weight if weighted else np.ones(500))
    np.testing.assert_allclose(found.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(found.y_mean, y_mean, rtol=1e-13)
    np.testing.assert_allclose(found.gram, gram, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.cross, cross, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.square, square, rtol=1e-11)
    assert found.counts is not weighted
    assert (found.gram == found.gram.T).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_at_once(weighted):
    """More than are shifted at a time."""
    rng = np.random.default_rng(1)
    Z, Y, weight = rng.normal(size=(5000, 4)) + 1.0, rng.normal(size=(5000, 2)), rng.integers(3, size=5000) * 1.0
    sums = NormalSums(None, Y[0])
    sums.add(Z, Y, weight if weighted else None)
    found = sums.centered()
    mean, _, gram, cross, _ = reference(Z, Y, weight if weighted else np.ones(5000))
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.gram, gram, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found.cross, cross, rtol=1e-10, atol=1e-9)
    assert sums.rows == (np.count_nonzero(weight) if weighted else 5000)
    assert found.counts


def test_shift_keeps_the_digits_that_a_plain_sum_loses(rows):
    Z, Y, _ = rows
    far = Z + 1e7
    sums = NormalSums(far[:50].mean(axis=0), np.zeros(2))
    sums.add(far, Y)
    exact = NormalSums(Z[:50].mean(axis=0), np.zeros(2))
    exact.add(far - 1e7, Y)  # far has lost the last digits of Z; compare with what is left of them
    np.testing.assert_allclose(sums.centered().gram, exact.centered().gram, rtol=1e-10, atol=1e-8)


def test_float32_features_are_multiplied_in_float64(rows):
    Z, Y, _ = rows
    single = Z.astype(np.float32)
    sums, double = NormalSums(np.zeros(7), np.zeros(2)), NormalSums(np.zeros(7), np.zeros(2))
    sums.add(single, Y)
    double.add(single.astype(np.float64), Y)
    assert (sums.centered(intercept=False).gram == double.centered(intercept=False).gram).all()


def test_without_intercept_the_features_must_not_be_shifted(rows):
    Z, Y, _ = rows
    sums = NormalSums(np.ones(7), np.zeros(2))
    sums.add(Z, Y)
    with pytest.raises(ValueError, match="shift 0"):
        sums.centered(intercept=False)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_targets_may_appear_late(rows, shift):
    Z, _, weight = rows
    Y = np.zeros((500, 3))
    Y[np.arange(500), np.repeat([0, 1, 2], [200, 200, 100])] = 1.0
    whole = NormalSums(Z[0], np.full(3, shift), shift)
    whole.add(Z, Y, weight)
    grown = NormalSums(Z[0], np.zeros(0), shift)
    for part, seen in ((slice(0, 200), 1), (slice(200, 400), 2), (slice(400, 500), 3)):
        grown.widen(seen)
        grown.add(Z[part], Y[part, :seen], weight[part])
    narrow, wide = NormalSums(Z[0], np.full(1, shift), shift), NormalSums(Z[0], np.full(3, shift), shift)
    narrow.add(Z[:200], Y[:200, :1], weight[:200])
    wide.add(Z[200:], Y[200:], weight[200:])
    wide.merge(narrow)
    for other in (grown, wide):
        for name in ("gram", "cross", "square", "mean", "y_mean"):
            np.testing.assert_allclose(
                getattr(other.centered(), name), getattr(whole.centered(), name), rtol=1e-11, atol=1e-10, err_msg=name
            )


def test_sums_about_different_shifts_are_brought_to_one(rows):
    """As of blocks on several machines, none of which knows the mean of the others."""
    Z, Y, weight = rows
    whole, left, right = (NormalSums(shift, np.zeros(Y.shape[1])) for shift in (Z.mean(axis=0), None, Z[400] + 3.0))
    whole.add(Z, Y, weight)
    left.add(Z[:123], Y[:123], weight[:123])
    right.add(Z[123:], Y[123:], weight[123:])
    moved = right._matrix.copy()
    left.merge(right)
    np.testing.assert_array_equal(right._matrix, moved)  # what is merged stays as it is
    assert not np.allclose(left.shift, right.shift)
    for name in ("gram", "cross", "square", "mean", "y_mean", "weight"):
        ours, truth = getattr(left.centered(), name), getattr(whole.centered(), name)
        np.testing.assert_allclose(ours, truth, rtol=1e-10, atol=1e-9, err_msg=name)


def test_keys_are_uniform_and_belong_to_row_numbers():
    keys = row_keys(np.arange(100_000))
    assert np.unique(keys).size == keys.size
    counts = np.histogram(keys, bins=20, range=(0, 1))[0]
    # 20 cells of mean 5000 and deviation 69: six deviations have probability 2e-9 each
    assert np.abs(counts - 5000).max() < 6 * 69
    assert abs(np.corrcoef(keys[:-1], keys[1:])[0, 1]) < 6 / np.sqrt(1e5)
    np.testing.assert_array_equal(keys[777:999], row_keys(np.arange(777, 999)))


@pytest.mark.parametrize("limit", [1, 50, 1000, 5000])
def test_sample_is_the_same_however_the_stream_is_cut(limit):
    X = np.arange(1000.0)[:, None]
    whole = RowSample(limit)
    whole.add(np.arange(1000), X, X[:, 0])
    parts = [RowSample(limit) for _ in range(3)]
    for i, start in enumerate(range(0, 1000, 90)):
        rows = np.arange(start, min(1000, start + 90))
        parts[i % 3].add(rows, X[rows], X[rows, 0])
    parts[1].merge(parts[2])
    parts[1].merge(parts[0])
    for one, many in zip(whole.columns(), parts[1].columns(), strict=True):
        np.testing.assert_array_equal(one, many)
    assert len(whole) == min(limit, 1000)


def test_sums_of_parts_merge_into_those_of_the_whole(rows):
    Z, Y, weight = rows

    def empty():
        return RidgeSums(Z[0], Y[0], kept_rows=40, keep_features=True, held_fraction=0.3)

    def add(sums, part):
        sums.add(FeatureBlock(np.arange(500)[part], Z[part], Z[part], None, weight[part]), Y[part], Y[part])

    whole, left, right = empty(), empty(), empty()
    add(whole, slice(None))
    add(right, slice(123, None))
    add(left, slice(123))
    before = left.copy()
    left.merge(right)
    for pick in (lambda sums: sums.train, lambda sums: sums.held, lambda sums: sums.everything()):
        np.testing.assert_allclose(pick(left).centered().gram, pick(whole).centered().gram, rtol=1e-11, atol=1e-11)
    for one, other in zip(left.kept.columns(), whole.kept.columns(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert 0.2 < whole.held.rows / 500 < 0.4
    assert before.train.rows + right.train.rows == left.train.rows  # a copy does not follow
