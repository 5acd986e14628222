"""One door for kernels and matrices: the verdict on matrices whose nature is known, and what is said about it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import krein
from krein.kernels import NTK, DeltaGaussian


def points(n=150, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def gauss(X):
    return np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))


def noisy(K, deviation, seed=0):
    A = np.random.default_rng(seed).normal(size=K.shape)
    return K + deviation * (np.triu(A) + np.triu(A, 1).T)


def fidelity(X, shots, seed=0):
    """Estimated fidelities of product states: binomial counts of a positive kernel, 1 on the diagonal."""
    exact = np.prod(np.cos(X[:, None] - X) ** 2, axis=2)
    counts = np.random.default_rng(seed).binomial(shots, np.clip(exact, 0.0, 1.0)) / shots
    return np.triu(counts, 1) + np.triu(counts, 1).T + np.eye(len(X))


CASES = {
    "clean": (lambda X: gauss(X), "positive"),
    "clean in single precision": (lambda X: gauss(X).astype(np.float32), "positive"),
    "low rank": (lambda X: X @ X.T, "positive"),
    "noise of 1e-8": (lambda X: noisy(X @ X.T, 1e-8), "noise"),
    "noise of 0.05": (lambda X: noisy(gauss(X), 0.05), "noise"),
    "64 shots": (lambda X: fidelity(X, 64), "noise"),
    "1024 shots": (lambda X: fidelity(X, 1024), "noise"),
    "tanh": (lambda X: np.tanh(X @ X.T - 1.0), "signal"),
    "tanh with noise": (lambda X: noisy(np.tanh(X @ X.T - 1.0), 0.01), "signal"),
    "Delta-Gaussian": (lambda X: DeltaGaussian(1.0, 10.0)(X), "signal"),
    "NTK": (lambda X: NTK()(X), "positive"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_the_verdict(name, seed):
    make, verdict = CASES[name]
    found = krein.diagnose(make(points(seed=seed)), random_state=seed)
    assert found.verdict == verdict, str(found)
    assert found.reasons
    assert found.advice


def warped(n, seed, length=40):
    """Sines of two frequencies, each read by a clock of its own."""
    rng = np.random.default_rng(seed)
    clock = np.cumsum(rng.gamma(0.6, size=(n, length)), axis=1)
    clock = 2.0 * np.pi * clock / clock[:, -1:]
    return np.sin((1.0 + np.arange(n)[:, None] % 2) * clock)


def warping_distances(X):
    """Dynamic time warping of all pairs at once."""
    n, length = X.shape
    cost = np.square(X[:, None, :, None] - X[None, :, None, :])
    D = np.full((n, n, length + 1, length + 1), np.inf)
    D[:, :, 0, 0] = 0.0
    for i in range(length):
        for j in range(length):
            before = np.minimum(np.minimum(D[:, :, i, j + 1], D[:, :, i + 1, j]), D[:, :, i, j])
            D[:, :, i + 1, j + 1] = cost[:, :, i, j] + before
    return np.sqrt(D[:, :, -1, -1])


@pytest.mark.parametrize("seed", range(3))
def test_warping_of_few_series_is_not_called_noise(seed):
    D = warping_distances(warped(60, seed))
    found = krein.diagnose(np.exp(-0.1 * D / np.median(D)), random_state=seed)
    assert found.verdict in {"signal", "mixed"}, str(found)
    assert krein.diagnose(D, distance=True, random_state=seed).verdict in {"signal", "mixed"}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [40, 60])
@pytest.mark.parametrize("name", ["noise of 1e-8", "noise of 0.05", "64 shots"])
def test_noise_of_few_objects_is_not_called_signal(n, seed, name):
    found = krein.diagnose(CASES[name][0](points(n, seed=seed)), random_state=seed)
    assert found.verdict in {"noise", "undecided"}, str(found)
    assert found.verdict == "noise" or "cannot be told" in found.reasons[-1]


def test_labels_decide_what_the_matrix_cannot():
    """Twelve objects are too few for their matrix; its one negative direction is the label."""
    y = np.tile([-1.0, 1.0], 6)
    K = np.sqrt(gauss(points(12))) - np.outer(y, y) / 12
    assert krein.diagnose(K).verdict == "undecided"
    found = krein.diagnose(K, y=y.astype(str))
    assert found.verdict == "signal", str(found)
    assert found.scores.difference > 0


def test_distances_that_are_euclidean_and_that_are_not():
    X = points(100)
    euclidean = krein.diagnose(np.sqrt(np.square(X[:, None] - X).sum(axis=2)), distance=True)
    assert euclidean.verdict == "positive"
    assert euclidean.signature[0] == 3
    city = krein.diagnose(np.abs(X[:, None] - X).sum(axis=2), distance=True, y=X[:, 0] * X[:, 1] > 0)
    assert city.verdict == "signal"
    assert "holds" in dict(city.facts())["triangle inequality"]
    squared = krein.diagnose(np.square(X[:, None] - X).sum(axis=2), distance=True)
    assert squared.triangles.share > 0.3
    assert "at worst d(" in " ".join(str(squared).split())


def test_stated_noise_counts_before_what_is_found():
    X = points()
    K = fidelity(X, 256)
    assert krein.diagnose(K, noise=0.5 / np.sqrt(256)).verdict == "noise"
    assert krein.diagnose(np.tanh(X @ X.T - 1.0), noise=1e-3).verdict == "signal"
    with pytest.raises(ValueError, match="noise must be a standard deviation"):
        krein.diagnose(K, noise=-1.0)


def test_labels_decide_what_to_do():
    X = points()
    K = (X * [1.0, 1.0, -2.0]) @ X.T
    assert any("keep the negative part" in text for text in krein.diagnose(K, y=X[:, 2] > 0).advice)
    same = krein.diagnose(K, y=np.where(X[:, 0] > 0, "a", "b"))
    assert same.scores.measure == "accuracy"
    assert krein.diagnose(K, y=X[:, 2]).scores.measure == "R2"
    with pytest.raises(ValueError, match="one entry for each of 150 objects, got 149"):
        krein.diagnose(K, y=X[1:, 0])
    with pytest.raises(ValueError, match="at least 2 classes"):
        krein.diagnose(K, y=np.ones(150, dtype=int))


def test_missing_and_asymmetric_entries_are_said():
    K = gauss(points(20))
    K[3, 4] = np.nan
    found = krein.diagnose(K)
    assert found.verdict == "incomplete"
    assert found.signature is None
    assert "1, 0; first at (3, 4)" in str(found)
    with pytest.raises(ValueError, match="no spectrum to draw"):
        found.plot()
    K[3, 4] = 5.0
    found = krein.diagnose(K)
    assert not found.entries.symmetric
    assert "symmetrize='average'" in found.advice[0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_objects(n):
    for K in (np.ones((n, n)), np.zeros((n, n)), -np.eye(n)):
        assert krein.diagnose(K).verdict in {"positive", "undecided"}
    assert krein.diagnose(np.zeros((n, n)), distance=True).verdict == "positive"


def test_many_objects_by_lanczos():
    X = points(1800)
    found = krein.diagnose(np.tanh(X @ X.T - 1.0))
    assert not found.spectrum.exact
    assert found.verdict == "signal"
    assert "about" in str(found)
    assert krein.diagnose(gauss(X)).verdict == "positive"


def test_forms():
    X = points(40)
    found = krein.diagnose(np.tanh(X @ X.T - 1.0), y=X[:, 0] > 0)
    assert repr(found) == str(found)
    page = found._repr_html_()
    assert "negative eigenfraction" in page
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["signature"] == list(found.signature)
    assert again["negative_fraction"] == found.negative_fraction
    left, right = krein.plotting.new_figure(8.0, 3.0).subplots(1, 2)
    assert found.plot(left, style="light") is left
    assert found.plot_objects(right) is right
    assert "(−)" in right.get_ylabel()
    shown = np.concatenate([line.get_ydata() for line in left.lines if len(line.get_ydata()) > 2])
    np.testing.assert_allclose(np.sort(shown), found.spectrum.values)
    for matrix in (X @ X.T, np.zeros((3, 3))):
        one = krein.diagnose(matrix)
        one.plot(left)
        one.plot_objects(right)


@pytest.mark.parametrize("exponent", [-200, 154, 300])
@pytest.mark.parametrize("distance", [False, True])
def test_entries_whose_squares_no_float_holds(exponent, distance):
    """The numbers are those of the same matrix in another unit, which is told."""
    X = points(60)
    matrix = np.abs(X[:, None] - X).sum(axis=2) if distance else np.tanh(X @ X.T - 1.0)
    plain = krein.diagnose(matrix, distance=distance)
    found = krein.diagnose(matrix * 10.0**exponent, distance=distance, noise=None)
    assert np.log10(found.unit) == pytest.approx(exponent, abs=1.0)
    assert f"all entries are divided by {found.unit:.0e}" in " ".join(str(found).split())
    np.testing.assert_allclose(
        found.spectrum.values * (found.unit / 10.0**exponent) ** (2 if distance else 1),
        plain.spectrum.values,
        atol=1e-9 * np.abs(plain.spectrum.values).max(),
    )
    assert found.verdict == plain.verdict
    assert found.spectrum.effective_rank == pytest.approx(plain.spectrum.effective_rank)
    assert found.to_dict()["unit"] == found.unit
    assert plain.unit == 1.0


def test_given_noise_is_in_the_unit_of_the_matrix():
    K = fidelity(points(), 256)
    assert krein.diagnose(K * 1e154, noise=1e154 * 0.5 / np.sqrt(256)).band.n_beyond == pytest.approx(
        krein.diagnose(K, noise=0.5 / np.sqrt(256)).band.n_beyond
    )


def test_targets_of_fewer_objects_than_folds_are_refused():
    for n in (1, 4):
        with pytest.raises(ValueError, match=f"y is predicted by 5 folds.*got {n}; leave y out"):
            krein.diagnose(np.eye(n), y=np.arange(n) / 2)
    scores = krein.diagnose(np.tanh(points(5) @ points(5).T - 1.0), y=np.arange(5) / 2).scores
    assert np.isfinite([scores.kept, scores.dropped]).all()


def test_the_door_tells_kernels_from_matrices():
    assert krein.diagnose(NTK(), dim=16).finite is False
    with pytest.raises(ValueError, match="dim must be given for a kernel"):
        krein.diagnose(NTK())
    with pytest.raises(ValueError, match="dim is for kernels"):
        krein.diagnose(np.eye(3), 3)
    assert krein.diagnose("ntk", 3).finite == krein.diagnose(NTK(), 3).finite
    with pytest.raises(ValueError, match="square matrix"):
        krein.diagnose(np.ones((2, 3)))
