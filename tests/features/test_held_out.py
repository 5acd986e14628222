"""Errors on held-out rows, and how far they can be trusted."""

from __future__ import annotations

import numpy as np
import pytest

from krein.features.held_out import upper_error


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
