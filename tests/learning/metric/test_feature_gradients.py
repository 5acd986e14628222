"""Gradients of models on features against differences, and their outer products over blocks and on Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from krein import SignedFourierFeatures
from krein.features.columns import SectionColumns
from krein.features.feature_map import FeatureMap
from krein.features.head import head_basis
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, Multiquadric
from krein.learning.metric import FeatureGradients, GradientProducts
from krein.measures import Head
from krein.rows.dask_rows import DaskRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))


def fitted(kernel: Any, **parameters: Any) -> FeatureMap:
    return SignedFourierFeatures(kernel, 64, random_state=0, **parameters).fit(X).feature_map_


@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        (Gaussian(1.5), {"weights": "unbiased"}),
        (DeltaGaussian(1.0, 3.0), {}),
        (Multiquadric(), {}),
    ],
    ids=str,
)
def test_against_differences(kernel: Any, parameters: dict[str, Any]) -> None:
    features = fitted(kernel, **parameters)
    coef = RNG.normal(size=(2, features.n_outputs))
    check(features, coef, X[:20] + 0.01)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_heads_of_all_degrees(degree: int) -> None:
    plain = fitted(Gaussian(1.5), weights="unbiased")
    basis = head_basis(Head((0.3, -0.7, 0.2)[: degree + 1]), 4, sphere=False, center=RNG.normal(size=4), scale=2.0)
    features = FeatureMap(basis, plain.frequencies, basis.weights, plain.wave_weights)
    check(features, RNG.normal(size=(2, features.n_outputs)), X[:20])


def test_sections_and_a_projection() -> None:
    plain = fitted(Gaussian(1.5), weights="unbiased")
    basis = head_basis(Head((0.3, -0.7)), 4, sphere=False)
    sections = SectionColumns(Laplacian(2.0), X[100:110])
    columns = basis.n_columns + 2 * len(plain.frequencies) + 10
    features = FeatureMap(
        basis,
        plain.frequencies,
        basis.weights,
        plain.wave_weights,
        projection=RNG.normal(size=(columns, 7)) / np.sqrt(columns),
        projected_signature=np.array([1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0]),
        sections=sections,
    )
    check(features, RNG.normal(size=(2, 7)), X[:20])


def check(features: FeatureMap, coef: np.ndarray, rows: np.ndarray) -> None:
    def values(points: np.ndarray) -> np.ndarray:
        out = np.empty((points.shape[0], features.n_outputs))
        features.write(points, out)
        return out @ coef.T

    step = 1e-5
    parts = [(values(rows + step * e) - values(rows - step * e)) / (2 * step) for e in np.eye(4)]
    expected = np.stack(parts, axis=-1).transpose(1, 0, 2)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(FeatureGradients(features, coef)(rows), expected, atol=1e-6 * max(1.0, scale))


def test_products_stream_and_add_up_on_dask() -> None:
    da = pytest.importorskip("dask.array")
    features = fitted(DeltaGaussian(1.0, 3.0))
    gradients = FeatureGradients(features, RNG.normal(size=(2, features.n_outputs)))
    weight = RNG.uniform(size=300)
    whole, blocks = GradientProducts(4), GradientProducts(4)
    gradients.add(whole, 0, X, None, weight)
    for start in range(0, 300, 77):
        gradients.add(blocks, start, X[start : start + 77], None, weight[start : start + 77])
    np.testing.assert_allclose(blocks.mean, whole.mean, rtol=1e-10)
    rows = DaskRows.of(da.from_array(X, chunks=(64, 4)), None, da.from_array(weight, chunks=64))
    np.testing.assert_allclose(rows.reduce(GradientProducts(4), gradients.add).mean, whole.mean, rtol=1e-10)


def test_what_has_no_such_gradient_is_refused() -> None:
    features = fitted(Gaussian(1.0))
    with pytest.raises(ValueError, match="a column for each of 64 features"):
        FeatureGradients(features, np.ones((1, 3)))
    sphere = fitted(NTK())
    with pytest.raises(ValueError, match="on the sphere"):
        FeatureGradients(sphere, np.ones((1, sphere.n_outputs)))
