"""A digest that sees every change of the data and none of how they are held."""

import numpy as np
import pytest

from krein.datasets.catalog import content_digest

X = np.arange(12, dtype=np.float32).reshape(3, 4)
y = np.array([1, -1, 1], dtype=np.int8)


@pytest.mark.parametrize(
    "same",
    [
        {"y": y, "X": X},
        {"X": np.asfortranarray(X), "y": y},
        {"X": X.astype(">f4"), "y": y},
        {"X": np.where(X == 0, np.float32(-0.0), X), "y": y},
        {"X": np.repeat(X, 2, axis=0)[::2], "y": y},
    ],
)
def test_how_they_are_held_does_not_count(same):
    assert content_digest(same) == content_digest({"X": X, "y": y})


@pytest.mark.parametrize(
    "other",
    [
        {"X": X},
        {"X": X.astype(np.float64), "y": y},
        {"X": X.reshape(4, 3), "y": y},
        {"X": np.nextafter(X, np.float32(99)), "y": y},
        {"X": X[::-1], "y": y},
        {"X": X, "z": y},
        {"X": X, "y": y.astype(np.uint8)},
    ],
)
def test_every_change_counts(other):
    assert content_digest(other) != content_digest({"X": X, "y": y})
