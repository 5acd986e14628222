"""Time, memory and error of the feature map and of ridge regression on it, from commit to commit."""

from __future__ import annotations

import numpy as np

from krein import KreinRidgeClassifier, SignedFourierFeatures, datasets
from krein.kernels import NTK, DeltaGaussian, SphericalPolynomial

KERNELS = {
    "delta-gaussian": DeltaGaussian(1.0, 10.0),
    "polynomial": SphericalPolynomial(2, 2),
    "ntk": NTK(),
}


def letter(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, unseen rows, and labels of the former; columns to [0, 1], rows to unit length."""
    data = datasets.load("letter")
    X, X_new = datasets.minmax_unit(data.X_train[:n].astype(np.float64), data.X_test[:1000].astype(np.float64))
    return X, X_new, data.y_train[:n]


class Transform:
    """50,000 rows of 22 columns to 1,408 features."""

    params = ["float32", "float64"]
    param_names = ["dtype"]
    rows = 50_000

    def setup(self, dtype: str) -> None:
        self.X = np.random.default_rng(0).standard_normal((self.rows, 22)).astype(dtype)
        self.features = SignedFourierFeatures(n_components=1408, random_state=0).fit(self.X[:3000])
        self.features.transform(self.X[:100])

    def time_transform(self, dtype: str) -> None:
        self.features.transform(self.X)

    def peakmem_transform(self, dtype: str) -> None:
        self.features.transform(self.X)


class Fit:
    """Features of letter at :math:`8d` columns; the kernel has been seen before."""

    params = list(KERNELS)
    param_names = ["kernel"]
    rows = 12_000

    def setup(self, kernel: str) -> None:
        self.X, self.X_new, _ = letter(self.rows)
        self.features = SignedFourierFeatures(kernel=KERNELS[kernel], n_components=128, random_state=0).fit(self.X)

    def time_fit(self, kernel: str) -> None:
        self.features.fit(self.X)

    def track_error(self, kernel: str) -> float:
        exact = KERNELS[kernel](self.X_new)
        return float(np.linalg.norm(self.features.approximate(self.X_new) - exact) / np.linalg.norm(exact))

    track_error.unit = "relative error of the kernel matrix"


class Ridge:
    """A classifier on 512 features of letter, the choice of λ included."""

    rows = 12_000

    def setup(self) -> None:
        self.X, _, self.y = letter(self.rows)
        self.model = KreinRidgeClassifier(SignedFourierFeatures(kernel=NTK(), n_components=512, random_state=0))

    def time_fit(self) -> None:
        self.model.fit(self.X, self.y)
