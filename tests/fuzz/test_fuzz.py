"""A few hundred cases of the campaign with every run of the tests, and proof that it sees what it should."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import krein
from fuzz import campaign, subjects, trial
from fuzz.shrink import shrink, snippet
from fuzz.tables import Table, draw_table
from fuzz.trial import Trial

SEED = int(os.environ.get("KREIN_TEST_SEED", "0"))


@pytest.mark.parametrize("block", range(10))
def test_cases(block):
    """Each block has cases of its own; KREIN_TEST_SEED draws others."""
    first = 10_000_000 * SEED + 40 * block
    wrong = [
        f"case {seed}: {verdict.text}\n{verdict.snippet}"
        for seed in range(first, first + 40)
        if (verdict := Trial(seed).run()).kind == "failure"
    ]
    assert not wrong, "\n".join(wrong)


def test_everything_public_is_tried():
    found = {*subjects.estimators(), *subjects.kernel_classes(), *(n.rpartition(".")[2] for n in subjects.functions())}
    modules = {"kernels", "baselines", "datasets", "plotting"}
    assert set(krein.__all__) - modules - subjects._LEFT_OUT <= found
    assert {"unit", "minmax_unit"} <= found


def test_tables_are_many_kinds():
    names = [draw_table(np.random.default_rng(seed)).name for seed in range(400)]
    for word in (
        "nan",
        "inf",
        "huge",
        "subnormal",
        "constant",
        "memory map",
        "strided",
        "frame",
        "matrix",
        "float16",
        "objects",
    ):
        assert any(word in name for name in names), word


@pytest.mark.parametrize(
    ("error", "fails"),
    [
        (ValueError("X must have at least 1 row, got 0"), False),
        (TypeError("unsupported operand type(s) for +: 'int' and 'NoneType'"), True),
        (ValueError("no"), True),
        (ZeroDivisionError("division by zero"), True),
        (AssertionError(), True),
    ],
)
def test_the_rule_for_exceptions(monkeypatch, error, fails):
    def raising(**_):
        raise error

    monkeypatch.setattr(trial, "functions", lambda: {"f": raising})
    assert (Trial(0, "f").run().kind == "failure") is fails


@pytest.mark.parametrize("values", [np.full((3, 3), np.nan), np.zeros((3, 2)), np.zeros((3, 3), dtype=int)])
def test_the_rule_for_results(values):
    with pytest.raises(trial.Wrong):
        trial._check_array(values, (3, 3), "k(X)")


def test_a_failure_is_told_as_small_as_it_can_be(monkeypatch):
    """Only the argument and the rows that it takes stay in the snippet."""

    class Broken(krein.KreinRidge):
        def fit(self, X, y, sample_weight=None):
            if self.fit_intercept is False and len(X) >= 3:
                raise ZeroDivisionError("division by zero")
            return self

    table = Table("", np.arange(24.0).reshape(12, 2), np.arange(12.0), np.ones(12), True)
    case = trial.Case("Broken", {"lam": 0.1, "fit_intercept": False}, table, 0)
    monkeypatch.setattr(trial, "estimators", lambda: {"Broken": Broken})
    verdict = trial.run_case(case)
    assert verdict.kind == "failure"
    small = shrink(case, verdict, trial.run_case)
    assert small.arguments == {"fit_intercept": False}
    assert small.table.X.shape == (3, 1)
    assert small.table.weight is None
    assert "Broken(fit_intercept=False)  # then fit" in snippet(small, verdict.step)


def test_a_process_that_dies_and_those_that_hang(monkeypatch):
    """All are failures of their case, also while others go on, and the cases after them are run."""
    monkeypatch.setattr(campaign, "_work", _die_or_hang)
    monkeypatch.setattr(campaign, "HANG", 0.5)
    monkeypatch.setattr(campaign, "PATIENCE", 5.0)
    outcome = campaign.run_campaign(range(1, 8), processes=2)
    failures = dict(outcome.failures)
    assert sorted(failures) == [2, 3, 4]
    assert "died with code 7" in failures[2].text
    assert "hangs" in failures[3].text
    assert "hangs" in failures[4].text
    assert outcome.counts == {"result": 4, "failure": 3}


def _die_or_hang(pipe, make):
    pipe.send(None)
    while (seed := pipe.recv()) is not None:
        if seed == 2:
            os._exit(7)
        while seed == 3:  # busy
            pass
        if seed == 4:  # waits for something that never comes
            time.sleep(100)
        pipe.send(trial.Verdict("result", str(make)))
