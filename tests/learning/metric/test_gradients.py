"""Gradients in closed form against differences of the functions themselves."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import Cauchy, Gaussian, Kernel, Laplacian, Matern
from krein.learning.metric import GradientProducts, kernel_gradients, wave_gradients

RNG = np.random.default_rng(0)


def differences(function, X: np.ndarray) -> np.ndarray:
    """Central differences, shape (n_outputs, n_rows, n_features)."""
    step = 1e-5
    parts = [(function(X + step * e) - function(X - step * e)) / (2 * step) for e in np.eye(X.shape[1])]
    return np.stack(parts, axis=-1).transpose(1, 0, 2)


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.3), Laplacian(0.8), Matern(1.0, 1.5), Cauchy(1.0) - Gaussian(2.0)], ids=repr
)
def test_kernel_gradients(kernel: Kernel) -> None:
    rows, dual, X = RNG.normal(size=(30, 4)) + 50.0, RNG.normal(size=(30, 2)), RNG.normal(size=(700, 4)) + 50.0
    got = kernel_gradients(kernel, X, rows, dual)
    np.testing.assert_allclose(got, differences(lambda points: kernel(points, rows) @ dual, X), atol=2e-7)


def test_a_center_itself_is_left_out() -> None:
    rows, dual = RNG.normal(size=(30, 4)), RNG.normal(size=(30, 2))
    others = np.arange(1, 30)
    got = kernel_gradients(Laplacian(1.0), rows[:1], rows, dual)
    np.testing.assert_allclose(got, kernel_gradients(Laplacian(1.0), rows[:1], rows[others], dual[others]), atol=1e-12)


def test_wave_gradients() -> None:
    frequencies, X = RNG.normal(size=(20, 3)), RNG.normal(size=(15, 3))
    a, b = RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2))
    got = wave_gradients(X, frequencies, a, b)
    expected = differences(lambda x: np.cos(x @ frequencies.T) @ a + np.sin(x @ frequencies.T) @ b, X)
    np.testing.assert_allclose(got, expected, atol=1e-8)


def test_products_of_parts_are_those_of_the_whole() -> None:
    gradients, weight = RNG.normal(size=(2, 10, 3)), np.arange(10.0)
    whole, left, right = (GradientProducts(3) for _ in range(3))
    whole.add(gradients, weight)
    left.add(gradients[:, :4], weight[:4])
    right.add(gradients[:, 4:], weight[4:])
    left.merge(right)
    expected = (
        sum(w * np.outer(g, g) for o in range(2) for w, g in zip(weight, gradients[o], strict=True)) / weight.sum()
    )
    np.testing.assert_allclose(whole.mean, expected)
    np.testing.assert_allclose(left.mean, expected)
