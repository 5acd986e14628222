"""Arrays of frozen objects: copied, checked, read-only."""

import numpy as np
import pytest

from krein._core.checks import frozen_array


def test_a_copy_that_cannot_be_written_to():
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    kept = frozen_array(given, "points", (2, None))
    given[:] = 7
    np.testing.assert_array_equal(kept, [[0, 1, 2], [3, 4, 5]])
    assert kept.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        kept[0, 0] = 1


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ([1.0, 2.0], (3,), r"points must have shape \(3,\), got \(2,\)"),
        ([1.0, 2.0], (None, 2), r"points must have shape \(any, 2\)"),
        ([1.0, np.nan], (2,), "points must be finite"),
        ([np.inf], (None,), "points must be finite"),
        (["x"], (1,), "points must be an array of real numbers"),
        ([[1.0], [1.0, 2.0]], (None, None), "points must be an array of real numbers"),
        (None, (1,), "points must"),
    ],
)
def test_others_are_refused(value, shape, message):
    with pytest.raises(ValueError, match=message):
        frozen_array(value, "points", shape)
