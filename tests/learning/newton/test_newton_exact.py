"""Classifiers on the exact map of all rows: the map, copies of rows, an independent solution, indefinite kernels."""

import numpy as np
import pytest

from krein.kernels import DeltaGaussian, Gaussian
from krein.learning.newton.exact import exact_map, fit_exact
from krein.learning.newton.fitting import Candidates
from krein.learning.newton.labeled import LabeledRows
from krein.learning.newton.machines import Machine
from krein.learning.tuning.choice import Choice
from krein.learning.tuning.placement import Placement


class Strengths(Candidates):
    """Some strengths, one ratio."""

    def __init__(self, *values):
        self.values = values

    def pairs(self, scale, weight):
        return np.stack([self.values, np.ones(len(self.values))], axis=1)

    @property
    def single(self):
        return len(self.values) == 1

    @property
    def least(self):
        return len(self.values)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = (np.hypot(*X.T) + 0.2 * rng.normal(size=90) > 1.2).astype(int)
    return X, y, rng.integers(1, 4, 90).astype(float)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian(0.7, 3.0)])
@pytest.mark.parametrize("center", [False, True])
def test_map_gives_the_kernel_back(rows, kernel, center):
    X, _, weight = rows
    K = kernel(X)
    found = exact_map(K, weight, center=center)
    H = np.eye(90) - (weight / weight.sum() if center else 0.0)
    np.testing.assert_allclose((found.Z * found.signature) @ found.Z.T, H @ K @ H.T, atol=1e-9)
    gram = (found.Z.T * weight) @ found.Z
    np.testing.assert_allclose(gram, np.diag(np.diagonal(gram)), atol=1e-9)
    if center:
        np.testing.assert_allclose(weight @ found.Z, 0.0, atol=1e-6)
    np.testing.assert_allclose((K - found.mean) @ found.carry, found.Z, atol=1e-5)
    assert (found.signature < 0).any() == isinstance(kernel, DeltaGaussian)


def test_logistic_machine_is_that_of_the_dual(rows):
    """w = Σ α k(·, x) with α = −C weight · loss′ but for the gradient, whose share of that at zero the solver was told."""
    X, y, weight = rows
    K = Gaussian(1.0)(X)
    choice = Choice(Placement(), Gaussian(1.0))
    _, model = fit_exact(Machine("logistic", 2, 1e-9, 200), Strengths(0.3), choice, LabeledRows(X, y, weight))
    sign = 2.0 * y - 1.0

    f, price = model(X)[:, 0], 0.3 * weight
    alpha = price * sign / (1.0 + np.exp(sign * f))
    left = 1e-9 * (0.5 * price.sum() + 1.0)  # √k(x, x) = 1, and a slope at zero is half a price
    off = f - K @ alpha
    assert np.ptp(off) <= 4.0 * left
    assert abs(alpha.sum()) <= 2.0 * left
    assert np.abs(f).max() > 1e3 * left


@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian(0.7, 3.0)])
@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_weights_are_copies(rows, kind, kernel):
    X, y, weight = rows
    choice = Choice(Placement(), kernel, indefinite=isinstance(kernel, DeltaGaussian))
    machine = Machine(kind, 2, 1e-8, 100)
    copies = np.repeat(np.arange(90), weight.astype(int))
    new = np.random.default_rng(1).normal(size=(20, 2))
    one = fit_exact(machine, Strengths(1.0), choice, LabeledRows(X, y, weight))[1]
    other = fit_exact(machine, Strengths(1.0), choice, LabeledRows(X[copies], y[copies], None))[1]
    np.testing.assert_allclose(one(new), other(new), atol=1e-5)


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_strength_for_an_indefinite_kernel_is_chosen_by_honest_folds(rows, kind):
    X, y, weight = rows
    labeled = LabeledRows(X, y, weight)
    machine = Machine(kind, 2, 1e-6, 100)
    strengths = Strengths(0.01, 1.0, 100.0)
    scores = {}
    for indefinite in (False, True):
        choice = Choice(Placement(), DeltaGaussian(0.7, 3.0), indefinite=indefinite)
        found = fit_exact(machine, strengths, choice, labeled)[0].chosen
        scores[indefinite] = found.scores
        assert found.best in (0, 1, 2)
    definite = Choice(Placement(), Gaussian(1.0)), Choice(Placement(), Gaussian(1.0), indefinite=True)
    same = [fit_exact(machine, strengths, choice, labeled)[0].chosen.scores.errors for choice in definite]
    np.testing.assert_allclose(*same, atol=2.0 * weight.max() / weight.sum())  # a kernel without negative part
    assert not np.allclose(scores[False].errors, scores[True].errors)
