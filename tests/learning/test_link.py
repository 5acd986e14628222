"""Probabilities from leave-one-out values: the values against refits, the link against its own gradient."""

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Gaussian
from krein.learning.chosen_features import KnownFeatures, MapSource
from krein.learning.kernel_model import fit_kernel_model
from krein.learning.leaves.leaf import LeafSettings, solve_leaf
from krein.learning.link import LeftOut, Link, fit_link
from krein.learning.ridge import learn_more, learn_ridge
from krein.learning.ridge_choice import RidgeOptions
from krein.learning.tuning.choice import Choice
from krein.learning.tuning.placement import Placement
from krein.rows.equal import merge_rows
from krein.rows.source import MatrixRows
from krein.rows.targets import LabelTargets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, "up", "down")
WEIGHT = RNG.integers(1, 4, 40).astype(float)


def ridge(Z, Y, penalty, weight, *, intercept=True):
    """Weighted least squares with a diagonal penalty, from the normal equations with the constant as a column of its own."""
    A = np.column_stack([Z, np.ones(len(Z))]) if intercept else Z
    system = (A.T * weight) @ A + np.diag(np.append(penalty, 0.0) if intercept else penalty)
    coef = np.linalg.solve(system, (A.T * weight) @ Y)
    return lambda new: np.column_stack([new, np.ones(len(new))]) @ coef if intercept else new @ coef


@pytest.mark.parametrize("regularizer", ["hilbert", "two", "krein"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_features_are_left_out_one_copy_each(regularizer, weighted):
    sign = np.array([1.0, 1.0, -1.0])
    lam = np.array([[0.02, 0.05 if regularizer == "two" else 0.02]])
    options = RidgeOptions(regularizer, lam, "loo", True, 100, 0.1)
    source = MapSource(lambda look, choice, width: KnownFeatures(sign))
    weight = WEIGHT if weighted else None
    found = learn_ridge(MatrixRows(X, LABELS, weight), LabelTargets(), source, options, solver="features")
    w = np.ones(40) if weight is None else weight
    penalty = w.sum() * np.where(sign > 0, *lam[0]) * (sign if regularizer == "krein" else 1.0)
    Y = (LABELS[:, None] == ["down", "up"]).astype(float)
    for i in range(40):
        without = w.copy()
        without[i] -= 1.0  # one copy; the penalty is held fixed
        expected = ridge(X, Y, penalty, without)(X[i : i + 1])[0]
        np.testing.assert_allclose(found.left_out.values[i], expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.left_out.targets, Y)
    # rows that come later move the model, and the same rows are left out of the new one
    more = learn_more(found, MatrixRows(X[:7] + 1.0, LABELS[:7], start=40), KnownFeatures(sign), options)
    both, labels = np.concatenate([X, X[:7] + 1.0]), np.concatenate([LABELS, LABELS[:7]])
    weights = np.concatenate([w, np.ones(7)])
    penalty = penalty * weights.sum() / w.sum()
    weights[3] -= 1.0
    expected = ridge(both, (labels[:, None] == ["down", "up"]).astype(float), penalty, weights)(X[3:4])[0]
    np.testing.assert_allclose(more.left_out.values[3], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_an_exact_model_are_left_out_one_copy_each(weighted):
    kernel, lam = Gaussian(1.5), 0.01
    Y = (LABELS[:, None] == ["down", "up"]).astype(float)
    rows = merge_rows(X, Y, WEIGHT if weighted else None)
    choice = Choice(Placement(), kernel, lam)
    left_out = fit_kernel_model(choice, rows, leave_out=True)[2]
    values, vectors = np.linalg.eigh(kernel(rows.X))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    assert left_out.values.shape == (40, 2)
    for i in range(40):
        without = rows.weight.copy()
        without[i] -= 1.0
        expected = ridge(Z, rows.Y, np.full(40, rows.total * lam), without)(Z[i : i + 1])[0]
        np.testing.assert_allclose(left_out.values[i], expected, rtol=0, atol=1e-7)


def test_rows_of_an_indefinite_kernel_are_held_out_in_folds():
    """No value has seen its row: with labels that are pure noise the values say nothing of them."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 4))
    Y = np.eye(2)[rng.integers(0, 2, 300)]
    choice = Choice(Placement(), DeltaGaussian(0.7, 3.0), 1e-3, indefinite=True)
    left_out = fit_kernel_model(choice, merge_rows(rows, Y), leave_out=True)[2]
    margins = left_out.values[:, 1] - left_out.values[:, 0]
    # folds are dealt by rank, so held-out means are a little against the label; six standard deviations of a correlation
    assert np.corrcoef(margins, left_out.targets[:, 1])[0, 1] < 6.0 / np.sqrt(300)


def test_rows_of_a_leaf_are_left_out_as_their_squares_say():
    rows = merge_rows(X.astype(np.float32), (LABELS[:, None] == ["down", "up"]).astype(np.float32))
    leaf = solve_leaf(rows, LeafSettings(Gaussian(1.0), 1.0, 1e-2), 40)
    np.testing.assert_allclose(np.square(leaf.errors.residuals), leaf.errors.squares, rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(leaf.errors.targets, rows.Y)


def shares_of(values):
    return 0.5 * (np.column_stack([-values, values]) + 1.0) if values.shape[1] == 1 else 0.5 * (values + 1.0)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_link_is_the_most_likely_one(n_classes):
    rng = np.random.default_rng(2)
    truth = Link(5.0, 1.4)
    values = rng.normal(size=(4000, 1 if n_classes == 2 else n_classes))
    codes = (truth(values) + rng.gumbel(size=(4000, n_classes))).argmax(axis=1)
    weight = rng.uniform(0.5, 2.0, 4000)
    found = fit_link(LeftOut(values, np.eye(n_classes)[codes], weight))

    def loss(bend, power):
        logs = power * np.log(np.log1p(np.exp(bend * shares_of(values))))
        logs = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
        prior = np.log(bend / 8.0) ** 2 + np.log(power) ** 2
        return prior - (weight / weight.mean()) @ logs[np.arange(4000), codes]

    np.testing.assert_allclose(found(values)[0], Link(found.bend, found.power)(values[:1])[0])
    best = loss(found.bend, found.power)
    for factor in (0.99, 1.01):  # a minimum along both, and a hundredth is seen
        assert loss(factor * found.bend, found.power) > best
        assert loss(found.bend, factor * found.power) > best
    assert found.bend == pytest.approx(5.0, rel=0.5)
    np.testing.assert_allclose(np.exp(found(values)).sum(axis=1), 1.0, rtol=1e-12)


def test_probabilities_keep_the_order_of_values_however_far_they_are():
    values = np.array([[-900.0, -40.0, 1.0], [5.0, 4.0, -1.0], [-2.0, -3.0, -4.0]])
    logs = Link(30.0, 1.5)(values)
    assert np.isfinite(logs).all()
    np.testing.assert_array_equal(np.argsort(logs, axis=1), np.argsort(values, axis=1))


@pytest.mark.parametrize("case", ["all right", "one class is never seen", "one row"])
def test_links_of_data_that_say_little_stay_finite(case):
    values = np.array([[-1.0], [1.0], [0.8]])
    targets = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    if case == "one class is never seen":
        values, targets = np.column_stack([values, -values, 0.0 * values]), np.eye(3)[[0, 0, 1]]
    elif case == "one row":
        values, targets = values[:1], targets[:1]
    found = fit_link(LeftOut(values, targets, np.ones(len(values))))
    assert np.isfinite(found(values)).all()
    assert found.bend > 0.0


@pytest.mark.parametrize("arguments", [(0.0, 1.0), (1.0, np.nan), (np.inf, 1.0)])
def test_links_that_are_none(arguments):
    with pytest.raises(ValueError, match="must be"):
        Link(*arguments)
