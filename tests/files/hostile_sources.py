"""A model of every estimator that can be saved, small, for files to be made of and damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import krein
from krein import baselines
from krein.kernels import NTK, DeltaGaussian, Gaussian

RNG = np.random.default_rng(0)
X = RNG.uniform(0.05, 1.0, size=(120, 4))
Y = np.cos(5 * X[:, 0]) + X[:, 1]
LABELS = np.array(["red", "green", "ultramarine"])[np.digitize(Y, [0.3, 0.9])]
SPARSE = sp.csr_array(np.where(X > 0.4, X, 0.0))
DISTANCES = np.abs(X[:30, None] - X[None, :30]).sum(axis=2)  # between the first thirty rows
WORDS = ["".join(RNG.choice(list("acgt"), size=6)) for _ in range(30)]


def fourier(kernel: Any = None, **options: Any) -> Any:
    return krein.SignedFourierFeatures(kernel=kernel, n_components=32, random_state=0, **options)


def nystroem(**options: Any) -> Any:
    return krein.KreinNystroem(n_components=12, random_state=0, **options)


def tuned(kernel: Any, **options: Any) -> Any:
    return krein.TunedFeatures([kernel], 16, random_state=0, **options)


MODELS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: krein.KreinRidge(fourier(DeltaGaussian(0.5, 2.0))).fit(X, Y),
    "ridge on the sphere": lambda: krein.KreinRidge(fourier(NTK()), lam=0.1).fit(X, Y),
    "ridge, projected": lambda: krein.KreinRidge(fourier(weights="projected"), lam=0.1).fit(X, np.c_[Y, -Y]),
    "ridge, local": lambda: krein.KreinRidge(fourier(), solver="local").fit(X, Y),
    "ridge, chosen": lambda: krein.KreinRidge(random_state=0).fit(X, Y),
    "map, kernel sections": lambda: fourier(NTK(), weights="projected", dictionary="landmarks").fit(X),
    "ridge, fast transform": lambda: krein.KreinRidge(fourier(Gaussian(0.7), sampler="hadamard"), lam=0.1).fit(X, Y),
    "classifier, scaled": lambda: krein.KreinRidgeClassifier(
        krein.TunedFeatures(None, features=fourier()), lam=0.1
    ).fit(X, LABELS),
    "classifier, exact": lambda: krein.KreinRidgeClassifier(krein.TunedFeatures(Gaussian()), lam=0.1).fit(X, LABELS),
    "classifier, nystroem": lambda: krein.KreinRidgeClassifier(nystroem(), lam=0.1).fit(X, LABELS),
    "classifier, local": lambda: krein.KreinRidgeClassifier(tuned(NTK()), solver="local").fit(X, LABELS),
    "svc": lambda: krein.KreinSVC(nystroem(kernel=NTK())).fit(X, LABELS),
    "svc, chosen": lambda: krein.KreinSVC(random_state=0).fit(X, LABELS),
    "logistic": lambda: krein.KreinLogistic(nystroem(kernel=NTK()), lam=0.1).fit(X, LABELS),
    "logistic, chosen": lambda: krein.KreinLogistic(random_state=0).fit(X, LABELS),
    "pca": lambda: krein.KreinPCA(n_components=3, features=fourier()).fit(X),
    "exact ridge": lambda: krein.ExactKreinRidge(DeltaGaussian(), lam=0.1).fit(X[:30], Y[:30]),
    "exact ridge of distances": lambda: krein.ExactKreinRidge(krein.DistanceKernel("cityblock"), lam=0.1).fit(
        X[:30], Y[:30]
    ),
    "exact svc": lambda: krein.ExactKreinSVC(DeltaGaussian()).fit(X[:30], LABELS[:30]),
    "random state": lambda: krein.KreinRidge(fourier(), lam=0.1, random_state=np.random.RandomState(3)).fit(X, Y),
    "sparse": lambda: krein.KreinRidge(nystroem(), lam=0.1).fit(SPARSE, Y),
    "nystroem of distances": lambda: nystroem(kernel=krein.DistanceKernel("cityblock", power=1.0)).fit(X),
    "tuned, on the sphere": lambda: tuned(NTK()).fit(X, Y),
    "tuned, learned metric": lambda: tuned(Gaussian(), metric="learned").fit(X, Y),
    "leverage": lambda: baselines.LeverageNystroem(n_components=16, random_state=0).fit(X),
    "tensor sketch": lambda: baselines.TensorSketch(n_components=16, random_state=0).fit(X),
    "arc-cosine features": lambda: baselines.ArcCosineFeatures(n_components=24, random_state=0).fit(X),
    "random Maclaurin": lambda: baselines.RandomMaclaurin(n_components=24, random_state=0).fit(X),
    "products": lambda: baselines.TensorizedRandomProjection(n_components=16, random_state=0).fit(X),
    "two mixtures": lambda: baselines.DoubleGaussianMixture(n_components=16, random_state=0).fit(X),
    "spherical features": lambda: baselines.SphericalRandomFeatures(n_components=16, random_state=0).fit(X),
}
# Those of matrices of distances or similarities, which predict from rows of such a matrix
OF_MATRICES: dict[str, Callable[[], Any]] = {
    "scaling": lambda: krein.KreinMDS(2).fit(DISTANCES),
    "scaling, landmarks": lambda: krein.KreinMDS(2, n_landmarks=12, random_state=0).fit(DISTANCES),
    "correction, clip": lambda: krein.SpectrumCorrection("clip").fit(-DISTANCES),
    "correction, nearest": lambda: krein.SpectrumCorrection("nearest").fit(1.0 - DISTANCES),
    "nystroem, precomputed": lambda: nystroem(kernel="precomputed").fit(-DISTANCES),
    "exact svc, precomputed": lambda: krein.ExactKreinSVC("precomputed").fit(-DISTANCES, LABELS[:30]),
}


def rows_for(name: str) -> np.ndarray:
    """Rows that the model of a name predicts for."""
    return DISTANCES[:20] if name in OF_MATRICES else X[:20]
