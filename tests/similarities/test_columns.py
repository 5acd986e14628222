"""Columns of objects: landmarks sought among some, the rest evaluated together, no pair twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from krein import KreinNystroem
from krein.nystroem import landmarks
from krein.similarities.called import CallableSimilarity
from krein.similarities.columns import CandidateColumns
from krein.similarities.objects import Objects

N = 300
X = np.random.default_rng(0).normal(size=(N, 3))


def near(a, b):
    return float(np.exp(-np.abs(a - b).sum())) - 0.1 * float(np.abs(a[0] + b[0]))


def near_blocks(A, B):
    return np.exp(-np.abs(A[:, None] - B).sum(axis=2)) - 0.1 * np.abs(A[:, None, 0] + B[:, 0])


@pytest.fixture
def few_candidates(monkeypatch):
    monkeypatch.setattr(landmarks, "_LEAST_ROWS", 100)
    monkeypatch.setattr(landmarks, "_OBJECTS_PER_LANDMARK", 2)


@pytest.mark.parametrize("function", [near, near_blocks])
@pytest.mark.parametrize("put_off", [True, False])
def test_columns_are_the_same_whether_some_are_put_off(function, put_off):
    candidates = np.arange(0, N, 3)
    similarity = CallableSimilarity(function, function is near_blocks)
    with similarity.columns(Objects(X), 20) as columns:
        if put_off:
            columns.put_off(np.setdiff1d(np.arange(N), candidates))
        seen = CandidateColumns(columns, candidates if put_off else np.arange(N))
        for chosen in (np.array([5, 0, 99]), np.array([7]), np.arange(20, 26)):
            numbers = candidates[chosen] if put_off else chosen
            block = seen.take(chosen)
            rows = candidates if put_off else np.arange(N)
            np.testing.assert_allclose(block, near_blocks(X[rows], X[numbers]), atol=1e-12)
        np.testing.assert_allclose(columns.matrix(), near_blocks(X, X[columns.taken]), atol=1e-12)


def test_more_columns_than_were_announced():
    with CallableSimilarity(near, False).columns(Objects(X), 2) as columns:
        columns.take(np.array([4, 9]))
        columns.take(np.array([1, 299, 30]))
        np.testing.assert_allclose(columns.matrix(), near_blocks(X, X[[4, 9, 1, 299, 30]]), atol=1e-12)


def test_landmarks_among_some_objects_take_no_pair_twice(few_candidates):
    seen: Counter[frozenset[bytes]] = Counter()

    def counted(a, b):
        seen[frozenset((a.tobytes(), b.tobytes()))] += 1
        return near(a, b)

    found = KreinNystroem(counted, 20, call="pairs", random_state=0)
    Z = found.fit_transform(X)
    assert found.n_evaluations_ == sum(seen.values()) <= 21 * N
    # only those of the pilot, which are evaluated in both orders to see whether they agree
    pilot = 14
    assert sum(count > 1 for count in seen.values()) <= pilot * (pilot - 1) // 2
    assert max(seen.values()) == 2
    np.testing.assert_allclose(found.transform(X), Z, atol=1e-10)


def test_landmarks_come_from_the_candidates_and_approximate_as_well(few_candidates):
    exact = near_blocks(X, X)
    errors = []
    for seed in range(5):
        some = KreinNystroem(near, 20, call="pairs", random_state=seed)
        Z = some.fit_transform(X)
        assert len(np.unique(some.landmarks_, axis=0)) == 20
        errors.append(np.linalg.norm(exact - (Z * some.signature_) @ Z.T))
        uniform = KreinNystroem(near, 20, call="pairs", landmarks="uniform", random_state=seed)
        Z = uniform.fit_transform(X)
        errors[-1] /= np.linalg.norm(exact - (Z * uniform.signature_) @ Z.T)
    assert np.median(errors) < 1.0
