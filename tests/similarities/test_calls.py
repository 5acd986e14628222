"""Calling a function on pairs: values as far as they came, and what went wrong."""

from __future__ import annotations

import time

import numpy as np
import pytest

from krein.similarities.calls import Piece, call_elsewhere, call_piece

LEFT, RIGHT = list(range(700)), list(range(3))  # more on the left than are kept as Python's numbers
ALL = Piece(LEFT, RIGHT, (700, 3))


def test_values_come_column_after_column():
    called = call_piece(lambda a, b: a - 10 * b, False, ALL)
    assert called.values.tolist() == [a - 10 * b for b in RIGHT for a in LEFT]
    assert called.values.dtype == np.float64


def test_zipped_pairs():
    called = call_piece(lambda a, b: a * b, False, Piece(LEFT, LEFT[::-1], (700, 700), zipped=True))
    assert called.values.tolist() == [a * b for a, b in zip(LEFT, LEFT[::-1], strict=True)]


def test_the_time_of_a_piece_is_that_of_its_calls():
    def sleepy(a, b):
        time.sleep(0.01)
        return 1.0

    assert call_piece(sleepy, False, Piece([1, 2], [3, 4], (2, 2))).seconds >= 0.04
    assert call_elsewhere(sleepy, False, Piece([1], [3, 4], (1, 2))).seconds >= 0.02


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1j, "1.5", None, np.ones(1), np.ones(2)], ids=str)
@pytest.mark.parametrize("at", [(0, 0), (600, 1), (699, 2)])
def test_a_value_is_refused_wherever_it_stands(wrong, at):
    called = call_piece(lambda a, b: wrong if (a, b) == at else a + b, False, ALL)
    assert called.problem
    assert called.values.tolist() == [a + b for b in RIGHT for a in LEFT][: 700 * at[1] + at[0]]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, LookupError])
@pytest.mark.parametrize("at", [0, 511, 512, 699, 1300, 2099])
def test_values_before_an_exception_are_kept(at, kind):
    made = []

    def breaks(a, b):
        if len(made) == at:
            raise kind("here")
        made.append(float(a - b))
        return made[-1]

    called = call_piece(breaks, False, ALL)
    assert isinstance(called.error, kind)
    assert called.values.tolist() == made


def test_a_value_that_is_no_number_comes_before_a_later_exception():
    def breaks(a, b):
        if (a, b) == (10, 1):
            raise LookupError("later")
        return np.nan if (a, b) == (3, 0) else 1.0

    called = call_piece(breaks, False, ALL)
    assert called.error is None
    assert "returned nan" in called.problem
    assert called.values.size == 3
