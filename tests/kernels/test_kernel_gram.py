"""Gram matrices: every kernel against loops, and what holds to the last bit."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from catalog import KERNELS, reference
from helpers import frozen
from krein.kernels import NTK, ArcCosine, DeltaGaussian, Gaussian, Kernel, Laplacian, Radial, SphericalPolynomial

_X = np.random.default_rng(5).standard_normal((7, 4))
_X[3] = _X[1]  # equal rows
_X[4] = -_X[2]  # antipodal once on the sphere
X = frozen(_X)
Y = frozen(np.random.default_rng(6).standard_normal((5, 4)))


def loops_only(kernel: Kernel, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The Gram matrix as one would write it on paper."""
    gram = np.empty((len(rows), len(columns)))
    for i, x in enumerate(rows):
        for j, y in enumerate(columns):
            x_, y_ = [float(v) for v in x], [float(v) for v in y]
            if kernel.domain == "sphere":
                x_ = [v / math.sqrt(math.fsum(a * a for a in x_)) for v in x_]
                y_ = [v / math.sqrt(math.fsum(a * a for a in y_)) for v in y_]
            z = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(x_, y_, strict=True)))
            gram[i, j] = reference(kernel, min(z, 2.0) if kernel.domain == "sphere" else z)
    return gram


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestEveryKernel:
    def test_is_what_loops_give(self, kernel: Kernel) -> None:
        # Near an antipodal pair kernels with infinite slope turn a distance's last bit into 1e-8.
        steep = kernel.domain == "sphere"
        for other in (None, Y):
            expected = loops_only(kernel, X, X if other is None else other)
            got = kernel(X) if other is None else kernel(X, other)
            np.testing.assert_allclose(got, expected, rtol=0, atol=(4e-7 if steep else 1e-10) * np.abs(expected).max())
            if steep:  # away from the antipode it is accurate
                away = np.ones(expected.shape, dtype=bool)
                if other is None:
                    away[2, 4] = away[4, 2] = False
                np.testing.assert_allclose(got[away], expected[away], rtol=0, atol=1e-10 * np.abs(expected).max())

    def test_is_symmetric_with_k_of_zero_on_the_diagonal(self, kernel: Kernel, rng: np.random.Generator) -> None:
        gram = kernel(rng.standard_normal((60, 11)) * 1e3 + 1e5)
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_array_equal(np.diag(gram), np.full(60, kernel.radial(0.0)))

    def test_equal_rows_are_at_distance_zero(self, kernel: Kernel) -> None:
        gram = kernel(X)
        assert gram[1, 3] == gram[3, 1] == kernel.radial(0.0)
        cross = kernel(X, X.copy())
        np.testing.assert_array_equal(np.diag(cross), np.full(len(X), kernel.radial(0.0)))

    def test_float32_stays(self, kernel: Kernel) -> None:
        single, double = X.astype(np.float32), X.astype(np.float32).astype(np.float64)
        assert kernel(single).dtype == np.float32
        assert kernel(single, Y.astype(np.float32)).dtype == np.float32
        assert kernel(single, Y).dtype == np.float64
        assert kernel(X.astype(int) + 1).dtype == np.float64
        scale = np.abs(kernel(double)).max()
        off = ~np.eye(len(X), dtype=bool)
        off[2, 4] = off[4, 2] = off[1, 3] = off[3, 1] = False
        np.testing.assert_allclose(kernel(single)[off], kernel(double)[off], atol=3e-6 * scale)

    @pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array])
    def test_sparse_is_dense(self, kernel: Kernel, make) -> None:
        holes = np.where(np.abs(X) > 0.4, X, 0.0)
        np.testing.assert_allclose(kernel(make(holes)), kernel(holes), rtol=0, atol=1e-12 * np.abs(kernel(holes)).max())
        np.testing.assert_allclose(kernel(make(holes), Y), kernel(holes, Y), rtol=1e-11, atol=1e-12)

    def test_the_same_object_twice_is_the_symmetric_case(self, kernel: Kernel) -> None:
        np.testing.assert_array_equal(kernel(X, X), kernel(X))

    def test_inputs_are_not_changed(self, kernel: Kernel) -> None:
        kernel(X, Y)  # both are read-only: a write would raise
        kernel(sp.csr_array(np.array(X)))

    def test_bad_rows(self, kernel: Kernel) -> None:
        for spoiled in (np.nan, np.inf):
            bad = np.array(X)
            bad[2, 1] = spoiled
            with pytest.raises(ValueError, match="X contains NaN or infinity"):
                kernel(bad)
            with pytest.raises(ValueError, match="Y contains NaN or infinity"):
                kernel(X, bad)
        with pytest.raises(ValueError, match="must be real"):
            kernel(X + 0j)
        with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
            kernel(X[0])
        with pytest.raises(ValueError, match="must hold numbers"):
            kernel([["a", "b"], ["c", "d"]])
        with pytest.raises(ValueError, match="must hold numbers"):
            kernel(np.array([[1, "b"]], dtype=object))
        with pytest.raises(ValueError, match="same number of columns, got 4 and 3"):
            kernel(X, Y[:, :3])


SPHERE = [k for k in KERNELS if k.domain == "sphere"]


@pytest.mark.parametrize("kernel", SPHERE, ids=repr)
class TestOnTheSphere:
    def test_only_directions_count(self, kernel: Kernel, rng: np.random.Generator) -> None:
        lengths = 2.0 ** rng.integers(-20, 20, size=(len(X), 1))  # powers of two change no digit
        np.testing.assert_allclose(kernel(X * lengths), kernel(X), rtol=0, atol=1e-7 * np.abs(kernel(X)).max())

    def test_a_zero_row_is_named(self, kernel: Kernel) -> None:
        zero = np.array(X)
        zero[[2, 5]] = 0.0
        with pytest.raises(ValueError, match=r"row 2 of X is zero \(2 such rows\).*drop the row"):
            kernel(zero)
        with pytest.raises(ValueError, match="row 2 of Y is zero"):
            kernel(X, sp.csr_array(zero))


def test_normalize_false_asks_for_unit_rows() -> None:
    kernel = SphericalPolynomial(2, 3, normalize=False)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(kernel(unit), SphericalPolynomial(2, 3)(X), atol=1e-12)
    with pytest.raises(ValueError, match=r"row 0 of X has length .* normalize=False; use normalize=True"):
        kernel(X)
    single = unit.astype(np.float32)
    assert kernel(single).dtype == np.float32


def test_blocks_join_without_a_seam(rng: np.random.Generator) -> None:
    """More rows than a block has; corners of every block against a direct computation."""
    X, Y = rng.standard_normal((2100, 3)), rng.standard_normal((1030, 3))
    k = Gaussian(1.0)
    gram, cross = k(X), k(X, Y)
    np.testing.assert_array_equal(gram, gram.T)
    assert (np.diag(gram) == 1.0).all()
    picks = np.array([0, 1, 1022, 1023, 1024, 1025, 2047, 2048, 2049, 2099])
    direct = np.exp(-0.5 * ((X[picks, None] - X[None, picks]) ** 2).sum(-1))
    np.testing.assert_allclose(gram[np.ix_(picks, picks)], direct, atol=1e-13)
    columns = np.array([0, 1023, 1024, 1029])
    direct = np.exp(-0.5 * ((X[picks, None] - Y[None, columns]) ** 2).sum(-1))
    np.testing.assert_allclose(cross[np.ix_(picks, columns)], direct, atol=1e-13)


def test_no_temporary_with_three_axes(rng: np.random.Generator) -> None:
    """n × m × d doubles would be 1.6 GB here; the blocks need a few tens of MiB beside the result."""
    X = rng.standard_normal((1000, 200))
    for kernel in (NTK(), DeltaGaussian(), Laplacian()):
        tracemalloc.start()
        kernel(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 130e6


def test_rows_that_are_all_alike_need_little_memory_too() -> None:
    X = np.ones((300, 300))
    tracemalloc.start()
    gram = Gaussian()(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (gram == 1.0).all()
    assert peak < 40e6  # the differences of all pairs would be 216 MB


def test_close_rows_far_from_the_origin_keep_their_distance() -> None:
    """‖x‖² + ‖y‖² − 2x·y alone would give 0 or noise here."""
    X = np.array([[1e8, 0.0], [1e8, 1.0], [1e8 + 2.0, 0.0]])
    expected = np.array([[0, 1, 2], [1, 0, math.sqrt(5)], [2, math.sqrt(5), 0]])
    np.testing.assert_allclose(Radial(lambda z: z)(X), expected, atol=1e-12)


def test_close_rows_beside_a_far_one_keep_their_distance() -> None:
    X = np.array([[1e6], [1e-9], [3e-9], [0.0]])
    gram = Radial(lambda z: z)(X)
    np.testing.assert_allclose(gram[1:, 1:], [[0, 2e-9, 1e-9], [2e-9, 0, 3e-9], [1e-9, 3e-9, 0]], rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e200])
def test_squares_may_overflow_or_vanish(size: float) -> None:
    gram = Radial(lambda z: z)(size * np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]]))
    np.testing.assert_allclose(gram, size * np.array([[0, 5, 4], [5, 0, 3], [4, 3, 0]]), rtol=1e-12)
    unit = ArcCosine(0)(size * np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    np.testing.assert_allclose(unit, [[1, 0.75, 0.5], [0.75, 1, 0.75], [0.5, 0.75, 1]], atol=1e-12)


def test_entries_given_twice_in_a_sparse_matrix_add_up() -> None:
    twice = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert not twice.has_canonical_format
    whole = np.array([[3.0, 4.0]])
    other = np.array([[1.0, 0.0]])
    for kernel in (Gaussian(5.0), ArcCosine(1)):
        np.testing.assert_allclose(kernel(twice, other), kernel(whole, other), atol=1e-14)
    assert twice.nnz == 3


def test_empty_matrices_give_empty_grams() -> None:
    assert Gaussian()(np.empty((0, 3))).shape == (0, 0)
    assert Gaussian()(np.empty((0, 3)), np.ones((4, 3))).shape == (0, 4)
    assert NTK()(np.ones((4, 3)), np.empty((0, 3))).shape == (4, 0)


def test_a_sparse_vector_is_refused() -> None:
    vector = sp.coo_array(np.ones(3))
    if vector.ndim == 2:
        pytest.skip("this scipy has no sparse vectors: it makes a matrix of one row")
    with pytest.raises(ValueError, match="matrix with one row per sample"):
        Gaussian()(vector)


@settings(max_examples=40)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-1e3, 1e3)),
    kernel=st.sampled_from(
        [Gaussian(2.0), Laplacian(0.5), DeltaGaussian(1.0, 3.0), Gaussian(1.0) - 2 * Laplacian(3.0)]
    ),
)
def test_gram_properties_hold_for_any_rows(X: np.ndarray, kernel: Kernel) -> None:
    gram = kernel(X)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(np.diag(gram), np.full(len(X), kernel.radial(0.0)))
    np.testing.assert_allclose(kernel(X, X.copy()), gram, atol=1e-9)
    np.testing.assert_array_equal(kernel(X[::-1])[::-1, ::-1].shape, gram.shape)


def test_the_number_of_columns_of_sparse_rows_does_not_matter(rng) -> None:
    few = sp.random_array((60, 40), density=0.04, format="csr", rng=rng)
    many = sp.csr_array((few.data, few.indices * 10**5, few.indptr), shape=(60, 4 * 10**6))  # dense, 2 GB
    for other in (None, many[::2]):
        expected = Gaussian(1.0).gram(few.toarray(), None if other is None else few.toarray()[::2])
        tracemalloc.start()
        found = Gaussian(1.0).gram(many, other)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_allclose(found, expected, atol=1e-15)
        assert peak < 2**28
