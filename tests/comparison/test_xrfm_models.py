"""The estimators around xRFM, with a stand-in for it: what it is given, and what is made of its answers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from krein.comparison import choose_contenders, contenders, table_contenders
from krein.comparison.contenders import last_step
from krein.comparison.xrfm_models import XRFMClassifier


class StandIn:
    """Remembers its targets by row, and answers in a column, as xRFM does."""

    def __init__(self, **settings):
        self.settings = settings

    def fit(self, X, y, X_tune, y_tune):
        self.sizes = len(X), len(X_tune)
        self.tuned_on = y_tune
        self.known = dict(zip(map(bytes, [*X, *X_tune]), [*y, *y_tune], strict=True))

    def predict(self, X):
        return np.array([[self.known[bytes(row)]] for row in X])


@pytest.fixture
def rows(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "xrfm", SimpleNamespace(xRFM=StandIn))
    return rng.standard_normal((50, 3))


def test_classes_come_back_and_each_is_held_out(rows):
    y = np.repeat(["much", "little"], [40, 10])
    model = clone(XRFMClassifier(random_state=3)).fit(rows, y)
    np.testing.assert_array_equal(model.predict(rows), y)
    assert model.model_.sizes == (40, 10)
    np.testing.assert_array_equal(np.bincount(model.model_.tuned_on), [2, 8])
    assert model.model_.settings == {"device": "cpu", "random_state": 3, "verbose": False}


def test_a_class_of_one_row_is_no_error(rows):
    y = np.repeat([4, 7], [49, 1])
    np.testing.assert_array_equal(XRFMClassifier().fit(rows, y).predict(rows), y)


@pytest.mark.parametrize("spread", [0.0, 25.0])
def test_quantities_are_standardized_and_come_back(rows, spread, monkeypatch):
    y = 1000.0 + spread * rows[:, 0]
    monkeypatch.setattr(contenders, "find_spec", lambda name: name)
    (xrfm,) = choose_contenders(table_contenders("regression", 50, 3), ["xrfm"])
    model = clone(xrfm.estimator).fit(rows, y)
    given = np.array(list(last_step(model).model_.known.values()))
    assert given.dtype == np.float32
    assert abs(given.mean()) < 1e-5
    assert given.std() == pytest.approx(float(spread > 0), abs=1e-5)
    np.testing.assert_allclose(model.predict(rows), y, rtol=0, atol=1e-5 * spread)
