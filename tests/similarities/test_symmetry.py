"""What counts as symmetric hangs on the type of the numbers, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from krein.similarities.symmetry import asymmetry_tolerance, check_symmetric, symmetric_part


def symmetric(n: int = 40) -> np.ndarray:
    A = np.random.default_rng(0).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_difference_is_refused_from_the_tolerance_on(dtype):
    A = symmetric().astype(dtype)
    largest, tol = np.abs(A).max(), asymmetry_tolerance(dtype)
    A[3, 7] += dtype(0.5 * tol * largest)
    assert check_symmetric(A, "A") == pytest.approx(0.5 * tol * largest, rel=1e-2)
    A[3, 7] += dtype(2.0 * tol * largest)
    with pytest.raises(ValueError, match=r"A must be symmetric, but entries \((3, 7|7, 3)\).*\(K \+ K.T\) / 2"):
        check_symmetric(A, "A")


def test_single_precision_is_given_more_than_its_rounding():
    rng = np.random.default_rng(0)
    X, M = (rng.normal(size=shape).astype(np.float32) for shape in ((60, 200), (200, 200)))
    bilinear = X @ (M + M.T) @ X.T
    gap = np.abs(bilinear - bilinear.T).max() / np.abs(bilinear).max()
    assert 1e-8 < gap < 0.05 * asymmetry_tolerance(np.float32)
    assert check_symmetric(bilinear, "it") > 0.0


def test_sparse_and_long_matrices_are_compared_in_stripes(monkeypatch):
    monkeypatch.setattr("krein.similarities.symmetry._STRIPE", 7)
    A = symmetric()
    A[np.abs(A) < 1.0] = 0.0
    assert check_symmetric(A, "A") == check_symmetric(sp.csr_array(A), "A") == 0.0
    A[30, 2] += 1.0
    for lopsided in (A, sp.csr_array(A)):
        with pytest.raises(ValueError, match=r"entries \((30, 2|2, 30)\)"):
            check_symmetric(lopsided, "A")
    np.testing.assert_array_equal(symmetric_part(A), (A + A.T) / 2)


def test_the_symmetric_part_of_a_symmetric_matrix_is_itself():
    A = symmetric()
    assert symmetric_part(A) is A
    B = A.copy()
    B[0, 1] += 1e-12
    part = symmetric_part(B)
    np.testing.assert_array_equal(part, part.T)
    assert B[0, 1] != B[1, 0]  # the given matrix is left alone


def test_nothing_to_compare():
    assert check_symmetric(np.empty((0, 0)), "A") == 0.0
    assert check_symmetric(np.zeros((3, 3)), "A") == 0.0
