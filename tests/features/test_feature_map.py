"""The feature map: what its columns are, in every layout and precision, with and without a projection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import unit_vectors
from krein.features import FeatureMap, feature_map, head_basis
from krein.measures import Head, SignedMeasure
from krein.sampling import Hadamard, Orthogonal

DIM = 5
MEASURE = SignedMeasure.from_atoms(DIM, np.array([1.0, 2.0, 3.5]), np.array([0.5, -0.7, 0.2]))


def a_map(*, sphere=True, padding=0, sampler=None, degree=1, n=7) -> FeatureMap:
    basis = head_basis(Head((0.4, -0.2, 0.1)[: degree + 1]), DIM, sphere=sphere)
    drawn = (sampler or Orthogonal()).sample(MEASURE, n, np.random.default_rng(0))
    return FeatureMap(basis, drawn, basis.weights, drawn.weights, padding=padding)


def loops(m: FeatureMap, X: np.ndarray) -> np.ndarray:
    """Every column by its definition."""
    head = np.empty((len(X), m.basis.n_columns))
    m.basis.write(X, np.sqrt(np.abs(m.head_weights)), head)
    root = np.sqrt(np.abs(m.wave_weights))
    angles = np.array(
        [[float(sum(a * b for a, b in zip(x, w, strict=True))) for w in m.frequencies.vectors] for x in X]
    )
    return np.hstack([head, np.cos(angles) * root, np.sin(angles) * root, np.zeros((len(X), m.padding))])


def written(m: FeatureMap, X) -> np.ndarray:
    out = np.full((X.shape[0], m.n_outputs), np.nan, dtype=X.dtype)
    m.write(X, out)
    return out


@pytest.mark.parametrize("degree", [-1, 0, 1, 2])
@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize("padding", [0, 1])
def test_columns_signature_and_names(degree, sphere, padding, rng):
    m = a_map(sphere=sphere, degree=degree, padding=padding)
    X = unit_vectors(rng, 11, DIM)
    Z = written(m, X)
    np.testing.assert_allclose(Z, loops(m, X), atol=1e-13)
    np.testing.assert_array_equal(m.columns(X), Z)
    names = m.names()
    assert len(names) == len(set(names)) == m.n_outputs == m.n_columns == m.signature.size == Z.shape[1]
    assert [n[-1] for n in names] == ["-" if s < 0 else "+" for s in m.signature]
    assert names[-1].startswith("zero") == bool(padding)
    z = np.linalg.norm(X[:, None] - X, axis=2)
    estimate = Head(m.basis.coefficients).evaluate(z) + np.stack([m.frequencies.evaluate(X - x) for x in X])
    np.testing.assert_allclose((Z * m.signature) @ Z.T, estimate, atol=1e-12)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize("sampler", [Orthogonal(), Hadamard()])
class TestLayouts:
    def the_map(self, sphere, sampler, projected) -> FeatureMap:
        m = a_map(sphere=sphere, sampler=sampler, degree=2)
        if not projected:
            return m
        T = np.random.default_rng(1).standard_normal((m.n_columns, 6))
        return replace(m, projection=T, projected_signature=np.array([1.0, -1, 1, 1, -1, 1]))

    def test_sparse_is_dense(self, sphere, sampler, projected, rng):
        m = self.the_map(sphere, sampler, projected)
        X = unit_vectors(rng, 30, DIM) * (rng.random((30, DIM)) < 0.5)
        for kind in (sp.csr_matrix, sp.csr_array):
            np.testing.assert_allclose(written(m, kind(X)), written(m, X), atol=1e-12)

    def test_float32(self, sphere, sampler, projected, rng):
        m = self.the_map(sphere, sampler, projected)
        X = unit_vectors(rng, 30, DIM).astype(np.float32)
        Z = written(m, X)
        assert Z.dtype == np.float32
        np.testing.assert_allclose(Z, written(m, X.astype(np.float64)), atol=2e-5)

    def test_other_orders_of_memory(self, sphere, sampler, projected, rng):
        m = self.the_map(sphere, sampler, projected)
        X = unit_vectors(rng, 30, DIM)
        expected = written(m, X)
        padded = np.zeros((60, 2 * DIM))
        padded[::2, ::2] = X
        for same in (np.asfortranarray(X), padded[::2, ::2]):
            np.testing.assert_allclose(written(m, same), expected, atol=1e-13)
        read_only = X.copy()
        read_only.setflags(write=False)
        np.testing.assert_array_equal(written(m, read_only), expected)

    def test_no_rows(self, sphere, sampler, projected):
        m = self.the_map(sphere, sampler, projected)
        assert written(m, np.empty((0, DIM))).shape == (0, m.n_outputs)


def test_projection_in_blocks_is_the_product(monkeypatch, rng):
    m = a_map()
    T = rng.standard_normal((m.n_columns, 4))
    projected = replace(m, projection=T, projected_signature=np.ones(4))
    X = unit_vectors(rng, 101, DIM)
    monkeypatch.setattr(feature_map, "_BLOCK_BYTES", 7 * 8 * m.n_columns)  # seven rows at a time
    np.testing.assert_allclose(written(projected, X), m.columns(X) @ T, atol=1e-12)
    assert projected.names() == [f"projected{i}+" for i in range(4)]
    assert projected.n_outputs == 4
    assert projected.n_columns == m.n_columns


def test_zero_weights_count_as_positive():
    m = a_map()
    silent = replace(m, wave_weights=np.zeros(7))
    np.testing.assert_array_equal(silent.signature[-14:], 1.0)
