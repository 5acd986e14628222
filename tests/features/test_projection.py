"""Projected features: the best approximation within the span of the columns, with the signs it has."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import unit_vectors
from krein.features import FeatureMap, head_basis, relative_error
from krein.features.dictionary import TRUNCATIONS, decompose
from krein.kernels import NTK, DeltaGaussian, Sigmoid
from krein.measures import Head, SignedMeasure
from krein.sampling import Orthogonal

DIM = 4
MEASURE = SignedMeasure.from_atoms(DIM, np.array([1.0, 2.0, 3.5]), np.array([0.5, -0.7, 0.2]))


def a_map(*, sphere: bool, n: int = 8) -> FeatureMap:
    basis = head_basis(Head((0.4, -0.2)), DIM, sphere=sphere)
    drawn = Orthogonal().sample(MEASURE, n, np.random.default_rng(0))
    return FeatureMap(basis, drawn, basis.weights, drawn.weights)


def rows(rng, n: int, sphere: bool) -> np.ndarray:
    return unit_vectors(rng, n, DIM) if sphere else rng.standard_normal((n, DIM))


def estimate(m: FeatureMap, X: np.ndarray) -> np.ndarray:
    Z = np.empty((len(X), m.n_outputs))
    m.write(X, Z)
    return (Z * m.signature) @ Z.T


@pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), Sigmoid(2.0, -1.0)], ids=str)
def test_all_directions_kept_is_the_orthogonal_projection(kernel, rng):
    """min ‖K − Φ C Φᵀ‖ over all symmetric C has the solution C = Φ⁺ K Φ⁺ᵀ."""
    sphere = kernel.domain == "sphere"
    m, X = a_map(sphere=sphere), rows(rng, 60, sphere)
    (found,) = decompose([m], X, X, kernel.gram)
    result = found.feature_map(m.n_columns)
    columns = m.columns(X)
    P = columns @ np.linalg.pinv(columns, rcond=found.truncation)
    np.testing.assert_allclose(estimate(result, X), P @ kernel(X) @ P, atol=1e-6)
    assert set(result.signature) == {-1.0, 1.0}


@pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK(), Sigmoid(2.0, -1.0)], ids=str)
@pytest.mark.parametrize("width", [1, 5, 12])
def test_best_of_its_rank_within_the_span(kernel, width, rng):
    """On the sample the error is that of the largest eigenvalues of the projected matrix: Eckart, Young and Mirsky."""
    sphere = kernel.domain == "sphere"
    m, X = a_map(sphere=sphere), rows(rng, 60, sphere)
    (found,) = decompose([m], X, X, kernel.gram)
    result = found.feature_map(width)
    columns = m.columns(X)
    P = columns @ np.linalg.pinv(columns, rcond=found.truncation)
    values, vectors = np.linalg.eigh(P @ kernel(X) @ P)
    kept = np.argsort(-np.abs(values))[:width]
    np.testing.assert_allclose(estimate(result, X), (vectors[:, kept] * values[kept]) @ vectors[:, kept].T, atol=1e-6)
    np.testing.assert_array_equal(result.signature, np.where(values[kept] < 0, -1.0, 1.0))
    assert result.n_outputs == width


def test_blocks_of_rows_give_the_same(rng, monkeypatch):
    kernel, m = DeltaGaussian(1.0, 3.0), a_map(sphere=False)
    fit, check = rows(rng, 50, False), rows(rng, 20, False)
    (found,) = decompose([m], fit, check, kernel.gram)
    whole = found.feature_map(6)
    monkeypatch.setattr("krein.features.dictionary._ROWS_PER_BLOCK", 7)
    (found,) = decompose([m], fit, check, kernel.gram)
    parts = found.feature_map(6)
    np.testing.assert_allclose(estimate(parts, check), estimate(whole, check), atol=1e-8)


def test_more_outputs_than_directions_are_zero(rng):
    m = a_map(sphere=True)
    (found,) = decompose([m], rows(rng, 40, True), rows(rng, 20, True), NTK().gram)
    result = found.feature_map(m.n_columns + 5)
    Z = np.empty((9, m.n_columns + 5))
    result.write(rows(rng, 9, True), Z)
    np.testing.assert_array_equal(Z[:, -5:], 0.0)
    np.testing.assert_array_equal(result.signature[-5:], 1.0)
    rank = result.rank
    assert rank <= m.n_columns
    assert [name for name in result.names() if name.startswith("zero")] == [
        f"zero{i}+" for i in range(m.n_columns + 5 - rank)
    ]


def test_truncation_is_chosen_on_the_check_rows(rng):
    """With hardly more rows than columns, the least truncation is not always the best, and the error reported is the best one's."""
    kernel, m = DeltaGaussian(1.0, 3.0), a_map(sphere=False, n=30)
    fit, check = rows(rng, 70, False), rows(rng, 60, False)
    (found,) = decompose([m], fit, check, kernel.gram)
    result = found.feature_map(20)
    assert found.truncation in TRUNCATIONS
    assert found.error(20) == pytest.approx(relative_error(result, check, kernel(check)))


def test_zero_columns_give_zero(rng):
    """Nothing to combine: all outputs are zero, and so is the estimate."""
    basis = head_basis(Head((0.0, 0.0)), DIM, sphere=True)
    drawn = Orthogonal().sample(SignedMeasure(DIM), 4, rng)
    m = FeatureMap(basis, drawn, basis.weights, drawn.weights)
    (found,) = decompose([m], rows(rng, 20, True), rows(rng, 10, True), NTK().gram)
    result = found.feature_map(3)
    np.testing.assert_array_equal(estimate(result, rows(rng, 5, True)), 0.0)
