"""Time of each baseline beside the fastest public implementation that installs from PyPI.

Run it as ``python benchmarks/baselines.py [--rows 20000] [--width 512] [--repeats 7]``. Repeats are interleaved, so that a busy
machine slows all methods alike; the table gives medians, and the ratio of the transforms. scikit-learn is the package on PyPI
with these methods: `PolynomialCountSketch` is a tensor sketch, `RBFSampler` stands for everything trigonometric (one matrix
product and as many cosines), `Nystroem` for itself. For random Maclaurin features, products of sign projections and hidden
units the peer is the least work there is: the matrix products and the output pass in numpy.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

from krein.baselines import (
    ArcCosineFeatures,
    DoubleGaussianMixture,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from krein.estimators.maps.nystroem import KreinNystroem
from krein.kernels import ArcCosine, DeltaGaussian, Gaussian, SphericalPolynomial

Run = Callable[[np.ndarray], object]


class NumpyProducts:
    """Products of p sign projections with nothing around them: the bound for Maclaurin features and product sketches."""

    def __init__(self, degree: int, n_components: int) -> None:
        self.degree, self.n_components = degree, n_components

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(0)
        out = np.ones((X.shape[0], self.n_components), dtype=X.dtype)
        for _ in range(self.degree):
            out *= X @ rng.choice([-1.0, 1.0], size=(X.shape[1], self.n_components)).astype(X.dtype)
        return out


class NumpyComplexProducts:
    """Complex products as numpy has them, then real and imaginary parts side by side."""

    def __init__(self, degree: int, n_components: int) -> None:
        self.degree, self.n_components = degree, n_components

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        rng = np.random.default_rng(0)
        pairs = self.n_components // 2
        dtype = np.complex64 if X.dtype == np.float32 else np.complex128
        products = np.ones((X.shape[0], pairs), dtype=dtype)
        for _ in range(self.degree):
            products *= X @ rng.choice([1.0, -1.0, 1j, -1j], size=(X.shape[1], pairs)).astype(dtype)
        return np.hstack([products.real, products.imag])


class NumpyRamps:
    """ReLU units with nothing around them."""

    def __init__(self, n_components: int) -> None:
        self.n_components = n_components

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        weights = np.random.default_rng(0).standard_normal((X.shape[1], self.n_components)).astype(X.dtype)
        return np.maximum(X @ weights, 0)


def contests(width: int, p: int) -> dict[str, tuple[object, str, object]]:
    """Name: our map, the name of the peer, and the peer."""
    polynomial = SphericalPolynomial(2, p)
    sampler = RBFSampler(gamma=0.5, n_components=width, random_state=0)
    products = NumpyProducts(p, width)
    ours = {"n_components": width, "random_state": 0}
    return {
        "TensorSketch": (
            TensorSketch(polynomial, **ours),
            "sklearn PolynomialCountSketch",
            PolynomialCountSketch(degree=p, coef0=1.0, n_components=width, random_state=0),
        ),
        "SphericalRandomFeatures": (SphericalRandomFeatures(polynomial, **ours), "sklearn RBFSampler", sampler),
        "DoubleGaussianMixture": (DoubleGaussianMixture(DeltaGaussian(), **ours), "sklearn RBFSampler", sampler),
        "TensorizedRandomProjection": (
            TensorizedRandomProjection(polynomial, **ours),
            "numpy products",
            products,
        ),
        "  complex to real": (
            TensorizedRandomProjection(polynomial, complex_to_real=True, **ours),
            "numpy complex products",
            NumpyComplexProducts(p, width),
        ),
        "RandomMaclaurin": (RandomMaclaurin(polynomial, **ours), "numpy products", products),
        "ArcCosineFeatures": (ArcCosineFeatures(ArcCosine(1), **ours), "numpy ReLU", NumpyRamps(width)),
        "KreinNystroem": (
            KreinNystroem(kernel=Gaussian(1.0), landmarks="uniform", **ours),
            "sklearn Nystroem",
            Nystroem(kernel="rbf", gamma=0.5, n_components=width, random_state=0),
        ),
    }


def timed(run: Run, rows: np.ndarray) -> float:
    start = time.perf_counter()
    run(rows)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=22)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(options.rows, options.dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    print(f"{options.rows} rows, {options.dim} columns, {options.width} features, degree {options.degree}")
    print(f"{'':28s}{'type':9s}{'fit':>8s}{'transform':>11s}  {'peer':30s}{'fit':>8s}{'transform':>11s}{'ratio':>7s}")
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        pairs = contests(options.width, options.degree)
        times: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in pairs}
        for repeat in range(options.repeats + 1):
            for name, (ours, _, peer) in pairs.items():
                taken = []
                for method in (ours, peer):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        if hasattr(method, "transform"):
                            taken += [timed(method.fit, rows), timed(method.transform, rows)]
                        else:
                            taken += [0.0, timed(method.fit_transform, rows)]
                if repeat:  # the first one warms caches up and compiles
                    times[name].append(tuple(taken))
        for name, (_, label, _) in pairs.items():
            fit, transform, peer_fit, peer_transform = np.median(np.array(times[name]), axis=0)
            ratio = transform / peer_transform
            print(
                f"{name:28s}{np.dtype(dtype).name:9s}{fit:8.3f}{transform:11.3f}  {label:30s}{peer_fit:8.3f}"
                f"{peer_transform:11.3f}{ratio:7.2f}"
            )


if __name__ == "__main__":
    main()
