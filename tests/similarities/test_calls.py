"""Calling functions on pairs: values as far as they came, and what went wrong."""

from __future__ import annotations

import numpy as np
import pytest

from krein.similarities.calls import call_block, call_elsewhere, call_pairs

LEFT, RIGHT = list(range(7)), list(range(10, 17))


def test_pairs_and_blocks_give_the_same():
    def times(a, b):
        return np.multiply.outer(np.asarray(a), np.asarray(b))

    pairs = call_pairs(lambda a, b: a * b, LEFT, RIGHT).values
    np.testing.assert_array_equal(pairs, np.multiply(LEFT, RIGHT))
    whole = call_block(times, LEFT, RIGHT[:3], (7, 3)).values
    np.testing.assert_array_equal(whole.reshape(7, 3), times(LEFT, RIGHT[:3]))


@pytest.mark.parametrize("at", [0, 3, 6])
@pytest.mark.parametrize("wrong", [np.nan, "text", None, np.ones(2), 1j])
def test_values_before_one_that_is_no_number_are_kept(at, wrong):
    called = call_pairs(lambda a, b: wrong if a == at else a + b, LEFT, RIGHT)
    np.testing.assert_array_equal(called.values, np.add(LEFT, RIGHT)[:at])
    assert called.problem
    assert called.error is None


@pytest.mark.parametrize("at", [0, 3])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_values_before_an_exception_are_kept(at, kind):
    def breaks(a, b):
        if a == at:
            raise kind("no")
        return a + b

    called = call_pairs(breaks, LEFT, RIGHT)
    np.testing.assert_array_equal(called.values, np.add(LEFT, RIGHT)[:at])
    assert isinstance(called.error, kind)
    if kind is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            call_elsewhere(call_pairs, breaks, LEFT, RIGHT)
    else:
        sent = call_elsewhere(call_pairs, breaks, LEFT, RIGHT)
        assert sent.error is None
        assert sent.problem == "ValueError: no"


def test_a_value_that_is_no_number_comes_before_a_later_exception():
    def breaks(a, b):
        if a == 4:
            raise ValueError("later")
        return np.inf if a == 2 else a

    called = call_pairs(breaks, LEFT, RIGHT)
    assert "returned inf" in called.problem
    assert called.values.size == 2
