"""Predictions of rows without themselves, against fits without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from krein.learning.left_out import left_out_model
from krein.learning.sums import NormalSums
from krein.rows.feature_blocks import Features


class _Identity(Features):
    @property
    def signature(self) -> np.ndarray:
        return np.array([1.0, 1.0, -1.0, 1.0])

    def __call__(self, X: Any) -> np.ndarray:
        return np.asarray(X)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_left_out_is_a_fit_without_the_row(intercept: bool, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(30, 4)) + 1.0, rng.normal(size=(30, 2))
    w = rng.uniform(0.5, 2.0, size=30) if weighted else np.ones(30)
    plus, minus = 0.05, 0.2
    penalty = w.sum() * np.where(_Identity().signature > 0, plus, minus)

    def solved(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.average(Z[rows], axis=0, weights=w[rows]) if intercept else np.zeros(4)
        y_mean = np.average(y[rows], axis=0, weights=w[rows]) if intercept else np.zeros(2)
        C = (Z[rows] - mean) * w[rows, None]
        coef = np.linalg.solve(C.T @ (Z[rows] - mean) + np.diag(penalty), C.T @ (y[rows] - y_mean))
        return coef.T, y_mean - mean @ coef

    sums = NormalSums(None if intercept else np.zeros(4), np.zeros(2))
    sums.add(Z, y, w if weighted else None)
    coef, constant = solved(np.arange(30))
    model = left_out_model(_Identity(), sums.centered(intercept=intercept), (plus, minus), coef, constant)
    got = model(Z, y, w if weighted else None)
    for i in range(30):
        coef, constant = solved(np.delete(np.arange(30), i))
        np.testing.assert_allclose(got[i], coef @ Z[i] + constant, rtol=1e-8)


def test_a_system_that_is_singular_but_for_rounding() -> None:
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(50, 1)), 4, axis=1)
    y = rng.normal(size=(50, 1))
    sums = NormalSums(None, np.zeros(1))
    sums.add(Z, y)
    model = left_out_model(_Identity(), sums.centered(), (1e-30, 1e-30), np.zeros((1, 4)), np.zeros(1))
    assert np.isfinite(model(Z, y)).all()
