"""All feature maps of the comparison with a kernel each; a new one is tested by being listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from krein.baselines import (
    ArcCosineFeatures,
    DoubleGaussianMixture,
    LeverageNystroem,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from krein.estimators.maps.base import SignedFeatureMap
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import NTK, ArcCosine, DeltaGaussian, Kernel, Sigmoid, SphericalPolynomial

Maker = Callable[..., SignedFeatureMap]

# name: (class, kernel, other parameters)
MAPS: dict[str, tuple[Maker, Kernel, dict[str, Any]]] = {
    "srf": (SphericalRandomFeatures, SphericalPolynomial(2, 3), {}),
    "srf published": (SphericalRandomFeatures, SphericalPolynomial(2, 3), {"edition": "published"}),
    "srf with a constant": (SphericalRandomFeatures, DeltaGaussian(1.0, 10.0), {"constant": 1.0}),
    "digmm": (DoubleGaussianMixture, DeltaGaussian(1.0, 10.0), {"n_subset": 60}),
    "digmm published": (DoubleGaussianMixture, SphericalPolynomial(2, 3), {"edition": "published"}),
    "maclaurin": (RandomMaclaurin, SphericalPolynomial(2, 3), {}),
    "maclaurin published": (RandomMaclaurin, SphericalPolynomial(2, 3), {"edition": "published"}),
    "maclaurin tanh": (RandomMaclaurin, Sigmoid(1.0, -0.5), {}),
    "maclaurin ntk": (RandomMaclaurin, NTK(), {}),
    "tensor sketch": (TensorSketch, SphericalPolynomial(2, 3), {}),
    "tensor sketch published": (TensorSketch, SphericalPolynomial(2, 3), {"edition": "published"}),
    "trp": (TensorizedRandomProjection, SphericalPolynomial(3, 2), {}),
    "trp published": (TensorizedRandomProjection, SphericalPolynomial(2, 3), {"edition": "published"}),
    "arc-cosine 0": (ArcCosineFeatures, ArcCosine(0), {}),
    "arc-cosine 1": (ArcCosineFeatures, ArcCosine(1), {}),
    "arc-cosine ntk": (ArcCosineFeatures, NTK(), {}),
    "nystroem": (KreinNystroem, DeltaGaussian(1.0, 10.0), {}),
    "nystroem by leverage": (LeverageNystroem, DeltaGaussian(1.0, 10.0), {}),
    "nystroem sphere": (KreinNystroem, Sigmoid(1.0, -0.5), {"landmarks": "kmeans", "oversampling": 2}),
}


def make(name: str, n_components: int = 40, random_state: Any = 0, **changes: Any) -> SignedFeatureMap:
    """A map by its name in the list."""
    maker, kernel, parameters = MAPS[name]
    settings = {"kernel": kernel, **parameters, **changes}
    return maker(n_components=n_components, random_state=random_state, **settings)


def rows(n: int = 80, dim: int = 5, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Read-only rows of unit length, so that every kernel takes them."""
    X = np.random.default_rng(seed).normal(size=(n, dim))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    X.setflags(write=False)
    return X
