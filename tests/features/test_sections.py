"""Compiled kernel sections: the kernel at the distances of all pairs, for every kernel and every kind of rows."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from catalog import KERNELS, NAMED
from krein._core.threads import thread_limit
from krein.features.radial_values import DEGREE, radial_polynomial, radial_table
from krein.features.sections import Sections, compiled_gram
from krein.kernels import NTK, DeltaGaussian, Gaussian, Kernel, Laplacian, Matern, Radial, ThinPlate

DIM = 6


def rows(kernel: Kernel, n: int, seed: int = 0, *, signs: bool = True) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, DIM))
    return np.asarray(kernel.place((X if signs else np.abs(X)) / 3.0))


def by_differences(kernel: Kernel, X: np.ndarray, L: np.ndarray) -> np.ndarray:
    z = np.linalg.norm(X[:, None] - L, axis=2)
    return np.asarray(kernel.radial(np.minimum(z, 2.0) if kernel.domain == "sphere" else z))


def written(kernel: Kernel, X, L: np.ndarray) -> np.ndarray:
    out = np.empty((X.shape[0], len(L)))
    Sections(kernel, L).write(X, out)
    return out


def tolerance(exact: np.ndarray) -> float:
    """A distance has some 1e-15 of rounding, and more where digits cancel, but for pairs that are done again."""
    return 1e-12 * float(np.abs(exact).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_all_kernels(kernel):
    """Equal rows, opposite rows and very close rows are among them."""
    X = rows(kernel, 90)
    L = np.concatenate([X[:20], rows(kernel, 30, 1)])
    X = np.concatenate([X, -X[:20], np.asarray(kernel.place(X[:20] * (1 + 1e-9) + 1e-9))])
    exact = by_differences(kernel, X, L)
    if kernel.known_everywhere:  # a root at 2, as of chords, doubles the error of a distance
        near = np.linalg.norm(X[:, None] - L, axis=2) > 2 - 1e-6
        np.testing.assert_allclose(
            np.where(near, 0, written(kernel, X, L)), np.where(near, 0, exact), atol=tolerance(exact)
        )
    np.testing.assert_allclose(written(kernel, X, L), exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.known_everywhere], ids=str)
def test_the_table_is_the_function_or_says_so(kernel):
    z = np.concatenate([np.geomspace(1e-6, 1.999, 3001), [0.0, 1e-300, 2.0, 5.0, np.inf]])
    values = radial_table(kernel.radial, 2.0)(z)
    inside = np.isfinite(values)
    assert not inside[-5:].any()
    assert inside[(z > 1e-2) & (z < 1.8)].all()  # roots at 2, as of angles, are felt before
    exact = kernel.radial(z[inside])
    np.testing.assert_allclose(values[inside], exact, atol=2e-13 * np.abs(exact).max())


# Analytic in the distance or in its square within 1.4 and, but for roots at 2 as of angles, beyond: those whose poles are far.
POLYNOMIALS = [
    kernel
    for kernel in NAMED
    if not isinstance(kernel, ThinPlate)  # a logarithm at zero
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_a_polynomial_is_the_function(kernel, dtype):
    for most in (0.1, 1.4):
        found = radial_polynomial(kernel.radial, most, np.dtype(dtype))
        assert found is not None
        z = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 301), np.linspace(0.0, 1.0, 301)]) * most * (1 - 1e-9)
        exact = kernel.radial(z)
        # twice what its own check of fewer distances allows
        np.testing.assert_allclose(
            found(z), exact, atol={4: 5e-7, 8: 4e-14}[found.coefficients.itemsize] * np.abs(exact).max()
        )
        assert np.isnan(found(np.array([1.01 * most, np.inf]))).all()
        assert found.coefficients.dtype == dtype
        assert found.coefficients.size % 8 == 0


def test_which_functions_are_polynomials():
    double = np.dtype(np.float64)
    gaussian, laplacian = (radial_polynomial(kernel.radial, 2.0, double) for kernel in (Gaussian(1.0), Laplacian(1.0)))
    assert gaussian is not None
    assert laplacian is not None
    assert (gaussian.root, laplacian.root) == (False, True)  # smooth in the square of the distance, or in the distance
    spike = Gaussian(1.0) + 0.1 * Gaussian(1e-5)  # lower than all nodes
    for kernel in (Gaussian(0.01), spike, NTK()):  # the last has a root at 2
        assert radial_polynomial(kernel.radial, 2.0, double) is None


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_single_precision(kernel):
    """Distances are computed in double precision, so that values are off by their own rounding only."""
    X, L = rows(kernel, 200), rows(kernel, 30, 1)
    single = np.empty((200, 30), np.float32)
    Sections(kernel, L).write(X, single)
    exact = by_differences(kernel, X, L)
    np.testing.assert_allclose(single, exact, atol=5e-7 * np.abs(exact).max())


def test_a_value_does_not_hang_on_the_other_rows_where_some_are_far():
    """Many of a block are beyond the polynomial, and beyond the table; the others stay as they are."""
    kernel, L = Gaussian(1.0), rows(Gaussian(1.0), 20)
    near, far = rows(kernel, 40, 1), np.concatenate([8.0 * rows(kernel, 40, 2), 50.0 * rows(kernel, 40, 3)])
    together = written(kernel, np.concatenate([near, far]), L)
    np.testing.assert_array_equal(together[:40], written(kernel, near, L))
    np.testing.assert_array_equal(together[40:], [written(kernel, row[None], L)[0] for row in far])
    np.testing.assert_allclose(together[40:], by_differences(kernel, far, L), atol=1e-12)


def test_a_jump_and_a_kink_are_left_out_and_nothing_else():
    def function(z):
        return np.where(z < 0.7, np.exp(-z), np.maximum(0.0, 1.1 - z))

    table = radial_table(function, 2.0)
    z = np.linspace(0.01, 1.99, 5001)
    missing = np.isnan(table(z))
    assert 0 < missing.sum() < 60
    assert (np.minimum(np.abs(z - 0.7), np.abs(z - 1.1))[missing] < 0.01).all()
    np.testing.assert_allclose(table(z)[~missing], function(z)[~missing], atol=1e-14)
    assert table.coefficients.shape[1] == DEGREE + 1


def test_a_function_that_knows_the_distances_of_the_data_only():
    def narrow(z):
        if np.max(z) > 4.0:
            raise AssertionError("no row is so far away")
        return np.exp(-z)

    for kernel in (Radial(narrow), Radial(narrow) + Gaussian(1.0), 2 * Radial(narrow).scaled(2.0)):
        assert not kernel.known_everywhere
        X = rows(kernel, 30)
        np.testing.assert_allclose(written(kernel, X, X[:9]), by_differences(kernel, X, X[:9]), atol=1e-12)
    assert (Gaussian(1.0) - Laplacian(2.0) * Matern(1.0, 0.7)).known_everywhere


@pytest.mark.parametrize("kernel", [NTK(), DeltaGaussian(1.0, 4.0)], ids=str)
def test_rows_of_any_kind(kernel):
    X, L = rows(kernel, 700), rows(kernel, 37, 1)
    exact = written(kernel, X, L)
    np.testing.assert_allclose(written(kernel, sp.csr_array(X), L), exact, rtol=0, atol=0)
    np.testing.assert_array_equal(written(kernel, np.asfortranarray(X), L), exact)
    np.testing.assert_array_equal(written(kernel, X[123:125], L), exact[123:125])
    single = written(kernel, X.astype(np.float32), L)
    np.testing.assert_array_equal(single, written(kernel, X.astype(np.float32).astype(np.float64), L))
    wide = np.zeros((700, 50))
    Sections(kernel, L).write(X, wide[:, 5:42])
    np.testing.assert_array_equal(wide[:, 5:42], exact)
    assert not wide[:, :5].any()
    assert not wide[:, 42:].any()
    across = np.empty((37, 700)).T
    Sections(kernel, L).write(X, across)
    np.testing.assert_array_equal(across, exact)
    np.testing.assert_array_equal(
        compiled_gram(kernel, X)(X, L) - exact, 0.0 * exact
    ) if kernel.domain == "sphere" else None


def test_far_rows_are_done_by_the_kernel():
    kernel, L = DeltaGaussian(1.0, 4.0), rows(Gaussian(1.0), 20)
    X = np.concatenate([rows(kernel, 40, 1), [[1e3] * DIM, [1e200] * DIM]])
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(written(kernel, X, L), kernel.gram(X, L), atol=1e-12)


def test_data_far_from_the_origin():
    """Distances of rows around 10⁶ have the digits they would have around 0, up to those of the rows themselves."""
    kernel = Laplacian(1.0)
    X = rows(kernel, 60) * 2.0**20 // 1 / 2.0**20  # so that the shift is exact
    np.testing.assert_allclose(
        written(kernel, X + 2.0**20, X[:15] + 2.0**20), by_differences(kernel, X, X[:15]), atol=1e-10
    )


def test_one_landmark_and_no_rows():
    kernel = Gaussian(1.0)
    L = rows(kernel, 1)
    np.testing.assert_allclose(written(kernel, rows(kernel, 5, 1), L), by_differences(kernel, rows(kernel, 5, 1), L))
    assert written(kernel, rows(kernel, 0), L).shape == (0, 1)


@pytest.mark.parametrize(
    ("X", "out"),
    [
        (np.zeros((4, 3)), np.zeros((4, 2))),
        (np.zeros((4, DIM)), np.zeros((4, 3))),
    ],
)
def test_arrays_that_do_not_fit(X, out):
    with pytest.raises(ValueError, match=r"out must have shape \(4, 2\) and X 6 columns"):
        Sections(Gaussian(1.0), rows(Gaussian(1.0), 2)).write(X, out)


@pytest.mark.parametrize(
    "dim", [2, 4, DIM]
)  # in few dimensions many pairs are nearly opposite, where the kernel has a root
def test_threads_do_not_change_a_bit(dim, rng):
    kernel = NTK()
    X, L = (np.asarray(kernel.place(rng.standard_normal((n, dim)))) for n in (3000, 200))
    with thread_limit(1):
        alone = written(kernel, X, L)
    sections = Sections(kernel, L)
    outs = [np.empty_like(alone) for _ in range(4)]
    threads = [threading.Thread(target=sections.write, args=(X, out)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for out in outs:
        np.testing.assert_array_equal(out, alone)


def test_without_the_compiler_results_are_the_same():
    code = (
        "import numpy as np, test_sections as t\n"
        "for kernel in (t.NTK(), t.DeltaGaussian(1.0, 4.0)):\n"
        "    X, L = t.rows(kernel, 7), t.rows(kernel, 5)\n"
        "    assert np.abs(t.written(kernel, X, L) - t.by_differences(kernel, X, L)).max() < 1e-12\n"
    )
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("most", [5e-324, 1e-310, 1e160, 1e300])
def test_ranges_whose_squares_are_no_numbers(most):
    found = radial_polynomial(Gaussian(most).radial, most, np.dtype(np.float64))
    assert found is None or np.isfinite(found(np.array([0.0, 0.5 * most]))).all()
    X = np.array([[most], [-0.5 * most]])
    out = np.empty((2, 2))
    Sections(Gaussian(most), X).write(X, out)
    np.testing.assert_allclose(out, Gaussian(most)(X), atol=1e-12)
