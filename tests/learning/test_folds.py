"""Scores with and without the negative part: where it carries the answer, where it carries nothing."""

from __future__ import annotations

import numpy as np
import pytest

from krein.learning.folds import held_out_predictions, score_negative_part


def signed(rng, n=120):
    """Points with two positive and one negative axis."""
    X = rng.normal(size=(n, 3)) * [1.0, 1.0, 2.0]
    return X, (X * [1.0, 1.0, -1.0]) @ X.T


def classes(condition):
    return np.where(np.stack([condition, ~condition], axis=1), 1.0, -1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_on_the_negative_axis(seed):
    rng = np.random.default_rng(seed)
    X, K = signed(rng)
    found = score_negative_part(K, classes(X[:, 2] > 0), rng, labels=True)
    assert found.kept > 0.9
    assert found.dropped < 0.75
    assert found.difference == 1
    numbers = score_negative_part(K, X[:, 2:], rng, labels=False)
    assert numbers.measure == "R2"
    assert numbers.kept > 0.95
    assert numbers.difference == 1


def test_the_answer_on_a_positive_axis():
    rng = np.random.default_rng(0)
    X, K = signed(rng)
    found = score_negative_part(K, classes(X[:, 0] > 0), rng, labels=True)
    assert found.dropped > 0.9
    assert found.difference <= 0


def test_a_positive_matrix_gives_the_same_twice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    found = score_negative_part(X @ X.T, classes(X[:, 0] > 0), rng, labels=True)
    assert found.kept == pytest.approx(found.dropped, abs=0.03)
    assert found.difference == 0


def test_predictions_are_those_of_ridge_written_out():
    """The majorant's ridge on centered similarities, solved without eigenvectors of ours."""
    rng = np.random.default_rng(1)
    _, K = signed(rng, 40)
    y, inside, outside = rng.normal(size=(40, 1)), np.arange(30), np.arange(30, 40)
    kept, dropped = held_out_predictions(K, y, inside, outside)
    H = np.eye(30) - 1.0 / 30
    centered = H @ K[:30, :30] @ H
    across = (K[30:, :30] - K[:30, :30].mean(axis=0)) @ H
    values, U = np.linalg.eigh(centered)
    ridge = 10.0 * np.abs(values).mean()  # the last of the grid
    absolute, flip = (U * np.abs(values)) @ U.T, (U * np.sign(values)) @ U.T
    target = y[:30] - y[:30].mean()
    expected = across @ flip @ np.linalg.solve(absolute + ridge * np.eye(30), target) + y[:30].mean()
    np.testing.assert_allclose(kept[-1], expected, atol=1e-9)
    clip = U[:, values > 1e-9] @ U[:, values > 1e-9].T
    expected = across @ clip @ np.linalg.solve(centered @ clip + ridge * np.eye(30), target) + y[:30].mean()
    np.testing.assert_allclose(dropped[-1], expected, atol=1e-9)
