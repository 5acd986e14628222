"""Corrections against their definitions on the training matrix, and what they do to new objects."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import frozen
from krein.matrices import CORRECTIONS, FittedCorrection, fit_correction
from krein.matrices.nearest import nearest_with_diagonal
from krein.nystroem import signed_spectrum

CONSISTENT = ("clip", "flip", "square")


def indefinite(n: int = 60, seed: int = 0) -> np.ndarray:
    """Similarities that are tanh of inner products, with ones on the diagonal."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    K = np.tanh(X @ X.T - 1.0)
    np.fill_diagonal(K, 1.0)
    return frozen(K)


def by_definition(K: np.ndarray, method: str) -> np.ndarray:
    """As PennyLane's kernel module defines them, by numpy alone."""
    values, vectors = np.linalg.eigh(K)
    if method == "square":
        return K @ K
    if method == "shift":
        return K - min(values.min(), 0.0) * np.eye(len(K))
    changed = {"clip": np.maximum(values, 0.0), "flip": np.abs(values)}[method]
    return vectors @ np.diag(changed) @ vectors.T


def check_nearest(X: np.ndarray, K: np.ndarray, added: np.ndarray, diagonal: np.ndarray) -> None:
    """X ⪰ 0 has this diagonal, and X − K = diag(added) + M with M ⪰ 0, MX = 0.

    Any other Y ⪰ 0 of this diagonal is farther then: ½‖Y − K‖² − ½‖X − K‖² ≥ ⟨X − K, Y − X⟩ = ⟨M, Y⟩ ≥ 0.
    """
    M = X - K - np.diag(added)
    size = np.linalg.norm(K + np.diag(added), 2)
    tol = 10 * len(K) * np.finfo(float).eps * size  # eigenvalues and products of matrices of this size
    np.testing.assert_allclose(np.diag(X), diagonal, rtol=0, atol=tol + 1e-12 * diagonal.max())  # where Newton stops
    assert min(np.linalg.eigvalsh(X).min(), np.linalg.eigvalsh(M).min()) >= -tol
    assert np.linalg.norm(M @ X, 2) <= tol * size


@pytest.mark.parametrize("method", CORRECTIONS)
def test_training_matrix_is_the_definition(method):
    K = indefinite()
    correction = fit_correction(K, method)
    found = correction.training(K)
    if method == "nearest":
        check_nearest(found, K, correction.added, np.diag(K))
    else:
        np.testing.assert_allclose(found, by_definition(K, method), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-10


@pytest.mark.parametrize("method", CONSISTENT)
def test_a_training_object_that_comes_back_gets_its_training_row(method):
    K = indefinite()
    correction = fit_correction(K, method)
    assert correction.consistent
    np.testing.assert_allclose(correction(K[:7]), correction.training(K)[:7], rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["shift", "nearest"])
def test_what_is_added_to_the_diagonal_is_said_to_be_inconsistent(method):
    K = indefinite()
    correction = fit_correction(K, method)
    assert not correction.consistent
    assert np.abs(correction(K) - correction.training(K)).max() > 1e-3
    # with the part of an object's own added, the row is that of the training matrix again
    np.testing.assert_allclose(correction(K + np.diag(correction.added)), correction.training(K), rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["clip", "flip", "shift", "nearest"])
def test_a_positive_matrix_is_left_alone(method):
    X = np.random.default_rng(0).normal(size=(30, 40))
    K = X @ X.T
    correction = fit_correction(K, method)
    assert correction.consistent
    np.testing.assert_allclose(correction.training(K), K, rtol=0, atol=1e-11 * np.abs(K).max())
    np.testing.assert_allclose(correction(K[:3]), K[:3], rtol=0, atol=1e-11 * np.abs(K).max())


def test_new_objects_are_projected():
    """k Π written out: the similarity of a new object to training ones through the positive eigenvectors only."""
    K, row = indefinite(40), np.random.default_rng(1).normal(size=(2, 40))
    values, vectors = np.linalg.eigh(K)
    kept = vectors[:, values > 0.0]
    np.testing.assert_allclose(fit_correction(K, "clip")(row), row @ kept @ kept.T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("diagonal", [1.0, 2.5])
def test_nearest_has_the_diagonal_asked_for(diagonal):
    K = indefinite(seed=3)
    correction = fit_correction(K, "nearest", diagonal=diagonal)
    check_nearest(correction.training(K), K, correction.added, np.full(60, diagonal))


def test_nearest_of_any_diagonal_is_clip():
    K = indefinite()
    np.testing.assert_array_equal(
        fit_correction(K, "nearest", diagonal=None).training(K), fit_correction(K, "clip").training(K)
    )


@pytest.mark.parametrize("seed", range(5))
def test_newton_finds_the_nearest(seed):
    """Random correlations, far from positive."""
    A = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(20, 20))
    K = 0.5 * (A + A.T)
    np.fill_diagonal(K, 1.0)
    found = nearest_with_diagonal(K, np.ones(20))
    assert found.gap < 1e-11
    check_nearest(found.spectrum.clipped(), K, found.added, np.ones(20))


def test_one_object_and_no_negative_part():
    one = np.array([[2.0]])
    for method in CORRECTIONS:
        np.testing.assert_allclose(fit_correction(one, method).training(one), one**2 if method == "square" else one)
    zeros = np.zeros((3, 3))
    for method in ("clip", "flip", "shift", "square"):
        np.testing.assert_array_equal(fit_correction(zeros, method).training(zeros), zeros)


def test_refusals():
    K = indefinite(10)
    with pytest.raises(ValueError, match="method must be one of 'clip', 'flip'"):
        fit_correction(K, "crop")
    with pytest.raises(ValueError, match="diagonal must be 'keep', a positive number or None, got 'unit'"):
        fit_correction(K, "nearest", diagonal="unit")
    with pytest.raises(ValueError, match="that of object 0 is 0; use a number"):
        fit_correction(K - np.eye(10), "nearest")
    with pytest.raises(ValueError, match=r"carry must be finite and of shape \(2, 2\)"):
        FittedCorrection(np.ones((2, 3)), None, np.ones(2))


def test_clipped_and_flipped_spectra():
    K = indefinite(30)
    spectrum = signed_spectrum(K)
    np.testing.assert_allclose(spectrum.flipped() - spectrum.clipped(), spectrum.clipped() - K, atol=1e-12)
