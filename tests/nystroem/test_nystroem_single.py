"""A map fitted on double precision takes rows of single precision."""

from __future__ import annotations

import numpy as np
import pytest

import krein
from krein.kernels import Gaussian


@pytest.mark.parametrize("n_components", [8, 60])
def test_single_rows_through_a_map_of_double_ones(n_components: int) -> None:
    """Features differ by the rounding of the rows, which the root multiplies; without the product they are off by about 1."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    f = krein.KreinNystroem(Gaussian(1.0), n_components, landmarks="uniform", random_state=0).fit(X)
    single = f.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    same_rows = f.transform(X.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(single, same_rows, rtol=0, atol=1e-5)
