"""The local part of a model, from raw rows: placed, dealt, solved, and predicted again."""

from __future__ import annotations

import numpy as np
import pytest

from krein.learning.leaves import LocalPart, LocalPlan, fit_local, plan_local
from krein.learning.leaves import fit as leaf_fit


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_fit, "LEAF_ROWS", 128)
    monkeypatch.setattr(leaf_fit, "ONE_LEAF_ROWS", 256)


def table(n: int, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, 5)) * [1.0, 1e3, 1e-3, 1.0, 0.0] + [0.0, 1e4, 0.0, -5.0, 7.0]).astype(dtype)
    return X, np.sign(np.sin(2 * X[:, :1]) + 1e3 * X[:, 2:3]).astype(np.float64)


def fitted(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> tuple[LocalPlan, LocalPart]:
    plan = plan_local(X[::2], y[::2], None if weight is None else weight[::2], X.shape[0])
    return plan, fit_local(plan, None, X, lambda rows: y[rows], weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_raw_columns_of_any_scale(dtype: type) -> None:
    X, y = table(3000, dtype=dtype)
    plan, part = fitted(X, y)
    assert part.leaves.n_leaves >= 16
    assert plan.metric.form != "none"
    assert part.metric.importances[[0, 2]].sum() > 0.7
    T, truth = table(1000, seed=1, dtype=dtype)
    values = part(T)
    assert values.dtype == np.float64
    assert (np.sign(values) == truth).mean() > 0.9


def test_few_rows_are_one_leaf() -> None:
    X, y = table(200)
    assert fitted(X, y)[1].leaves.n_leaves == 1


def test_copies_of_one_row() -> None:
    part = fitted(np.ones((3000, 5)), np.ones((3000, 1)))[1]
    np.testing.assert_allclose(part(np.zeros((2, 5))), 1.0)


def test_a_row_that_is_not_finite_is_named() -> None:
    X, y = table(1001)
    X[999, 1] = np.nan  # an odd number: not in the sample
    with pytest.raises(ValueError, match="row 999"):
        fitted(X, y)


def test_progress_is_reported() -> None:
    X, y = table(3000)
    plan = plan_local(X, y, None, 3000)
    seen: list[tuple[int, int]] = []
    fit_local(plan, None, X, lambda rows: y[rows], None, report=lambda done, of: seen.append((done, of)))
    assert seen == [(i + 1, plan.tree.n_leaves) for i in range(plan.tree.n_leaves)]
