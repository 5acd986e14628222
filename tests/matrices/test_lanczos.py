"""Block Lanczos and the operators it multiplies with, against dense eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from krein.matrices.lanczos import block_lanczos
from krein.matrices.matrix_operator import (
    SymmetricOperator,
    centered_inner_products,
    centered_rows,
    square_means,
    symmetrized,
)

N = 500


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    gauss = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    noise = rng.normal(size=(N, N))
    return {
        "smooth": gauss,
        "low rank": X @ X.T,
        "indefinite": np.tanh(X @ X.T - 1.0),
        "noisy": gauss + 0.05 * (noise + noise.T) / np.sqrt(2.0),
        "identity": np.eye(N),
        "two of many": np.diag(np.r_[np.ones(N - 2), -5.0, -5.0]),
        "zero": np.zeros((N, N)),
    }


@pytest.mark.parametrize("name", matrices())
@pytest.mark.parametrize("seed", range(3))
def test_ends_sums_and_eigenvectors(name, seed):
    K = matrices()[name]
    exact = np.linalg.eigvalsh(K)
    size = np.abs(exact).max()
    found = block_lanczos(SymmetricOperator(K).apply, N, np.random.default_rng(seed))
    assert found.weights.sum() == pytest.approx(N)
    np.testing.assert_allclose(found.values[[0, -1]], exact[[0, -1]], rtol=1e-4, atol=1e-9 * size)
    parts = -np.minimum(exact, 0.0)
    estimated = found.weights @ -np.minimum(found.values, 0.0)
    # Negative eigenvalues that converged are exact. The trace of the others from 8 random directions has a standard deviation of
    # sqrt(2 / 8) times their norm: six of them.
    loose = np.sort(parts)[: N - np.count_nonzero(found.converged & (found.values < 0.0))]
    tol = 3.0 * np.linalg.norm(loose)
    assert tol < 0.5 * parts.sum() or parts.sum() <= 1e-9 * size * N  # it would see a half that is missing
    assert estimated == pytest.approx(parts.sum(), abs=tol + 1e-9 * size * N)
    good = found.converged
    residual = K @ found.vectors[:, good] - found.vectors[:, good] * found.values[good]
    assert np.linalg.norm(residual, axis=0).max(initial=0.0) <= 1e-2 * size
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(found.values.size), atol=1e-10)


@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_operator_is_its_dense_matrix(distance, symmetric, dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    D = np.abs(X[:, None] - X).sum(axis=2)
    D = (D if symmetric else D * rng.uniform(1.0, 1.5, size=D.shape)).astype(dtype)
    operator = SymmetricOperator(D if symmetric else symmetrized(D, distance), distance)
    power = 2 if distance else 1
    np.testing.assert_allclose(
        operator.matrix**power, (D**power + D.T**power) / 2, rtol=1e-5 if dtype == np.float32 else 1e-12
    )
    dense = operator.dense()
    np.testing.assert_array_equal(dense, dense.T)
    V = rng.normal(size=(300, 3))
    tol = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(operator.apply(V), dense @ V, rtol=0, atol=tol * np.abs(dense).sum())
    trace, square_sum = operator.sums()
    assert trace == pytest.approx(np.trace(dense), rel=tol, abs=tol)
    assert square_sum == pytest.approx(np.square(dense).sum(), rel=tol)


def test_centering_is_that_of_classical_scaling():
    """Points have their centered inner products back from their distances, and so has a new point."""
    rng = np.random.default_rng(2)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    middle = X.mean(axis=0)
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    across = np.sqrt(np.square(new[:, None] - X).sum(axis=2))
    np.testing.assert_allclose(centered_inner_products(D), (X - middle) @ (X - middle).T, atol=1e-12)
    np.testing.assert_allclose(centered_rows(across, square_means(D)), (new - middle) @ (X - middle).T, atol=1e-12)
    np.testing.assert_allclose(centered_rows(D, square_means(D)), centered_inner_products(D), atol=1e-12)
