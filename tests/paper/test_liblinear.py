"""Figure 3 uses the library's Newton solver where the paper uses LibLinear: on the same features they find the same machine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from certificates import hinge_minimum
from krein.kernels import parse_kernel
from krein.learning.newton.machines import Machine
from krein.learning.newton.minimize import minimize
from krein.learning.newton.rows import MemoryRows
from krein.paper.data import rows_of
from krein.paper.methods import PAPER_COSTS, method_of
from krein.paper.plan import Run
from krein.paper.settings import DELTA

ROWS = rows_of(Run("figure3", "letter", DELTA, "default", 64, 64, seed=0, train_rows=800, test_rows=600))
FEATURES = method_of("default").make(parse_kernel(DELTA), 64, 0).fit(ROWS.X_train)
Z_TRAIN, Z_TEST = FEATURES.transform(ROWS.X_train), FEATURES.transform(ROWS.X_test)
CLASSES = np.unique(ROWS.y_train)
TOL = 1e-6  # both stop when the gradient is this small beside the one at zero


@pytest.mark.parametrize("C", PAPER_COSTS)
def test_newton_finds_the_machine_of_liblinear(C):
    codes = np.searchsorted(CLASSES, ROWS.y_train)
    rows, member = MemoryRows(Z_TRAIN, codes), codes[:, None] == np.arange(CLASSES.size)
    newton = minimize(
        rows, Machine("hinge", CLASSES.size, TOL, 1000).problems(C), rows.moments(), tol=TOL, max_iter=1000
    )
    assert newton.converged
    ours = hinge_minimum(Z_TRAIN, member, C, newton.weights[:-1].T, newton.weights[-1])
    ours.assert_stationary(TOL)
    liblinear = LinearSVC(C=C, dual=False, tol=TOL, max_iter=1000).fit(Z_TRAIN, ROWS.y_train)
    theirs = hinge_minimum(Z_TRAIN, member, C, liblinear.coef_, liblinear.intercept_)
    ours.assert_not_above(theirs)
    # both are as near to the minimum as their gradients say, and so are their values of a row of some length
    apart = np.abs(Z_TEST @ (newton.weights[:-1] - liblinear.coef_.T) + newton.weights[-1] - liblinear.intercept_)
    length = np.sqrt(1.0 + np.square(Z_TEST).sum(axis=1))
    assert (apart <= np.outer(length, ours.distance + theirs.distance)).all()
    assert (theirs.distance < 0.02 * np.linalg.norm(newton.weights, axis=0)).all()  # so that this sees a wrong machine
