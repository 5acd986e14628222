"""Fixtures for all tests; `helpers` and `catalog` beside this file hold what tests import by name."""

from __future__ import annotations

import os

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """The seed is fixed, but any seed must pass: KREIN_TEST_SEED=7 make test."""
    return np.random.default_rng(int(os.environ.get("KREIN_TEST_SEED", "0")))
