"""Spectra with signs: roots, compression, cuts that keep eigenspaces whole, the flipped matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from krein._core.directions import orthogonal_directions
from krein.nystroem.spectrum import (
    SignedSpectrum,
    compress_features,
    signed_root,
    signed_spectrum,
    significant,
)


def with_eigenvalues(values, rng) -> np.ndarray:
    turn = orthogonal_directions(len(values), len(values), rng)
    return (turn.T * np.asarray(values)) @ turn


def test_root_and_compression_give_the_matrix_back(rng):
    A = rng.normal(size=(9, 9))
    A = A + A.T
    root, signature, values = signed_root(signed_spectrum(A))
    assert (np.diff(np.abs(values)) <= 1e-12).all()
    features = A @ root
    np.testing.assert_allclose((features * signature) @ features.T, A, atol=1e-10)
    turn, signs = compress_features(features, signature, 4)
    all_values, vectors = linalg.eigh(A)
    best = np.argsort(-np.abs(all_values))[:4]
    short = features @ turn
    np.testing.assert_allclose(
        (short * signs) @ short.T, (vectors[:, best] * all_values[best]) @ vectors[:, best].T, atol=1e-9
    )


def test_order_and_signs_do_not_hang_on_rounding(rng):
    """Pairs ±v: which of them is larger in float64 is chance, and so is the sign of an eigenvector."""
    values = [3.0, -3.0, 2.0, -2.0, 2.0, -1.0, 0.5]
    A = with_eigenvalues(values, rng)
    for noise in (0.0, 1e-15, -1e-15):
        found = signed_spectrum(A + noise * (np.arange(7)[:, None] + np.arange(7)))
        np.testing.assert_allclose(found.values, [3.0, -3.0, 2.0, 2.0, -2.0, -1.0, 0.5], rtol=1e-10)
        for j in (0, 1, 4, 5, 6):  # the others span a plane and have no direction of their own
            largest = np.abs(found.vectors[:, j]).argmax()
            assert found.vectors[largest, j] > 0


def test_a_cut_keeps_eigenvalues_of_one_size_together():
    values = np.array([1.0, 1e-3 * (1 + 1e-12), -1e-3, 1e-3 * (1 - 1e-12), 1e-5])
    assert significant(values, 1e-3) == 4
    assert significant(values, 0.9e-3) == 4
    assert significant(values, 1.1e-3) == 1
    assert significant(values) == 5


def test_eigenvalues_of_the_size_of_rounding_never_count():
    assert significant(np.array([1.0, 1e-17, -1e-18])) == 1
    assert significant(np.zeros(3)) == significant(np.empty(0)) == 0


def test_flipped_matrix_and_the_way_there(rng):
    A = with_eigenvalues([4.0, -2.0, 1.0, -0.5, 1e-17], rng)
    spectrum = signed_spectrum(A)
    flipped = spectrum.flipped()
    np.testing.assert_array_equal(flipped, flipped.T)
    np.testing.assert_allclose(linalg.eigvalsh(flipped), [0.0, 0.5, 1.0, 2.0, 4.0], atol=1e-12)
    # a training object mapped as a new one gives its training row
    np.testing.assert_allclose(A @ spectrum.flip_of(np.arange(5)), flipped, atol=1e-12)
    np.testing.assert_allclose(A @ spectrum.flip_of(np.array([3, 1])), flipped[:, [3, 1]], atol=1e-12)
    assert spectrum.n_negative == 2


def test_parts_that_do_not_fit():
    with pytest.raises(ValueError, match="one eigenvector a value"):
        SignedSpectrum(np.ones(3), np.eye(2))
