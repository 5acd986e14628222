"""Entries, triangles, the negative part in numbers, and whether it is found again in other objects."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from krein.matrices import matrix_spectrum as module
from krein.matrices.entries import as_square, check_triangles, scan_entries
from krein.matrices.matrix_operator import SymmetricOperator
from krein.matrices.matrix_spectrum import matrix_spectrum, noise_band
from krein.matrices.noise_or_signal import replicate_negative_part


def symmetric_noise(rng, n, deviation):
    A = rng.normal(size=(n, n))
    return deviation * (np.triu(A) + np.triu(A, 1).T)


def spectrum_of(K, rng=None):
    scan = scan_entries(K)
    return matrix_spectrum(SymmetricOperator(K), scan.largest, scan.precision, rng or np.random.default_rng(0))


def test_entries_are_counted_and_placed(rng):
    K = rng.normal(size=(300, 300))
    K = K + K.T
    scan = scan_entries(K)
    assert scan.complete
    assert scan.symmetric
    assert scan.largest == np.abs(K).max()
    K[270, 3] += 0.5
    scan = scan_entries(K)
    assert not scan.symmetric
    assert scan.largest_gap == pytest.approx(0.5)
    assert scan.gap_at in {(270, 3), (3, 270)}
    assert scan.asymmetry == pytest.approx(np.linalg.norm(K - K.T) / np.linalg.norm(K + K.T))
    K[5, 6], K[299, 0], K[299, 1] = np.nan, np.inf, -np.inf
    scan = scan_entries(K)
    assert (scan.n_missing, scan.n_infinite, scan.first_bad) == (1, 2, (5, 6))


def test_what_is_no_square_matrix():
    for bad in (np.ones((2, 3)), np.ones(4), np.empty((0, 0)), 1.0):
        with pytest.raises(ValueError, match="must be a square matrix"):
            as_square(bad, "K")
    for bad in (np.array([["a", "b"], ["c", "d"]]), np.full((2, 2), 1j)):
        with pytest.raises(ValueError, match="K must hold real numbers"):
            as_square(bad, "K")
    assert as_square([[1, 2], [2, 1]], "K").dtype == np.float64


def test_triangles_against_a_loop(rng):
    D = rng.uniform(0.1, 1.0, size=(12, 12))
    D = 0.5 * (D + D.T)
    np.fill_diagonal(D, 0.0)
    broken, worst = [], 0.0
    for triple in itertools.combinations(range(12), 3):
        sides = sorted(D[i, j] for i, j in itertools.combinations(triple, 2))
        broken.append(sides[2] > sides[0] + sides[1])
        worst = max(worst, (sides[2] - sides[0] - sides[1]) / sides[2])
    found = check_triangles(D, rng)
    assert found.exhaustive
    assert found.share == pytest.approx(np.mean(broken))
    assert found.worst == pytest.approx(worst)
    i, j, k = found.example
    assert (D[i, j] - D[i, k] - D[k, j]) / D[i, j] == pytest.approx(worst)


def test_triangles_of_many_objects(rng):
    X = rng.normal(size=(400, 2))
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    assert check_triangles(D, rng).example is None
    found = check_triangles(D**2, rng)  # obtuse triangles: most of those of Gaussian points
    assert not found.exhaustive
    assert found.share > 0.5
    assert check_triangles(D[:2, :2], rng).share == 0.0


def test_numbers_of_a_known_spectrum():
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))
    K = (Q * [4.0, 2.0, 0.0, 0.0, -1.0, -3.0]) @ Q.T
    found = spectrum_of(0.5 * (K + K.T))
    assert found.signature == (2.0, 2.0, 2.0)
    assert found.negative_fraction == pytest.approx(0.4)
    assert found.negative_magnitude == pytest.approx(0.75)
    assert found.effective_rank == pytest.approx(100.0 / 30.0)
    np.testing.assert_allclose(found.axis_values, [4.0, 2.0, -3.0, -1.0])
    np.testing.assert_allclose(np.square(found.axes).sum(axis=0), [4.0, 2.0, 3.0, 1.0])


@pytest.mark.parametrize("seed", range(3))
def test_lanczos_says_what_all_eigenvalues_say(monkeypatch, seed):
    X = np.random.default_rng(seed).normal(size=(600, 3))
    K = np.tanh(X @ X.T - 1.0)
    exact = spectrum_of(K)
    monkeypatch.setattr(module, "EXACT_OBJECTS", 100)
    found = spectrum_of(K, np.random.default_rng(seed))
    assert not found.exact
    assert found.negative_fraction == pytest.approx(exact.negative_fraction, rel=0.05)
    assert found.negative_magnitude == pytest.approx(exact.negative_magnitude, rel=1e-4)
    assert found.effective_rank == pytest.approx(exact.effective_rank, rel=0.05)
    np.testing.assert_allclose(found.axis_values, exact.axis_values, rtol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_band_of_pure_noise_is_found(seed):
    """The semicircle's radius from its median: within a fifth at n = 300, where its eigenvalues are rigid."""
    K = symmetric_noise(np.random.default_rng(seed), 300, 0.05)
    spectrum = spectrum_of(K)
    band = noise_band(spectrum, 300)
    assert band.noise == pytest.approx(0.05, rel=0.2)
    assert band.n_beyond == 0.0
    assert noise_band(spectrum, 300, 0.05).radius == pytest.approx(2 * 0.05 * np.sqrt(300))
    assert noise_band(spectrum, 300, 0.01).n_beyond > 0.0
    assert noise_band(spectrum_of(np.eye(5)), 5) is None


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize("seed", range(4))
def test_noise_is_not_found_again_and_signal_is(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    gauss, tanh = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2)), np.tanh(X @ X.T - 1.0)
    noise = replicate_negative_part(SymmetricOperator(gauss + symmetric_noise(rng, n, 0.05)), 1e-12, rng)
    signal = replicate_negative_part(SymmetricOperator(tanh), 1e-12, rng)
    assert noise is None or not noise.found_again
    assert signal.found_again
    assert signal.share > 0.5


def test_too_few_objects_say_nothing(rng):
    assert replicate_negative_part(SymmetricOperator(-np.eye(8)), 1e-12, rng) is None
    assert replicate_negative_part(SymmetricOperator(np.eye(80)), 1e-12, rng) is None
