"""Newton's method for the squared hinge against LibLinear and against the optimality conditions."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from krein.learning.newton_system import factorized_step
from krein.learning.squared_hinge import squared_hinge


def gradient_of(Z, signs, cost, W):
    slack = np.maximum(1.0 - signs * (Z @ W[:-1] + W[-1]), 0.0)
    R = 2.0 * signs * cost * slack
    return W - np.concatenate([Z.T @ R, R.sum(axis=0, keepdims=True)])


@pytest.fixture(scope="module", params=["tall", "wide"])
def rows(request):
    rng = np.random.default_rng(0)
    n, width = (400, 20) if request.param == "tall" else (60, 90)
    Z = rng.normal(size=(n, width)) * np.geomspace(1.0, 0.01, width)
    y = rng.integers(0, 3, n)
    Z[:, 0] += y
    return Z, y, np.where(y[:, None] == np.arange(3), 1.0, -1.0)


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradient_vanishes(rows, C, dtype):
    Z, _, signs = rows
    found = squared_hinge(Z.astype(dtype), signs, np.full(signs.shape, C), tol=1e-8 if dtype == np.float64 else 1e-4)
    assert found.converged
    start = np.linalg.norm(gradient_of(Z, signs, C, np.zeros_like(found.weights)))
    size = np.linalg.norm(gradient_of(Z, signs, C, found.weights.astype(float)))
    assert size < (1e-7 if dtype == np.float64 else 1e-3) * start


def test_same_machine_as_liblinear(rows):
    Z, y, signs = rows
    found = squared_hinge(Z, signs, np.full(signs.shape, 2.0), tol=1e-9)
    other = LinearSVC(C=2.0, dual=False, tol=1e-9, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(found.weights[:-1].T, other.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.weights[-1], other.intercept_, rtol=1e-4, atol=1e-5)


def test_a_row_of_cost_zero_is_not_there(rows):
    Z, _, signs = rows
    cost = np.full(signs.shape, 1.0)
    cost[::3] = 0.0
    keep = np.arange(len(Z)) % 3 != 0
    some = squared_hinge(Z, signs, cost, tol=1e-10)
    fewer = squared_hinge(Z[keep], signs[keep], np.full(signs[keep].shape, 1.0), tol=1e-10)
    np.testing.assert_allclose(some.weights, fewer.weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(some.values, Z @ some.weights[:-1] + some.weights[-1], atol=1e-10)


def test_factorized_step_solves_the_newton_system(rows):
    Z, _, _ = rows
    rng = np.random.default_rng(1)
    curvature = rng.uniform(0.0, 2.0, len(Z)) * (rng.uniform(size=len(Z)) < 0.5)
    gradient = rng.normal(size=Z.shape[1] + 1)
    A = np.concatenate([Z, np.ones((len(Z), 1))], axis=1)
    system = np.eye(A.shape[1]) + (A.T * curvature) @ A
    np.testing.assert_allclose(system @ factorized_step(Z, curvature, gradient), -gradient, atol=1e-9)


def test_max_iter_is_respected_and_reported(rows):
    Z, _, signs = rows
    found = squared_hinge(Z, signs, np.full(signs.shape, 1000.0), tol=1e-12, max_iter=1)
    assert not found.converged
    assert found.n_iter == 1
