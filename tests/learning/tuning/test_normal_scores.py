"""Columns by their ranks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm, rankdata

from krein.learning.tuning.placement import NormalScores, Placement, normal_scores, scaled_columns
from krein.rows.columns import ColumnSummary

RNG = np.random.default_rng(0)


def test_they_are_the_quantiles_of_ranks() -> None:
    X = np.column_stack([RNG.standard_cauchy(200), RNG.integers(0, 4, 200), np.full(200, 3.0)])
    expected = np.column_stack([norm.ppf((rankdata(column) - 0.5) / 200) for column in X.T])
    np.testing.assert_allclose(normal_scores(X)(X), expected, atol=1e-12)


def test_only_the_order_of_a_column_counts() -> None:
    X = RNG.normal(size=(200, 2))
    np.testing.assert_allclose(normal_scores(np.exp(5.0 * X))(np.exp(5.0 * X)), normal_scores(X)(X), atol=1e-12)


def test_many_values_have_few_knots() -> None:
    X = RNG.lognormal(size=(20_000, 1))
    found = normal_scores(X)
    assert found.knots.shape[1] <= 257
    expected = norm.ppf((rankdata(X) - 0.5) / 20_000)
    np.testing.assert_allclose(found(X)[:, 0], expected, atol=0.1)  # knots are 1/30 apart, in the tails one value
    assert np.abs(found(X)[:, 0] - expected).mean() < 0.005


def test_whole_number_weights_are_copies() -> None:
    X, counts = RNG.normal(size=(60, 2)), 1 + np.arange(60) % 3
    copies, weighted = normal_scores(np.repeat(X, counts, axis=0)), normal_scores(X, counts.astype(float))
    np.testing.assert_allclose(weighted(X), copies(X), atol=1e-12)


def test_rows_beyond_those_seen_stay_at_the_ends() -> None:
    X = RNG.normal(size=(50, 1))
    found = normal_scores(X)
    np.testing.assert_array_equal(found(np.array([[-9.0], [9.0]])), [[found.scores.min()], [found.scores.max()]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_placement_begins_with_them(dtype: type) -> None:
    X = RNG.lognormal(size=(300, 2)).astype(dtype)
    scores = normal_scores(X)
    shift, scale = np.array([0.5, 0.0]), np.array([1.0, 2.0])
    placed = Placement(shift, scale, scores=scores)
    np.testing.assert_allclose(placed(X), (scores(X) - shift) * scale, rtol=1e-6)
    assert placed(X).dtype == dtype
    np.testing.assert_allclose(placed(sp.csr_array(X)), placed(X))
    assert Placement(scores=scores).n_features == 2
    assert scaled_columns("standard", ColumnSummary.of(scores(X)))(scores(X)).std() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("knots", "scores", "message"),
    [
        ([[0.0, 1.0]], [[0.0]], "cannot have scores"),
        ([[1.0, 0.0]], [[0.0, 1.0]], "must ascend"),
        ([[0.0, np.inf]], [[0.0, 1.0]], "finite"),
    ],
)
def test_lines_that_are_none_are_refused(knots: list, scores: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NormalScores(np.array(knots), np.array(scores))


def test_scores_of_other_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be placed"):
        Placement(np.zeros(3), np.ones(3), scores=normal_scores(np.zeros((5, 2))))
