"""Errors on held-out rows, and how far they can be trusted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from krein.features.held_out import EQUAL, MARGIN, first_nearly_best, upper_error


def test_an_error_that_hangs_on_few_rows_has_a_large_standard_error(rng):
    """For independent entries the standard error is small, and the bound near the error; one bad row triples its square."""
    exact = np.ones((400, 50))
    even = 0.1 * rng.standard_normal((400, 50))
    assert upper_error(even, exact) == pytest.approx(0.1, rel=0.03)
    assert upper_error(even, exact) > np.linalg.norm(even) / np.linalg.norm(exact)
    odd = np.zeros((400, 50))
    odd[7] = 1.0
    assert upper_error(odd, exact) == pytest.approx(
        np.sqrt(3.0) * np.linalg.norm(odd) / np.linalg.norm(exact), rel=0.01
    )
    assert upper_error(np.ones((1, 1)), np.ones((1, 1))) == pytest.approx(np.sqrt(0.001))


def test_the_bound_covers_what_other_rows_have(rng):
    """Errors of rows drawn from a law with rare large ones: in nine of ten draws, at least, the truth is below the bound."""
    true = np.sqrt(0.99 * 1.0 + 0.01 * 400.0)
    covered = 0
    for _ in range(200):
        size = np.where(rng.random(500) < 0.01, 20.0, 1.0)
        left = size[:, None] * rng.standard_normal((500, 40))
        covered += upper_error(left, np.ones((500, 40))) > true
    # Two standard errors cover 98 of 100 for a normal law, a few less here: 185 with a spread of 4
    assert covered >= 160


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
