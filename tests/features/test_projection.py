"""Projected features: the best approximation within the span of the columns, with the signs it has."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import unit_vectors
from krein.features import FeatureMap, head_basis, project, relative_error
from krein.features.projection import TRUNCATIONS
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
    result = project(m, m.n_columns, X, X, kernel.gram)
    columns = m.columns(X)
    P = columns @ np.linalg.pinv(columns, rcond=result.truncation)
    np.testing.assert_allclose(estimate(result.feature_map, X), P @ kernel(X) @ P, atol=1e-6)
    assert set(result.feature_map.signature) == {-1.0, 1.0}


@pytest.mark.parametrize("kernel", [DeltaGaussian(1.0, 3.0), NTK(), Sigmoid(2.0, -1.0)], ids=str)
@pytest.mark.parametrize("width", [1, 5, 12])
def test_best_of_its_rank_within_the_span(kernel, width, rng):
    """On the sample the error is that of the largest eigenvalues of the projected matrix: Eckart, Young and Mirsky."""
    sphere = kernel.domain == "sphere"
    m, X = a_map(sphere=sphere), rows(rng, 60, sphere)
    result = project(m, width, X, X, kernel.gram)
    columns = m.columns(X)
    P = columns @ np.linalg.pinv(columns, rcond=result.truncation)
    values, vectors = np.linalg.eigh(P @ kernel(X) @ P)
    kept = np.argsort(-np.abs(values))[:width]
    np.testing.assert_allclose(
        estimate(result.feature_map, X), (vectors[:, kept] * values[kept]) @ vectors[:, kept].T, atol=1e-6
    )
    np.testing.assert_array_equal(result.feature_map.signature, np.where(values[kept] < 0, -1.0, 1.0))
    assert result.feature_map.n_outputs == width


def test_blocks_of_rows_give_the_same(rng, monkeypatch):
    kernel, m = DeltaGaussian(1.0, 3.0), a_map(sphere=False)
    fit, check = rows(rng, 50, False), rows(rng, 20, False)
    whole = project(m, 6, fit, check, kernel.gram)
    monkeypatch.setattr("krein.features.projection._ROWS_PER_BLOCK", 7)
    parts = project(m, 6, fit, check, kernel.gram)
    np.testing.assert_allclose(estimate(parts.feature_map, check), estimate(whole.feature_map, check), atol=1e-8)


def test_more_outputs_than_directions_are_zero(rng):
    m = a_map(sphere=True)
    result = project(m, m.n_columns + 5, rows(rng, 40, True), rows(rng, 20, True), NTK().gram)
    Z = np.empty((9, m.n_columns + 5))
    result.feature_map.write(rows(rng, 9, True), Z)
    np.testing.assert_array_equal(Z[:, -5:], 0.0)
    np.testing.assert_array_equal(result.feature_map.signature[-5:], 1.0)
    rank = result.feature_map.rank
    assert rank <= m.n_columns
    assert [name for name in result.feature_map.names() if name.startswith("zero")] == [
        f"zero{i}+" for i in range(m.n_columns + 5 - rank)
    ]


def test_truncation_is_chosen_on_the_check_rows(rng):
    """With hardly more rows than columns, the least truncation is not always the best, and the error reported is the best one's."""
    kernel, m = DeltaGaussian(1.0, 3.0), a_map(sphere=False, n=30)
    fit, check = rows(rng, 70, False), rows(rng, 60, False)
    result = project(m, 20, fit, check, kernel.gram)
    assert result.truncation in TRUNCATIONS
    assert result.error == pytest.approx(relative_error(result.feature_map, check, kernel(check)))


def test_zero_columns_give_zero(rng):
    """Nothing to combine: all outputs are zero, and so is the estimate."""
    basis = head_basis(Head((0.0, 0.0)), DIM, sphere=True)
    drawn = Orthogonal().sample(SignedMeasure(DIM), 4, rng)
    m = FeatureMap(basis, drawn, basis.weights, drawn.weights)
    result = project(m, 3, rows(rng, 20, True), rows(rng, 10, True), NTK().gram)
    np.testing.assert_array_equal(estimate(result.feature_map, rows(rng, 5, True)), 0.0)
