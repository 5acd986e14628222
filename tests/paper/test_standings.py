"""Means, deviations, and who beats whom."""

from __future__ import annotations

import math

import pytest

from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.standings import Point, compare, means


def record(method: str, value: float, seed: int = 0, size: int = 8) -> Record:
    run = Run("figure2", "letter", "ntk", method, size, size, seed)
    return Record(run, {"error": value}, {"fit": 1.0, "transform": value})


def test_means():
    stats = means([record("srf", 1.0, 0), record("srf", 2.0, 1), record("srf", 3.0, 2), record("rm", 5.0)], "error")
    one = stats[Point("letter", "ntk", 8, "srf")]
    assert (one.mean, one.deviation, one.count) == (2.0, 1.0, 3)
    assert one.standard_error == pytest.approx(1 / math.sqrt(3))
    assert stats[Point("letter", "ntk", 8, "rm")].deviation == 0.0


def test_the_best_rival_is_met():
    stats = means(
        [record("default", 0.1), record("srf", 0.4), record("rm", 0.2), record("default", 0.1, size=16)], "error"
    )
    (fight,) = compare(stats, "default", ("srf", "rm", "ts"))
    assert (fight.rival, fight.factor, fight.won, fight.clear) == ("rm", pytest.approx(2.0), True, True)
    (lost,) = compare(stats, "srf", ("rm",))
    assert (lost.factor, lost.won) == (pytest.approx(0.5), False)


def test_more_may_be_better():
    stats = means([record("default", 0.9), record("srf", 0.6)], "error")
    (fight,) = compare(stats, "default", ("srf",), larger=True)
    assert fight.factor == pytest.approx(1.5)


def test_rounding_is_no_victory():
    stats = means([record("default", 3e-13), record("nystroem", 2e-15)], "error")
    (fight,) = compare(stats, "default", ("nystroem",))
    assert (fight.factor, fight.won, fight.clear) == (1.0, True, False)


def test_a_noisy_lead_is_not_clear():
    noisy = [record("default", value, seed) for seed, value in enumerate((0.1, 0.5))]
    noisy += [record("srf", value, seed) for seed, value in enumerate((0.2, 0.6))]
    (fight,) = compare(means(noisy, "error"), "default", ("srf",))
    assert fight.won
    assert not fight.clear
