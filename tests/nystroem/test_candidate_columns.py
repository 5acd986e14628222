"""Columns of objects: landmarks sought among some, the rest evaluated together, no pair twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from krein import KreinNystroem, Similarity
from krein.nystroem import landmarks
from krein.nystroem.candidate_columns import CalledColumns
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
def test_columns_are_the_function_and_no_pair_is_evaluated_twice(function):
    """Landmarks sought among all objects or some, the rest evaluated in the end."""
    exact = near_blocks(X, X)
    for candidates in (np.arange(N), np.arange(0, N, 3)):
        similarity = Similarity(function, call="blocks" if function is near_blocks else "pairs")
        objects = Objects(X)
        with similarity.evaluation(21 * N) as evaluation:
            pilot = similarity.look(objects, evaluation, 14)
            columns = CalledColumns(pilot, objects, evaluation, 20, candidates)
            np.testing.assert_allclose(columns.diagonal(), np.diagonal(exact)[candidates], atol=1e-12)
            np.testing.assert_allclose(
                columns.among(np.arange(9)), exact[np.ix_(candidates[:9], candidates[:9])], atol=1e-12
            )
            for some in (np.array([5]), np.array([0, 40, 7]), np.array([90, 11])):
                taken = columns.take(some)
                np.testing.assert_allclose(taken, exact[np.ix_(candidates, candidates[some])], atol=1e-12)
            np.testing.assert_allclose(columns.completed(), exact[:, columns.taken], atol=1e-12)


def test_landmarks_among_some_objects_take_no_pair_twice(few_candidates):
    seen: Counter[frozenset[bytes]] = Counter()

    def counted(a, b):
        seen[frozenset((a.tobytes(), b.tobytes()))] += 1
        return near(a, b)

    found = KreinNystroem(Similarity(counted, call="pairs"), 20, random_state=0)
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
        some = KreinNystroem(Similarity(near, call="pairs"), 20, random_state=seed)
        Z = some.fit_transform(X)
        assert len(np.unique(some.landmarks_, axis=0)) == 20
        errors.append(np.linalg.norm(exact - (Z * some.signature_) @ Z.T))
        uniform = KreinNystroem(Similarity(near, call="pairs"), 20, landmarks="uniform", random_state=seed)
        Z = uniform.fit_transform(X)
        errors[-1] /= np.linalg.norm(exact - (Z * uniform.signature_) @ Z.T)
    assert np.median(errors) < 1.0
