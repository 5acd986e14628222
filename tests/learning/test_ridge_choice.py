"""The choice of λ and of C, with a margin and in a fixed order; samples, columns and targets that the choice rests on."""

import numpy as np
import pytest

from krein.learning.ridge_choice import RidgeOptions, solve_ridge
from krein.learning.ridge_sums import add_rows
from krein.learning.strengths import best_candidate, check_lam
from krein.learning.sums import NormalSums
from krein.rows.columns import ColumnSummary
from krein.rows.equal import distinct_groups
from krein.rows.sample import row_keys, sample_numbers
from krein.rows.source import MatrixRows
from krein.rows.targets import LabelTargets, NumberTargets


class TestBestCandidate:
    LAM = np.geomspace(1e-6, 1e-1, 6)

    def test_strongest_within_a_thousandth(self):
        scores = np.array([0.9, 0.5, 0.5004, 0.50049, 0.51, 0.6])
        assert best_candidate(self.LAM, scores) == 3
        assert best_candidate(self.LAM[::-1], scores[::-1]) == 2

    @pytest.mark.parametrize("seed", range(20))
    def test_rounding_does_not_decide(self, seed):
        """Ties and near ties: the choice is the same when every score is off by a relative 1e-9."""
        rng = np.random.default_rng(seed)
        scores = rng.choice([0.5, 0.5, 0.7, np.inf], size=6)
        scores[2] = 0.5
        noisy = scores * (1.0 + 1e-9 * rng.uniform(-1, 1, 6))
        assert best_candidate(self.LAM, noisy) == best_candidate(self.LAM, scores)

    def test_errors_at_the_size_of_rounding_are_equal(self):
        scores = np.array([3e-25, 1e-25, 2e-25, 5e-20, 1e-3, 1.0])
        assert best_candidate(self.LAM, scores, rounding=1e-18) == 3

    def test_pairs_by_their_product_then_by_their_order(self):
        pairs = np.array([[1.0, 0.01], [0.1, 0.1], [0.1, 10.0], [1.0, 1.0]])
        assert best_candidate(pairs, np.full(4, 0.5)) == 2  # as strong as the last one, and before it
        assert best_candidate(pairs[:2], np.full(2, 0.5)) == 0

    def test_nothing_known(self):
        assert best_candidate(self.LAM, np.full(6, np.inf)) == 5

    def test_targets_whose_squares_are_not_numbers(self):
        assert best_candidate(self.LAM, np.full(6, 0.5), rounding=np.nan) == 5


def test_candidates_are_pairs():
    np.testing.assert_array_equal(check_lam([0.1, 0.2], "hilbert"), [[0.1, 0.1], [0.2, 0.2]])
    np.testing.assert_array_equal(check_lam((0.1, 0.2), "two"), [[0.1, 0.2]])
    assert check_lam("auto", "krein", "gcv") is None


class _Columns:
    """Rows that are features already, the last one negative."""

    signature = np.array([1.0, 1.0, -1.0])
    n_features = 3

    def __call__(self, X):
        return X


def _solved(pairs, selection="gcv"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=50)
    options = RidgeOptions("two", np.array(pairs), selection, True, 100, 0.1)
    targets, features = NumberTargets(), _Columns()
    targets.note(y, 0, None)
    sums = options.new_sums(targets, 3, n_rows=50)
    add_rows(targets, features, sums, 0, X, y, None)
    return solve_ridge(sums, targets, features, options)


class TestSolution:
    def test_a_late_ratio_that_brings_back_an_early_candidate(self, monkeypatch):
        """The second is the strongest of two equals; the third, better and weak, leaves only the first as its equal."""
        scores = iter([1.0, 1.0009, 0.9995])
        monkeypatch.setattr("krein.learning.ridge_choice.gcv_scores", lambda path, sums, mu: np.array([next(scores)]))
        found = _solved([(1.0, 0.01), (1.0, 1.0), (1e-3, 0.1)])
        assert found.lam == (1.0, 0.01)
        np.testing.assert_allclose(found.coefficients, _solved([(1.0, 0.01)]).coefficients, rtol=1e-9)

    @pytest.mark.parametrize("selection", ["loo", "gcv", "validation"])
    def test_small_ratios_are_compared_too(self, selection):
        assert np.isfinite(_solved([(1.0, 1.2345678e-11), (1e-3, 1.2345e-15), (1e-2, 1e-2)], selection).scores).all()


@pytest.mark.parametrize("limit", [1, 30, 500, 1000])
def test_numbers_of_a_sample_are_those_of_smallest_key(limit, monkeypatch):
    monkeypatch.setattr("krein.rows.sample._KEYS_AT_A_TIME", 64)
    keys = row_keys(np.arange(500))
    np.testing.assert_array_equal(sample_numbers(500, limit), np.sort(np.argsort(keys)[:limit]))


def test_the_number_of_targets_stays():
    targets = NumberTargets()
    assert targets.encode(np.zeros(3)).shape == (3,)
    assert targets.encode(np.zeros((3, 1))).shape == (3,)  # as it came at first, so that both can be kept in one vector
    with pytest.raises(ValueError, match=r"2 targets.*1"):
        targets.encode(np.zeros((3, 2)))
    assert targets.vector


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distinct_rows_depend_on_values_only(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(400, 5)).astype(dtype)
    found = X[distinct_groups(X)[0]]
    np.testing.assert_array_equal(np.unique(found, axis=0), np.unique(X, axis=0))
    assert found.shape == np.unique(X, axis=0).shape
    other = X[rng.permutation(400)]
    np.testing.assert_array_equal(found, other[distinct_groups(other)[0]])
    assert not (np.diff(found[:, 0]) >= 0).all()  # no order to it


def test_rounding_keeps_the_order_of_distinct_rows():
    X = np.random.default_rng(1).normal(size=(2000, 3))
    assert np.unique(X[:, 0].astype(np.float32)).size == 2000
    np.testing.assert_array_equal(distinct_groups(X)[0], distinct_groups(X.astype(np.float32))[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_of_parts_are_those_of_the_whole(weighted, dtype):
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(300, 4)) * [1.0, 100.0, 0.01, 0.0] + 7.0).astype(dtype)
    weight = rng.integers(0, 3, 300).astype(float) if weighted else None
    total = None
    for part in np.split(np.arange(300), [1, 2, 100]):
        one = ColumnSummary.of(X[part], None if weight is None else weight[part])
        total = one if total is None else total.merged(one)
    w = np.ones(300) if weight is None else weight
    mean = np.average(X.astype(np.float64), axis=0, weights=w)
    assert total.weight == w.sum()
    np.testing.assert_array_equal(total.least, X[w > 0].min(axis=0))
    np.testing.assert_array_equal(total.greatest, X[w > 0].max(axis=0))
    np.testing.assert_allclose(total.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(total.variance, np.average((X - mean) ** 2, axis=0, weights=w), rtol=1e-11, atol=1e-13)


def test_a_summary_is_valid_or_not_there():
    assert ColumnSummary.of(np.ones((3, 2)), np.zeros(3)) is None
    with pytest.raises(ValueError, match="one number for each column"):
        ColumnSummary(1.0, np.zeros(2), np.zeros(3), np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="positive weight"):
        ColumnSummary(0.0, *np.zeros((4, 2)))


def test_a_row_of_the_sample_is_named_by_its_number(monkeypatch):
    monkeypatch.setattr("krein.rows.look.FEATURE_ROWS", 20)
    X = np.ones((100, 2))
    bad = sample_numbers(100, 20)[7]
    X[bad] = np.inf
    with pytest.raises(ValueError, match=f"row {bad};"):
        MatrixRows(X).look()


def test_sums_of_features_alone_are_those_with_targets():
    rng = np.random.default_rng(3)
    Z, weight = rng.normal(size=(90, 4)) + 5.0, rng.integers(0, 3, 90).astype(float)
    alone, other, beside = NormalSums(Z[0]), NormalSums(Z[0]), NormalSums(Z[0], np.zeros(1))
    alone.add(Z[:40], weight=weight[:40])
    other.add(Z[40:], weight=weight[40:])
    alone.merge(other)
    beside.add(Z, np.zeros((90, 1)), weight)
    np.testing.assert_allclose(alone.centered().gram, beside.centered().gram, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(alone.centered().mean, beside.centered().mean, rtol=1e-14)
    assert alone.rows == np.count_nonzero(weight)
    with pytest.raises(ValueError, match="no sums yet"):
        NormalSums().centered()


def test_labels_are_columns_in_order_of_appearance():
    labels = LabelTargets()
    np.testing.assert_array_equal(labels.columns(labels.encode(np.array(["b", "c"]))), np.eye(2))
    twin = labels.copy()
    assert twin.columns(twin.encode(np.array(["a"]))).shape == (1, 3)
    classes, columns = twin.sorted_classes()
    np.testing.assert_array_equal(classes, ["a", "b", "c"])
    np.testing.assert_array_equal(columns, [2, 0, 1])
    assert labels.sorted_classes()[0].size == 2  # the copy's new class is its own


def test_labels_of_parts_are_noted_like_those_of_the_whole():
    y, weight = np.array([3, 3, 1, 2, 2]), np.array([1.0, 1.0, 0.0, 2.0, 4.0])
    whole, left, right = (LabelTargets(class_weight="balanced") for _ in range(3))
    whole.note(y, 0, weight)
    left.note(y[:2], 0, weight[:2])
    right.note(y[2:], 2, weight[2:])
    left.merge(right)
    for targets in (whole, left):
        targets.settle(all_rows=True)
        np.testing.assert_array_equal(targets.sorted_classes()[0], [2, 3])  # a row of weight zero is not there
        np.testing.assert_allclose(targets.weigh(y, weight), [2.0, 2.0, 0.0, 4 / 3, 8 / 3])


def test_the_shift_of_numbers_is_the_mean_of_the_first_rows():
    y = np.arange(3000.0)
    whole, left, right, late = (NumberTargets() for _ in range(4))
    whole.note(y[:, None], 0, None)
    left.note(y[:1000, None], 0, None)
    right.note(y[1000:, None], 1000, None)
    late.note(y[:, None], 5000, None)
    left.merge(right)
    left.merge(late)
    assert not whole.vector
    for targets in (whole, left):
        np.testing.assert_allclose(targets.shift(intercept=True), [np.arange(1024).mean()])
        np.testing.assert_array_equal(targets.shift(intercept=False), [0.0])
