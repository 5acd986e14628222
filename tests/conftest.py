"""Fixtures for all tests, and other conditions for them; `helpers`, `catalog` and `certificates` hold what tests import by name.

``KREIN_TEST_SEED=7`` gives every test that draws data other data, ``KREIN_TEST_ORDER=7`` shuffles modules and the tests in each of
them; `perturbed` is a plugin of its own. `tools/conditions.py` runs the suite under all of them.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SEED = int(os.environ.get("KREIN_TEST_SEED", "0"))
ORDER = os.environ.get("KREIN_TEST_ORDER")
HERE = str(Path(__file__).parent)

if SEED:
    usual = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        """For numbers written in tests another stream; the library's own seeds stay what a user gave."""
        drawn_here = sys._getframe(1).f_code.co_filename.startswith(HERE)
        return usual([SEED, seed] if drawn_here and isinstance(seed, int) else seed)

    np.random.default_rng = default_rng


@pytest.fixture
def rng() -> np.random.Generator:
    """The seed is fixed, but any seed must pass."""
    return np.random.default_rng(0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if ORDER is not None:
        items[:] = shuffled(items, random.Random(int(ORDER)))


def shuffled(items: list[pytest.Item], source: random.Random) -> list[pytest.Item]:
    """Modules stay together, as what they share is expensive."""

    def mixed() -> Iterator[list[pytest.Item]]:
        for _, module in groupby(items, key=lambda item: item.nodeid.partition("::")[0]):
            tests = list(module)
            source.shuffle(tests)
            yield tests

    modules = list(mixed())
    source.shuffle(modules)
    return [item for module in modules for item in module]
