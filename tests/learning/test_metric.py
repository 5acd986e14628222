"""A learned metric finds the columns, and the directions, that matter, and none where there is nothing to find."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from krein.kernels import Cauchy, Gaussian, Kernel, Laplacian, Matern
from krein.learning.metric import LearnedMetric, kernel_gradients, learn_metric
from krein.rows.equal import merge_rows


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def test_columns_that_matter() -> None:
    X = rows(800, 12)
    found = learn_metric(merge_rows(X, np.sin(2 * X[:, 3:4]) + X[:, 7:8] ** 2))
    assert found.form in ("diagonal", "full")
    assert set(np.argsort(found.importances)[-2:]) == {3, 7}
    assert found.importances[[3, 7]].sum() > 0.8
    assert found.importances.sum() == pytest.approx(1.0)
    errors = {(trial.form, trial.rounds): trial.error for trial in found.trials}
    assert min(errors.values()) < 0.8 * errors["none", 0]


def test_directions_that_matter() -> None:
    X = rows(800, 8)
    direction = np.ones(8) / np.sqrt(8.0)
    found = learn_metric(merge_rows(X, np.sin(3 * X @ direction)[:, None]))
    assert found.form == "full"
    assert found.directions is not None
    values, vectors = np.linalg.eigh(found.directions)
    assert values[-1] == pytest.approx(1.0)
    assert abs(vectors[:, -1] @ direction) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_noise_has_no_metric_that_pays_much(seed: int) -> None:
    """A gain of a standard error comes by chance in one of six; it may not look large."""
    X = rows(400, 6, seed)
    found = learn_metric(merge_rows(X, rows(400, 1, seed + 100)))
    assert found.form == "none" or min(trial.error for trial in found.trials) > 0.9 * found.trials[0].error


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (rows(50, 3), rows(50, 1)),
        (rows(500, 3), np.ones((500, 1))),
        (np.ones((500, 3)), rows(500, 1)),
        (rows(500, 1), rows(500, 1)),
    ],
    ids=["few rows", "constant", "one point", "one column"],
)
def test_nothing_to_learn(X: np.ndarray, y: np.ndarray) -> None:
    found = learn_metric(merge_rows(X, y))
    assert found.form == "none"
    assert found.directions is None
    np.testing.assert_allclose(found.importances, 1.0 / X.shape[1])


def test_a_column_of_zeros_gets_no_weight() -> None:
    X = rows(400, 4)
    X[:, 2] = 0.0
    found = learn_metric(merge_rows(X, np.sign(X[:, :1])))
    assert found.importances[2] == 0.0


def test_copies_are_weights() -> None:
    X = rows(300, 4)
    y, counts = np.sign(X[:, :1]) + 0.1 * rows(300, 1, 5), 1 + np.arange(300) % 3
    copies = learn_metric(merge_rows(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0)))
    weighted = learn_metric(merge_rows(X, y, counts.astype(float)))
    np.testing.assert_allclose(copies.importances, weighted.importances, rtol=1e-6)


def test_a_form_without_its_directions_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot have directions"):
        LearnedMetric("full", None, np.ones(2) / 2, ())


RNG = np.random.default_rng(0)


def differences(function, X: np.ndarray) -> np.ndarray:
    """Central differences, shape (n_outputs, n_rows, n_features)."""
    step = 1e-5
    parts = [(function(X + step * e) - function(X - step * e)) / (2 * step) for e in np.eye(X.shape[1])]
    return np.stack(parts, axis=-1).transpose(1, 0, 2)


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.3), Laplacian(0.8), Matern(1.0, 1.5), Cauchy(1.0) - Gaussian(2.0)], ids=repr
)
def test_kernel_gradients(kernel: Kernel) -> None:
    rows, dual, X = RNG.normal(size=(30, 4)) + 50.0, RNG.normal(size=(30, 2)), RNG.normal(size=(700, 4)) + 50.0
    got = kernel_gradients(kernel, X, rows, dual)
    np.testing.assert_allclose(got, differences(lambda points: kernel(points, rows) @ dual, X), atol=2e-7)


def test_a_center_itself_is_left_out() -> None:
    rows, dual = RNG.normal(size=(30, 4)), RNG.normal(size=(30, 2))
    others = np.arange(1, 30)
    got = kernel_gradients(Laplacian(1.0), rows[:1], rows, dual)
    np.testing.assert_allclose(got, kernel_gradients(Laplacian(1.0), rows[:1], rows[others], dual[others]), atol=1e-12)


def test_many_columns_need_no_matrix_of_their_products(rng):
    X = rng.normal(size=(200, 4000))
    rows = merge_rows(X, np.tanh(X[:, :1]))
    tracemalloc.start()
    learn_metric(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 4000**2 / 2
