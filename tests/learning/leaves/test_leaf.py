"""One leaf against dense algebra in double precision, and leaves of bad data."""

from __future__ import annotations

import numpy as np
import pytest

from krein._core.errors import SingularSystemError
from krein.kernels import Cauchy, Gaussian, Kernel, Laplacian, Matern, ThinPlate
from krein.learning.leaves.leaf import LeafSettings, SolvedLeaf, solve_leaf
from krein.learning.single_gram import cross_gram, lower_gram, median_distance
from krein.rows.equal import merge_rows

SETTINGS = LeafSettings(Laplacian(1.0), 0.5, 1e-3)


def solved(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, settings: LeafSettings = SETTINGS) -> SolvedLeaf:
    """Rows in the order of their first copies, all of them left out."""
    return solve_leaf(merge_rows(X, y, weight, in_order=True), settings, X.shape[0])


def problem(n: int = 300, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.normal(size=(n, 2))


@pytest.mark.parametrize(
    "kernel", [Laplacian(2.0), Gaussian(1.5), Matern(1.0, 1.5), Matern(1.0, 2.5), Cauchy(1.0)], ids=repr
)
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_single_precision_matrices(kernel: Kernel, shift: float) -> None:
    """Rows are centered, and pairs that cancel computed again: 2e-6 is a few roundings of a distance of a few scales."""
    X, _ = problem(700, d=10)
    X[1], X[2] = X[0], X[0] + np.float32(1e-3)
    X += np.float32(shift)
    exact = kernel.gram(X.astype(np.float64))
    got = lower_gram(kernel, X)
    assert got.dtype == np.float32
    np.testing.assert_allclose(np.tril(got), np.tril(exact), atol=2e-6)
    assert got[1, 0] == np.float32(kernel.radial(0.0))
    np.testing.assert_allclose(cross_gram(kernel, X[:50], X), exact[:50], atol=2e-6)


def test_median_distance() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    assert median_distance(X) == 2.0
    assert median_distance(np.zeros((50, 2))) == 1.0
    assert median_distance(np.repeat([[0.0], [4.0]], [99, 1], axis=0)) == 4.0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_leaf_is_the_ridge_solution(weighted: bool) -> None:
    X, y = problem()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=300) if weighted else None
    leaf = solved(X, y, weight)
    w = np.ones(300) if weight is None else weight
    K = Laplacian(leaf.scale)(X.astype(np.float64))
    offset = np.average(y, axis=0, weights=w)
    expected = np.linalg.solve(K + 300 * np.median(w) * 1e-3 * np.diag(1 / w), y - offset)
    assert leaf.scale == pytest.approx(0.5 * median_distance(X))
    np.testing.assert_allclose(leaf.offset, offset)
    np.testing.assert_allclose(K @ leaf.dual, K @ expected, atol=1e-4)


def test_copies_are_whole_number_weights() -> None:
    X, y = problem(60)
    counts = np.arange(60) % 3 + 1
    copies = solved(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0), None)
    np.testing.assert_array_equal(copies.rows, X)
    K = Laplacian(copies.scale)(X.astype(np.float64))
    ridge = 60 * np.median(counts) * 1e-3 / counts
    expected = np.linalg.solve(K + np.diag(ridge), y - np.average(y, axis=0, weights=counts))
    np.testing.assert_allclose(K @ copies.dual, K @ expected, atol=1e-4)


def test_a_row_of_many_copies_does_not_flatten_the_others() -> None:
    """Leaves share λ, so what one has of a far row, however heavy, must not change its function at the others."""
    X, y = problem(200)
    y -= y.mean(axis=0)
    far = np.concatenate([X, np.full((1, 4), 1e3, dtype=np.float32)])
    weight = np.append(np.ones(200), 1e6)
    settings = LeafSettings(Laplacian(1.0), 1.0, 1e-4)
    alone, beside = (
        solved(rows, values, each, settings)
        for rows, values, each in ((X, y, None), (far, np.concatenate([y, np.zeros((1, 2))]), weight))
    )
    values = [Laplacian(leaf.scale)(X.astype(np.float64)) @ leaf.dual[:200] + leaf.offset for leaf in (alone, beside)]
    # one row more in n and in the median distance; with all copies in n these values would be nearly zero
    np.testing.assert_allclose(values[1], values[0], atol=0.05)
    assert np.abs(values[1]).max() > 1.0


@pytest.mark.parametrize("repeated", [0, 10])
def test_leave_one_out_is_what_it_says(repeated: int) -> None:
    """A copy of a row that is left out stays."""
    X, y = problem(40)
    X[:repeated] = X[20 : 20 + repeated]
    rest = y - y.mean(axis=0)
    K = Laplacian(0.5 * median_distance(X[repeated:]))(X.astype(np.float64)) + (40 - repeated) * 1e-3 * np.eye(40)
    total = np.zeros(y.shape[1])
    for i in range(40):
        others = np.delete(np.arange(40), i)
        total += np.square(rest[i] - K[i, others] @ np.linalg.solve(K[np.ix_(others, others)], rest[others]))
    found = solved(X, y, None).errors
    assert found.weight.sum() == 40
    np.testing.assert_allclose(found.weight @ found.squares, total, rtol=1e-4)
    np.testing.assert_allclose(found.weight @ found.plain, np.square(y).sum(axis=0))
    merged = merge_rows(X, y, in_order=True)
    last = solve_leaf(merged, SETTINGS, 7).errors
    np.testing.assert_allclose(last.squares, found.squares[-7:], rtol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 500])
def test_one_class_or_one_value_is_a_constant(n: int) -> None:
    X, _ = problem(n)
    leaf = solved(X, np.full((n, 3), 0.7), None)
    assert not leaf.dual.any()
    np.testing.assert_allclose(leaf.offset, 0.7)


def test_copies_of_one_row_predict_their_mean() -> None:
    X, y = np.ones((500, 3), dtype=np.float32), np.arange(500.0)[:, None]
    leaf = solved(X, y, None, LeafSettings(Laplacian(1.0), 1.0, 1e-6))
    assert leaf.rows.shape == (1, 3)
    assert float(leaf.dual.sum() + leaf.offset[0]) == pytest.approx(249.5, rel=1e-12)


def test_a_singular_matrix_is_solved_in_double_precision() -> None:
    """Rows so near each other that single precision cannot tell the matrix from a singular one."""
    X, y = problem(200)
    X[100:] = X[:100] + np.float32(1e-6)
    leaf = solved(X, y, None, LeafSettings(Gaussian(1.0), 2.0, 1e-12))
    assert leaf.dual.dtype == np.float64
    assert np.isfinite(leaf.dual).all()
    K = Gaussian(leaf.scale)(X.astype(np.float64))
    mean = 0.5 * (y[:100] + y[100:])
    fitted = (K @ leaf.dual + leaf.offset)[:100]
    assert np.square(fitted - mean).mean() < np.square(mean - mean.mean(axis=0)).mean()


def test_a_kernel_that_is_not_definite_gets_the_ridge_it_needs_or_an_error() -> None:
    X, y = problem(100)
    leaf = solved(X, y, None, LeafSettings(-1.0 * Gaussian(1.0), 1.0, 1e-3))
    assert np.isfinite(leaf.dual).all()
    far = X * np.float32(1e12)
    with pytest.raises(SingularSystemError, match="positive definite"):
        solved(far, y, None, LeafSettings(ThinPlate(), 1e-12, 1e-16))
