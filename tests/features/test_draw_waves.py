"""Waves drawn without a look at rows: unbiased, of the width asked for, for rows anywhere."""

import math
import warnings

import numpy as np
import pytest

from helpers import hoeffding_tolerance
from krein.features import draw_waves
from krein.kernels import NTK, Cauchy, DeltaGaussian, Gaussian, Laplacian, Matern, Multiquadric

KERNELS = [
    Gaussian(1.0),
    Laplacian(2.0),
    Matern(1.0, nu=1.5),
    Cauchy(1.0),
    2.0 * Gaussian(1.0),
    DeltaGaussian(1.0, 3.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_unbiased(kernel, rng):
    """Radii are independent given their strata and so are blocks of two directions: each is one draw of a sum of two waves."""
    X = np.array([[0.0, 0.0], [0.3, 0.1], [-0.5, 0.7], [1.1, -0.9], [2.0, 1.5]])
    n_waves = 120_000
    waves = draw_waves(kernel, 2, 2 * n_waves, rng)
    mass, exact = waves.measure.mass, kernel(X)
    tolerance = hoeffding_tolerance([mass], [n_waves // 2], n_checks=exact.size)
    smallest_defect = np.abs(kernel(1.2 * X) - exact).max()  # a scale that is wrong by a fifth
    assert 2 * tolerance < smallest_defect
    Z = waves(X)
    np.testing.assert_allclose((Z * waves.signature) @ Z.T, exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_columns_are_cosines_and_sines(dtype, rng):
    waves = draw_waves(Gaussian(1.5), 4, 101, rng)
    X = rng.standard_normal((30, 4)).astype(dtype)
    Z, drawn = waves(X), waves.feature_map.frequencies
    angles = X.astype(np.float64) @ drawn.vectors.T
    assert Z.shape == (30, 101)
    assert Z.dtype == dtype
    eps = np.finfo(dtype).eps
    atol = (4 + 4 * np.abs(angles).max()) * eps * math.sqrt(1 / 50)  # of cosines, and of their rounded arguments
    np.testing.assert_allclose(Z[:, :50], np.cos(angles) / math.sqrt(50), rtol=0, atol=atol)
    np.testing.assert_allclose(Z[:, 50:100], np.sin(angles) / math.sqrt(50), rtol=0, atol=atol)
    assert not Z[:, 100].any()
    np.testing.assert_allclose((Z * Z).sum(axis=1), 1.0, rtol=0, atol=200 * eps)


def test_rows_anywhere_without_a_word(rng):
    waves = draw_waves(Laplacian(1.0), 3, 64, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(waves(1e6 * rng.standard_normal((10, 3)))).all()


def test_the_estimate_is_the_error_far_away(rng):
    """Of independent waves; here each map has one, and the mean square of n cosines of far rows has a variance of 1/8n."""
    kernel, n = 3.0 * Gaussian(1.0), 500
    X = np.array([[0.0] * 5, [50.0] * 5])
    maps = [draw_waves(kernel, 5, 2, rng) for _ in range(n)]
    found = np.array([Z[0] @ Z[1] for Z in (waves(X) for waves in maps)])
    assert maps[0].error_estimate == pytest.approx(math.sqrt(0.5), rel=1e-12)
    assert abs(np.mean((found / 3.0) ** 2) - 0.5) < 5 * math.sqrt(1 / (8 * n))


@pytest.mark.parametrize("kernel", [NTK(), Multiquadric(1.0)])
def test_no_closed_form(kernel, rng):
    with pytest.raises(ValueError, match="has no closed-form spectrum"):
        draw_waves(kernel, 3, 64, rng)


def test_what_is_refused(rng):
    with pytest.raises(TypeError, match=r"krein\.kernels\.Radial"):
        draw_waves(np.exp, 3, 64, rng)
    with pytest.raises(ValueError, match="n_components must be at least 2"):
        draw_waves(Gaussian(1.0), 3, 1, rng)
    with pytest.raises(ValueError, match="at least two frequencies"):
        draw_waves(DeltaGaussian(1.0, 3.0), 3, 2, rng)
