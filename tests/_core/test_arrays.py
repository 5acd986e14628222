"""Arrays inside frozen objects: copied, checked, read-only."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.arrays import finite_array, signs


def test_a_copy_that_cannot_be_written_to():
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = finite_array(given, "weights", (2, None))
    given[:] = 0
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))
    assert array.dtype == np.float64
    assert not array.flags.writeable


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        (np.zeros(3), (4,), r"a must have shape \(4,\), got \(3,\)"),
        (np.zeros(3), (None, None), r"a must have shape \(any, any\), got \(3,\)"),
        (1.0, (1,), r"a must have shape \(1,\), got \(\)"),
        ([1.0, np.nan], (2,), "a must be finite"),
        ([np.inf], (1,), "a must be finite"),
        (["x"], (1,), "a must be an array of numbers"),
        ([[1.0], [1.0, 2.0]], (None, None), "a must be an array of numbers"),
        (None, (1,), "a must"),
    ],
)
def test_refused(value, shape, message):
    with pytest.raises(ValueError, match=message):
        finite_array(value, "a", shape)


def test_signs():
    np.testing.assert_array_equal(signs([1, -1], "s", 2), [1.0, -1.0])
    for wrong in ([1, 0], [1.0, 1.5], [1.0], [[1.0, 1.0]]):
        with pytest.raises(ValueError, match="s must"):
            signs(wrong, "s", 2)
