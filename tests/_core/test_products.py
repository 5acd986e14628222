"""Products shared by rows: the right ones, and the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from krein import thread_limit
from krein._core.rows import rows_times


@pytest.mark.parametrize("n_outputs", [None, 1, 7])
@pytest.mark.parametrize("n_rows", [0, 1, 511, 512, 1300, 20_000])
def test_products(rng, n_rows, n_outputs):
    left = rng.normal(size=(n_rows, 90))
    right = rng.normal(size=(90,) if n_outputs is None else (90, n_outputs))
    found = rows_times(left, right)
    # each entry is a sum of 90 products, in any order
    bound = 90 * np.finfo(float).eps * (np.abs(left) @ np.abs(right))
    assert np.all(np.abs(found - left @ right) <= 2 * bound)
    with thread_limit(1):
        assert rows_times(left, right).tobytes() == found.tobytes()


def test_types(rng):
    left, right = rng.normal(size=(600, 5)).astype(np.float32), rng.normal(size=(5, 2))
    assert rows_times(left, right.astype(np.float32)).dtype == np.float32
    out = np.empty((600, 2))
    assert rows_times(left, right, out) is out
    np.testing.assert_allclose(out, left.astype(float) @ right, rtol=1e-12, atol=1e-12)
