"""Newton's method against the optimality conditions, in memory and in passes."""

import itertools

import numpy as np
import pytest
from scipy.optimize import check_grad

from certificates import hinge_minimum, logistic_minimum
from krein.learning.newton.losses import BinaryLogistic, Problems, Softmax, SquaredHinge
from krein.learning.newton.machines import Machine, Preparation, fit_machine
from krein.learning.newton.minimize import minimize
from krein.learning.newton.passes import RowTask, prepared_passes
from krein.learning.newton.rows import MemoryRows
from krein.rows.targets import LabelTargets


class Identity:
    """Rows that are features already."""

    def __init__(self, width):
        self.width = self.n_features = width

    @property
    def signature(self):
        return np.ones(self.width)

    def __call__(self, X):
        return X


class Blocks:
    """Rows in blocks, counting the passes over them."""

    def __init__(self, X, y, weight, cuts):
        self.parts = [(a, X[a:b], y[a:b], weight[a:b]) for a, b in itertools.pairwise(cuts)]
        self.passes = 0

    def reduce(self, empty, add):
        self.passes += 1
        for part in self.parts:
            add(empty, *part)
        return empty


@pytest.fixture(scope="module", params=["tall", "wide"])
def rows(request):
    rng = np.random.default_rng(0)
    n, width = (400, 20) if request.param == "tall" else (60, 90)
    Z = rng.normal(size=(n, width)) * np.geomspace(1.0, 0.01, width) + 0.2
    y = rng.integers(0, 3, n)
    Z[:, 0] += y
    return Z, y, rng.integers(0, 3, n).astype(float)


def minimum_of(kind, Z, y, price, found):
    """Of logistic regression around the mean of the rows, as it is computed."""
    if kind == "hinge":
        return hinge_minimum(Z, y[:, None] == np.arange(3), price, found.coef, found.intercept)
    middle = np.average(Z, axis=0, weights=price)
    return logistic_minimum(Z - middle, y, price, found.coef, found.intercept + found.coef @ middle)


@pytest.mark.parametrize(("loss", "columns"), [(SquaredHinge(), 3), (BinaryLogistic(), 3), (Softmax(4), 8)])
def test_derivatives_of_losses(loss, columns):
    rng = np.random.default_rng(1)
    codes, cost = rng.integers(0, 4, 7), rng.uniform(size=(7, columns // loss.size))
    positive = np.arange(columns // loss.size)
    F, T = rng.normal(size=(2, 7, columns))

    def value(flat):
        return loss.evaluate(flat.reshape(7, columns), codes, cost, positive).total.sum()

    def slope(flat):
        return loss.evaluate(flat.reshape(7, columns), codes, cost, positive).slope.ravel()

    assert check_grad(value, slope, F.ravel()) < 1e-6
    at = loss.evaluate(F, codes, cost, positive)
    curved = loss.curve(at.curvature, T)
    np.testing.assert_allclose(
        curved.ravel(), (slope((F + 1e-6 * T).ravel()) - slope((F - 1e-6 * T).ravel())) / 2e-6, atol=1e-7
    )
    unit = np.eye(columns)
    diagonal = np.stack([loss.curve(at.curvature, np.tile(e, (7, 1)))[:, i] for i, e in enumerate(unit)], axis=1)
    np.testing.assert_allclose(loss.diagonal(at.curvature), diagonal, atol=1e-12)
    some = np.array([columns // loss.size - 1])
    part = loss.curve(loss.some(at.curvature, some), T[:, -loss.size :])
    np.testing.assert_allclose(part, curved[:, -loss.size :], atol=1e-14)
    summed = loss.summed(at.curvature)
    for i in range(loss.size):
        ones = np.tile(np.eye(loss.size)[i], (7, columns // loss.size))
        found = loss.curve(at.curvature, ones).sum(axis=0).reshape(-1, loss.size)
        np.testing.assert_allclose(summed[:, :, i], found, atol=1e-12)


@pytest.mark.parametrize("extreme", [800.0, -800.0])
def test_losses_of_large_values_are_finite(extreme):
    F = np.array([[extreme, 0.0, -extreme]])
    for loss in (SquaredHinge(), BinaryLogistic(), Softmax(3)):
        cost = np.ones((1, 3 // loss.size))
        at = loss.evaluate(F, np.array([0]), cost, np.arange(3 // loss.size))
        assert np.isfinite(at.total).all()
        assert np.isfinite(at.slope).all()
        assert all(np.isfinite(part).all() for part in at.curvature)


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradient_of_the_hinge_vanishes(rows, C, dtype):
    Z, y, _ = rows
    tol = 1e-8 if dtype == np.float64 else 1e-4
    memory = MemoryRows(Z.astype(dtype), y)
    found = minimize(memory, Machine("hinge", 3, tol, 100).problems(C), memory.moments(), tol=tol)
    assert found.converged
    W = found.weights.astype(float)
    # rows and weights in single precision: the gradient is what it is for rows rounded to that
    hinge_minimum(Z, y[:, None] == np.arange(3), C, W[:-1].T, W[-1]).assert_stationary(5.0 * tol)


def test_the_machine_is_that_of_liblinear(rows):
    Z, y, weight = rows
    memory = MemoryRows(Z, y, weight)
    found = fit_machine(Machine("hinge", 3, 1e-9, 100), memory, memory.moments(), Preparation(), 2.0)
    hinge_minimum(Z, y[:, None] == np.arange(3), 2.0 * weight, found.coef, found.intercept).assert_stationary(1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gradient_of_logistic_regression_vanishes(rows, C, n_classes):
    Z, y, weight = rows
    y = np.minimum(y, n_classes - 1)
    shift = np.average(Z, axis=0, weights=weight)
    preparation = Preparation(shift)
    memory = MemoryRows(preparation(Z), y, weight)
    found = fit_machine(Machine("logistic", n_classes, 1e-11, 200), memory, memory.moments(), preparation, C)
    assert found.converged
    logistic_minimum(Z, y, C * weight, found.coef, found.intercept).assert_stationary(1e-11)


def test_a_fold_that_is_left_out_is_not_there(rows):
    Z, y, weight = rows
    fold = np.arange(len(Z)) % 3
    memory = MemoryRows(Z, y, weight, fold)
    machine = Machine("hinge", 3, 1e-10, 100)
    found = minimize(memory, machine.problems(1.0, 3), memory.moments(), tol=1e-10)
    assert found.converged
    for held in range(3):
        keep, W = fold != held, found.weights[:, 3 * held : 3 * held + 3]
        minimum = hinge_minimum(Z[keep], y[keep, None] == np.arange(3), weight[keep], W[:-1].T, W[-1])
        # where all nine problems have less than this share of their common gradient at zero, each may have all of that
        minimum.assert_stationary(3.0 * 1e-10)


@pytest.mark.parametrize("loss", [SquaredHinge(), Softmax(3)])
def test_products_and_solvers_are_those_of_the_hessian(rows, loss):
    Z, y, weight = rows
    rng = np.random.default_rng(1)
    n = 3 // loss.size
    problems = Problems(loss, np.arange(n), np.full(n, -1), rng.uniform(0.5, 2.0, n))
    W = 0.3 * rng.normal(size=(Z.shape[1] + 1, 3))
    point = MemoryRows(Z, y, weight).at(W, problems)
    A = np.concatenate([Z, np.ones((len(Z), 1))], axis=1)
    at = problems.evaluate(A @ W, y, problems.cost(weight, None, np.float64))
    V = rng.normal(size=W.shape)
    np.testing.assert_allclose(point.product(V, np.arange(n)), A.T @ loss.curve(at.curvature, A @ V), atol=1e-9)
    columns = np.array([0, 2])
    penalty = np.ones(A.shape[1])
    if loss.size > 1:
        penalty[-1] = 0.0
    for column, solve in zip(columns, point.solvers(columns, penalty), strict=True):
        block = (A.T * loss.diagonal(at.curvature)[:, column]) @ A + np.diag(penalty)
        np.testing.assert_allclose(block @ solve(V[:, 0]), V[:, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_passes_over_blocks_give_the_machine_of_all_rows(rows, kind, C):
    Z, y, weight = rows
    tol = 1e-4 if C <= 1.0 else 1e-9
    machine = Machine(kind, 3, tol, 100)
    blocks = Blocks(Z, y, weight, [0, 7, 50, 51, len(Z)])
    passes, moments = prepared_passes(
        blocks, RowTask(Identity(Z.shape[1]), LabelTargets(np.arange(3))), center=kind == "logistic"
    )
    there = fit_machine(machine, passes, moments, passes.task.preparation, C)
    assert there.converged
    minimum_of(kind, Z, y, C * weight, there).assert_stationary(tol)
    assert blocks.passes < 60 or C > 1.0


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_where_conjugate_gradients_stall_a_factorization_takes_over(rows, kind, monkeypatch):
    Z, y, weight = rows
    machine = Machine(kind, 3, 1e-9, 100)
    memory = MemoryRows(Z - np.average(Z, axis=0, weights=weight), y, weight)
    monkeypatch.setattr("krein.learning.newton.system._price", lambda *_: 1)
    monkeypatch.setattr("krein.learning.newton.system._PATIENCE", 1)
    monkeypatch.setattr("krein.learning.newton.system._LAST", 100)
    calls = []
    solvers = type(memory.at(np.zeros((Z.shape[1] + 1, 3)), machine.problems(1.0))).solvers
    monkeypatch.setattr(
        "krein.learning.newton.rows.MemoryPoint.solvers",
        lambda self, *args: calls.append(1) or solvers(self, *args),
    )
    found = fit_machine(machine, memory, memory.moments(), Preparation(), 10.0)
    assert calls
    assert found.converged
    minimum_of(kind, memory.Z, y, 10.0 * weight, found).assert_stationary(1e-9)
    blocks = Blocks(memory.Z, y, weight, [0, 30, len(Z)])
    passes, moments = prepared_passes(blocks, RowTask(Identity(Z.shape[1]), LabelTargets(np.arange(3))), center=False)
    there = fit_machine(machine, passes, moments, passes.task.preparation, 10.0)
    assert there.converged
    minimum_of(kind, memory.Z, y, 10.0 * weight, there).assert_stationary(1e-9)


def test_max_iter_is_respected_and_reported(rows):
    Z, y, _ = rows
    memory = MemoryRows(Z, y)
    found = minimize(memory, Machine("hinge", 3, 1e-12, 1).problems(1000.0), memory.moments(), tol=1e-12, max_iter=1)
    assert not found.converged
    assert found.n_iter == 1
