"""Every way to make features for a kernel that this library has, under one name each."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem

from krein import KreinNystroem, SignedFourierFeatures
from krein.baselines import (
    DoubleGaussianMixture,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from krein.kernels import NTK, DeltaGaussian, Kernel, SphericalPolynomial

__all__ = ["KERNELS", "OURS", "RIVALS", "make", "methods_for"]

KERNELS: dict[str, Kernel] = {
    "polynomial": SphericalPolynomial(2, 2),
    "delta-gaussian": DeltaGaussian(1.0, 10.0),
    "ntk": NTK(),
}

OURS = {
    "krein": {},
    "krein unbiased": {"weights": "unbiased"},
    "krein projected": {"weights": "projected"},
    "krein landmarks": {"weights": "projected", "dictionary": "landmarks"},
    "krein landmarks, as many": {"weights": "projected", "dictionary": "landmarks", "oversampling": 1},
}


class SklearnNystroem:
    """scikit-learn's map for the one kernel here that it has: others would be called for each pair of rows, which takes hours."""

    def __init__(self, kernel: Kernel, n_components: int, random_state: int) -> None:
        assert kernel == SphericalPolynomial(2, 2)  # (1/2 + u/2)² on unit rows
        self.map = Nystroem(
            kernel="polynomial", gamma=0.5, coef0=0.5, degree=2, n_components=n_components, random_state=random_state
        )

    def fit(self, X: np.ndarray) -> SklearnNystroem:
        """As scikit-learn does."""
        self.map.fit(X)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """As scikit-learn does."""
        return np.asarray(self.map.transform(X))

    def approximate(self, X: np.ndarray) -> np.ndarray:
        """The kernel matrix that its features have."""
        Z = self.transform(X)
        return np.asarray(Z @ Z.T)


RIVALS: dict[str, tuple[type, dict[str, Any], tuple[str, ...]]] = {
    "RM": (RandomMaclaurin, {}, ("polynomial",)),
    "TS": (TensorSketch, {}, ("polynomial",)),
    "TRP": (TensorizedRandomProjection, {}, ("polynomial",)),
    "SRF": (SphericalRandomFeatures, {}, ("polynomial",)),
    "DIGMM": (DoubleGaussianMixture, {}, ("polynomial", "delta-gaussian")),
    "Nyström": (KreinNystroem, {}, tuple(KERNELS)),
    "Nyström pivoted": (KreinNystroem, {"landmarks": "pivoted"}, tuple(KERNELS)),
    "Nyström uniform": (KreinNystroem, {"landmarks": "uniform"}, tuple(KERNELS)),
    "Nyström of scikit-learn": (SklearnNystroem, {}, ("polynomial",)),
}


def methods_for(kernel: str) -> list[str]:
    """Our maps and the rivals that know the kernel."""
    return [*OURS, *(name for name, (_, _, kernels) in RIVALS.items() if kernel in kernels)]


def make(method: str, kernel: str, width: int, seed: int = 0) -> Any:
    """A feature map, not fitted."""
    common = {"kernel": KERNELS[kernel], "n_components": width, "random_state": seed}
    if method in OURS:
        return SignedFourierFeatures(**common, **OURS[method])
    cls, options, _ = RIVALS[method]
    return cls(**common, **options)
