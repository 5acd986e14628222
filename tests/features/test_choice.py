"""One rule for all choices by held-out error."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from krein.features.choice import EQUAL, MARGIN, first_nearly_best


def test_the_best_if_it_is_better_by_more_than_the_margin():
    assert first_nearly_best([1.0, 0.5, 0.2]) == 2
    assert first_nearly_best([0.2]) == 0
    assert first_nearly_best([0.2 * (1 + 2 * MARGIN), 0.2]) == 1


def test_the_first_of_nearly_equal_ones():
    assert first_nearly_best([0.2 * (1 + MARGIN / 2), 0.2]) == 0
    assert first_nearly_best([0.9, 0.2 * (1 + MARGIN / 2), 0.2, 0.2 * (1 - MARGIN / 3)]) == 1


def test_rounding_errors_are_equal():
    assert first_nearly_best([EQUAL / 2, 1e-16, 0.0]) == 0
    assert first_nearly_best([1e-3, 1e-15, 0.0]) == 1


def test_an_error_that_is_not_finite_is_not_chosen():
    assert first_nearly_best([np.inf, 0.3]) == 1
    assert first_nearly_best([np.nan, 0.3]) == 1
    assert first_nearly_best([0.3, np.nan]) == 0
    assert first_nearly_best([np.nan, np.nan]) == 0


@pytest.mark.parametrize("seed", range(3))
def test_last_digits_decide_nothing(seed):
    rng = np.random.default_rng(seed)
    errors = rng.choice([0.1, 0.1 * (1 + MARGIN / 2), 0.1 * (1 + 3 * MARGIN), 0.5], 6)
    chosen = first_nearly_best(list(errors))
    for signs in itertools.product((-1, 1), repeat=6):
        assert first_nearly_best(list(errors * (1 + 1e-13 * np.array(signs)))) == chosen
