"""The feature map: what its columns are, in every layout and precision, with and without a projection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import unit_vectors
from krein._core.threads import thread_limit
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


def test_rank_counts_columns_that_are_not_zero():
    m = a_map(padding=3, degree=2)
    assert (m.rank, m.n_outputs) == (m.n_columns - 3, m.n_columns)
    assert m.names()[-3:] == ["zero0+", "zero1+", "zero2+"]
    T = np.random.default_rng(0).standard_normal((m.n_columns, 4))
    T[:, 2:] = 0.0
    projected = replace(m, projection=T, projected_signature=np.ones(4))
    assert projected.rank == 2
    assert projected.names() == ["projected0+", "projected1+", "zero0+", "zero1+"]


def test_parts_are_the_columns(rng):
    m = a_map(degree=2, padding=1)
    X = unit_vectors(rng, 9, DIM)
    whole, first = m.columns(X), 0
    for part in m.parts:
        alone = np.empty((9, part.n_columns))
        part.write(X, alone)
        np.testing.assert_array_equal(alone, whole[:, first : first + part.n_columns])
        assert len(part.names()) == part.column_weights.size == part.n_columns
        first += part.n_columns
    assert first == m.n_columns - 1


def no_waves(**changes) -> FeatureMap:
    basis = head_basis(Head((0.5, -0.2)), DIM, sphere=True)
    nothing = Orthogonal().sample(MEASURE, 0, np.random.default_rng(0))
    return replace(FeatureMap(basis, nothing, basis.weights, nothing.weights, padding=4), **changes)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_head_alone(kind, rng):
    X = kind(unit_vectors(rng, 9, DIM))
    Z = written(no_waves(), X)
    assert no_waves().rank == DIM + 1
    np.testing.assert_array_equal(Z[:, DIM + 1 :], 0.0)
    assert np.isfinite(Z).all()


SIX = np.array([1.0, -1, 1, 1, -1, 1])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"basis": head_basis(Head((0.4, -0.2)), DIM + 1, sphere=True)}, ValueError, "same dimension, got 6 and 5"),
        ({"head_weights": np.ones(DIM + 2)}, ValueError, r"head_weights must have shape \(6,\), got \(7,\)"),
        ({"head_weights": np.full(DIM + 1, np.nan)}, ValueError, "head_weights must be finite"),
        ({"wave_weights": np.ones(8)}, ValueError, "wave_weights must have shape"),
        ({"wave_weights": np.ones((7, 1))}, ValueError, "wave_weights must have shape"),
        ({"wave_weights": np.array(["a"] * 7)}, ValueError, "could not convert"),
        ({"padding": -1}, ValueError, "padding must be at least 0"),
        ({"padding": 1.5}, TypeError, "padding must be an integer"),
        ({"projection": np.ones((20, 6))}, ValueError, "come together"),
        ({"projected_signature": SIX}, ValueError, "come together"),
        ({"projection": np.ones((19, 6)), "projected_signature": SIX}, ValueError, "projection must have shape"),
        ({"projection": np.ones((20, 5)), "projected_signature": SIX}, ValueError, "projected_signature must have"),
        ({"projection": np.ones((20, 6)), "projected_signature": 2 * SIX}, ValueError, r"\+1 and -1"),
        ({"projection": np.full((20, 6), np.inf), "projected_signature": SIX}, ValueError, "projection must be finite"),
    ],
)
def test_parts_must_fit_each_other(change, error, message):
    """Model files are rebuilt through the constructor, and the compiled loops trust it."""
    with pytest.raises(error, match=message):
        replace(a_map(), **change)


def test_arrays_are_the_maps_own():
    weights = np.ones(7)
    m = replace(a_map(), wave_weights=weights)
    weights[:] = 0.0
    np.testing.assert_array_equal(m.wave_weights, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        m.wave_weights[0] = 2.0


def test_the_number_of_threads_changes_no_bit_of_a_projection(monkeypatch):
    monkeypatch.setattr(feature_map, "_BLOCK_BYTES", 1 << 14)
    m, rng = a_map(n=40), np.random.default_rng(0)
    projected = replace(m, projection=rng.normal(size=(m.n_columns, 24)), projected_signature=np.ones(24))
    X = unit_vectors(rng, 500, DIM)
    features = []
    for count in (1, 2, 5):
        with thread_limit(count):
            features.append(written(projected, X))
    np.testing.assert_array_equal(features[0], features[1])
    np.testing.assert_array_equal(features[0], features[2])
    assert np.abs(features[0] - m.columns(X) @ projected.projection).max() < 1e-12
