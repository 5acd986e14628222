"""Folds, merged rows, and the choice of a strength."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import log_loss

from krein.learning.newton.held_out import Scores, best_strength, held_out_scores, held_out_values, log_chances
from krein.learning.newton.labeled import LabeledRows, deal_folds
from krein.learning.newton.machines import Machine
from krein.learning.newton.minimize import minimize
from krein.learning.newton.rows import MemoryRows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(150, 3)).astype(float)
    return X, rng.integers(0, 3, 150), rng.integers(0, 3, 150).astype(float)


@pytest.mark.parametrize("sparse", [False, True])
def test_folds_depend_on_rows_not_on_their_order(rows, sparse):
    X, y, _ = rows
    X = sp.csr_array(X) if sparse else X
    fold = deal_folds(X, y, 5)
    order = np.random.default_rng(1).permutation(150)
    np.testing.assert_array_equal(deal_folds(X[order], y[order], 5), fold[order])
    dense = X.toarray() if sparse else X
    for row in np.unique(dense, axis=0):
        assert np.unique(fold[(dense == row).all(axis=1)]).size == 1


def test_folds_are_balanced_and_keep_a_class_of_one_row_in_sight():
    X = np.arange(41.0)[:, None]
    y = np.concatenate([np.zeros(20), np.ones(20), [2]]).astype(int)
    fold = deal_folds(X, y, 5)
    for code in (0, 1):
        np.testing.assert_array_equal(np.bincount(fold[y == code]), np.full(5, 4))
    assert fold[-1] == -1


def test_merged_rows_are_copies(rows):
    X, y, weight = rows
    some = LabeledRows(X, y, weight).merged()
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(150), weight.astype(int)))
    other = LabeledRows(X[copies], y[copies], None).merged()
    for name in ("X", "codes", "weight"):
        np.testing.assert_array_equal(getattr(some, name), getattr(other, name))
    assert np.unique(np.column_stack([some.X, some.codes]), axis=0).shape[0] == some.codes.size
    assert some.weight.sum() == weight.sum()


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_all_folds_at_once_are_each_fold_alone(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    Z = rng.normal(size=(120, 5)) + 1.0 * np.eye(5)[y]
    weight = rng.uniform(0.5, 2.0, 120)
    fold = deal_folds(Z, y, 4)
    machine = Machine(kind, 3, 1e-9, 100)
    memory = MemoryRows(Z, y, weight, fold)
    strengths = (0.01, 1.0, 10.0)
    found = held_out_scores(memory, memory.moments(), machine, strengths, 4)
    for i, strength in enumerate(strengths):
        values = np.empty((120, 3))
        for held in range(4):
            inside = fold != held
            part = MemoryRows(Z[inside], y[inside], weight[inside])
            one = minimize(
                part, machine.problems(strength), part.moments(), free_intercept=machine.free_intercept, tol=1e-9
            )
            values[~inside] = Z[~inside] @ one.weights[:-1] + one.weights[-1]
        wrong = np.average(values.argmax(axis=1) != y, weights=weight)
        assert found.errors[i] == pytest.approx(wrong, abs=2.5 * weight.max() / weight.sum())
        if kind == "logistic":
            expected = log_loss(y, np.exp(log_chances(values)), sample_weight=weight)
            assert found.log_loss[i] == pytest.approx(expected, rel=2e-3)


def test_the_path_ends_when_it_only_gets_worse():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    Z = rng.normal(size=(60, 20))  # nothing to learn: the strongest penalty is best
    memory = MemoryRows(Z, y, fold=deal_folds(Z, y, 3))
    strengths = np.geomspace(1e-4, 1e4, 17)
    found = held_out_scores(memory, memory.moments(), Machine("logistic", 2, 1e-6, 100), strengths, 3)
    # which of the strong penalties is best is chance; far weaker ones are worse, and are not tried
    assert np.isinf(found.log_loss[-4:]).all()
    assert best_strength(found, Machine("logistic", 2, 1e-6, 100)) < 8
    all_values = list(held_out_values(memory, memory.moments(), Machine("logistic", 2, 1e-6, 100), strengths[:3], 3))
    assert [v.shape for v in all_values] == [(60, 1)] * 3


def test_of_equal_strengths_the_weakest():
    hinge, logistic = Machine("hinge", 2, 1e-4, 100), Machine("logistic", 2, 1e-4, 100)
    nothing = np.full(4, np.inf)
    assert best_strength(Scores(np.array([0.06, 0.0509, 0.05, 0.05]), nothing), hinge) == 1
    assert best_strength(Scores(np.zeros(4), np.array([0.3, 0.2001, 0.2, np.inf])), logistic) == 1
