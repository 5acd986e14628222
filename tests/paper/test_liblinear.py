"""Figure 3 uses the library's Newton solver where the paper uses LibLinear: on the same features they find the same machine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from krein import KreinSVC
from krein.kernels import parse_kernel
from krein.learning.newton.machines import Machine
from krein.learning.newton.minimize import minimize
from krein.learning.newton.rows import MemoryRows
from krein.paper.data import rows_of
from krein.paper.methods import PAPER_COSTS, method_of, support_vector_machine
from krein.paper.plan import Run
from krein.paper.settings import DELTA

ROWS = rows_of(Run("figure3", "letter", DELTA, "default", 64, 64, seed=0, train_rows=800, test_rows=600))
FEATURES = method_of("default").make(parse_kernel(DELTA), 64, 0).fit(ROWS.X_train)
Z_TRAIN, Z_TEST = FEATURES.transform(ROWS.X_train), FEATURES.transform(ROWS.X_test)
CLASSES = np.unique(ROWS.y_train)
SIGNS = np.where(ROWS.y_train[:, None] == CLASSES, 1.0, -1.0)
TOL = 1e-6  # both stop when the gradient is this small beside the one at zero


def objective(weights: np.ndarray, C: float) -> np.ndarray:
    """½(‖w‖² + b²) + C Σ max(0, 1 − y f)² for each class; the last row of the weights has the intercepts."""
    slack = np.maximum(1.0 - SIGNS * (Z_TRAIN @ weights[:-1] + weights[-1]), 0.0)
    return 0.5 * np.square(weights).sum(axis=0) + C * np.square(slack).sum(axis=0)


def accuracy(weights: np.ndarray) -> float:
    guess = CLASSES[np.argmax(Z_TEST @ weights[:-1] + weights[-1], axis=1)]
    return float(np.mean(guess == ROWS.y_test))


@pytest.mark.parametrize("C", PAPER_COSTS)
def test_newton_and_liblinear_find_the_same_machine(C):
    rows = MemoryRows(Z_TRAIN, np.searchsorted(CLASSES, ROWS.y_train))
    newton = minimize(
        rows, Machine("hinge", CLASSES.size, TOL, 1000).problems(C), rows.moments(), tol=TOL, max_iter=1000
    )
    assert newton.converged
    liblinear = LinearSVC(C=C, dual=False, tol=TOL, max_iter=1000).fit(Z_TRAIN, ROWS.y_train)
    theirs = np.vstack([liblinear.coef_.T, liblinear.intercept_])
    # The problem is strongly convex with modulus 1: the objective is above its least by at most ‖gradient‖² / 2, and what both
    # leave of the gradient is TOL times the one at zero, 2 C ‖Z̃ᵀ y‖.
    at_zero = 2.0 * C * np.linalg.norm(np.vstack([Z_TRAIN.T @ SIGNS, SIGNS.sum(axis=0)]), axis=0)
    above = np.square(TOL * at_zero) / 2.0
    ours, their_objective = objective(newton.weights, C), objective(theirs, C)
    np.testing.assert_allclose(ours, their_objective, rtol=1e-9, atol=float(above.max()))
    assert np.all(above < 0.02 * ours)  # so that this sees a wrong machine
    # a test row may change sides where two classes tie to within what both leave
    assert accuracy(newton.weights) == pytest.approx(accuracy(theirs), abs=1.5 / len(ROWS.y_test))


def test_cross_validation_sees_the_same_accuracies():
    """So that the choice of C is the same, but for ties."""
    machine = support_vector_machine(method_of("default").make(parse_kernel(DELTA), 64, 0), 0)
    assert machine.optimizer == "newton"
    rows = ROWS.y_train < 6  # six letters, for the time
    scores = [
        KreinSVC(FEATURES, C=machine.C, optimizer=optimizer, random_state=0)
        .fit(ROWS.X_train[rows], ROWS.y_train[rows])
        .cv_scores_
        for optimizer in ("newton", "liblinear-primal")
    ]
    assert np.ptp(scores[0]) > 0.1  # C matters here
    np.testing.assert_allclose(*scores, rtol=0, atol=1.5 / rows.sum())
