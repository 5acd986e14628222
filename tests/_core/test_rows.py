"""Rows of unit length, and rows too large for their type."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from krein._core.rows import UNIT_TOLERANCE, check_magnitude, row_norms, unit_rows

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("dtype", "huge"), [(np.float32, 1e30), (np.float64, 1e150), (np.float64, 1e200)])
def test_a_row_too_long_is_named(form, dtype, huge):
    X = np.eye(6, 4, dtype=dtype)
    X[4, 2] = -huge
    for power in (4, 6):
        with pytest.raises(
            ValueError, match=rf"row 14 of Y has length 1e\+.*too large for {np.dtype(dtype).name}.*power {power}"
        ):
            check_magnitude(FORMS[form](X), power=power, name="Y", first=10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [1, 2, 4, 7, 48])
def test_what_passes_is_finite_and_little_else_is_refused(form, dtype, power):
    largest = float(np.finfo(dtype).max)
    for factor, passes in ((0.2, True), (0.3, False)):
        length = factor * largest ** (1 / power)
        X = np.zeros((3, 9), dtype=dtype)
        X[1] = length / 3.0
        if passes:
            check_magnitude(FORMS[form](X), power=power)
            assert (4.0 * length) ** power <= largest * (1 + 1e-9)
        else:
            with pytest.raises(ValueError, match="row 1 of X"):
                check_magnitude(FORMS[form](X), power=power)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_is_never_too_large(shape):
    check_magnitude(np.empty(shape))
    check_magnitude(sp.csr_array(shape))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_lengths_of_any_size(form, size):
    X = size * np.array([[3.0, 4.0], [0.0, 0.0], [-0.6, 0.8]])
    np.testing.assert_allclose(row_norms(FORMS[form](X)), size * np.array([5.0, 0.0, 1.0]), rtol=1e-14)


@pytest.mark.parametrize("off", [1 - 2 * UNIT_TOLERANCE, 1 + 2 * UNIT_TOLERANCE])
def test_rows_off_the_sphere_are_named(off):
    X = np.array([[1.0, 0.0], [0.0, off], [math.sqrt(0.5), math.sqrt(0.5)]])
    with pytest.raises(ValueError, match="row 1 of X has length"):
        unit_rows(X, normalize=False)
    X[1] *= (1 + UNIT_TOLERANCE / 2) / off
    assert unit_rows(X, normalize=False) is X


@pytest.mark.parametrize("width", [5, 4097, 20_000])
def test_a_length_does_not_hang_on_the_other_rows(width, rng):
    X = rng.standard_normal((9, width))
    np.testing.assert_array_equal(np.concatenate([row_norms(X[:1]), row_norms(X[1:4]), row_norms(X[4:])]), row_norms(X))
