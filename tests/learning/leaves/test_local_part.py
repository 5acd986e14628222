"""The local part of a model, from raw rows: placed, dealt, solved, and predicted again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from krein.learning.leave_one_out import LeftOutModel
from krein.learning.leaves import fit as leaf_fit
from krein.learning.leaves.local import LocalPart, LocalTask, fit_local, plan_local
from krein.learning.solve import RidgeFactor
from krein.rows.source import MatrixRows
from krein.rows.targets import NumberTargets


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_fit, "LEAF_ROWS", 128)
    monkeypatch.setattr(leaf_fit, "ONE_LEAF_ROWS", 256)


def table(n: int, seed: int = 0, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, 5)) * [1.0, 1e3, 1e-3, 1.0, 0.0] + [0.0, 1e4, 0.0, -5.0, 7.0]).astype(dtype)
    return X, np.sign(np.sin(2 * X[:, :1]) + 1e3 * X[:, 2:3]).astype(np.float64)


class _Nothing:
    n_features = None

    @property
    def signature(self) -> np.ndarray:
        return np.ones(1)

    def __call__(self, X: Any) -> np.ndarray:
        return np.zeros((X.shape[0], 1))


def task_of(X: np.ndarray, y: np.ndarray) -> LocalTask:
    """Leaves on top of a global model that is zero."""
    targets = NumberTargets()
    targets.note(y, 0, None)
    trend = LeftOutModel(_Nothing(), np.zeros((1, 1)), np.zeros(1), RidgeFactor(np.eye(1)), np.zeros(1), 0.0, True)
    return LocalTask(plan_local(X[::2], y[::2], None, X.shape[0]), trend, targets)


def fitted(X: np.ndarray, y: np.ndarray) -> LocalPart:
    return fit_local(task_of(X, y), MatrixRows(X, y))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_raw_columns_of_any_scale(dtype: type) -> None:
    X, y = table(3000, dtype=dtype)
    part = fitted(X, y)
    assert part.leaves.n_leaves >= 16
    assert part.metric.form != "none"
    assert part.metric.importances[[0, 2]].sum() > 0.7
    T, truth = table(1000, seed=1, dtype=dtype)
    values = part(T)
    assert values.dtype == np.float64
    assert (np.sign(values) == truth).mean() > 0.9


def test_few_rows_are_one_leaf() -> None:
    X, y = table(200)
    assert fitted(X, y).leaves.n_leaves == 1


def test_copies_of_one_row() -> None:
    part = fitted(np.ones((3000, 5)), np.ones((3000, 1)))
    np.testing.assert_allclose(part(np.zeros((2, 5))), 1.0)


def test_a_row_that_is_not_finite_is_named() -> None:
    X, y = table(1001)
    X[999, 1] = np.nan  # an odd number: not in the sample
    with pytest.raises(ValueError, match="row 999"):
        fitted(X, y)


def test_progress_is_reported() -> None:
    X, y = table(3000)
    task = task_of(X, y)
    seen: list[tuple[int, int]] = []
    fit_local(task, MatrixRows(X, y), report=lambda done, of: seen.append((done, of)))
    parts = task.plan.tree.n_leaves
    assert seen == [(i + 1, parts) for i in range(parts)]


@pytest.mark.parametrize("heavy", [False, True])
def test_columns_become_normal_scores_where_that_pays(heavy: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.sin(2.0 * X[:, :1]) + X[:, 1:2]
    placement = plan_local(np.exp(3.0 * X) if heavy else X, y, None, 1500).placement
    assert (placement.scores is not None) == heavy
    assert placement.n_features == 3
