"""Writes the model files that every later version must read: ``python tests/files/make_reference_models.py [FOLDER]``.

Run once for each released format, from the version that is released; the files are kept in ``tests/files/data`` and never written
again. Beside ``NAME.krein`` stands ``NAME.npz`` with rows and what the model gave for them (predictions of a regression, decision
values and labels of a classifier, columns of a transformer). `test_reference_models` compares to 1e-10, on any processor, so each
model is checked here to be ten times less sensitive than that to rounding of its rows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import krein
from krein.files.models import FORMAT, save_model
from krein.kernels import NTK, DeltaGaussian, Gaussian, Laplacian, SphericalPolynomial

DATA = Path(__file__).parent / "data"
TOLERANCE = 1e-10  # of what a later version gives, relative to the largest value

_rng = np.random.default_rng(20)
X = _rng.uniform(0.05, 1.0, size=(120, 4))
Y = np.cos(5 * X[:, 0]) + X[:, 1]
LABELS = np.array(["red", "green", "ultramarine"])[np.digitize(Y, [0.3, 0.9])]
NEW = _rng.uniform(0.05, 1.0, size=(12, 4))


def fourier(kernel: Any, **options: Any) -> Any:
    return krein.SignedFourierFeatures(kernel=kernel, n_components=24, random_state=0, **options)


def nystroem(kernel: Any) -> Any:
    return krein.KreinNystroem(kernel=kernel, n_components=10, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "ridge-sum-of-kernels": lambda: krein.KreinRidge(fourier(2 * Gaussian(1.0) - 0.5 * Laplacian(0.7)), lam=0.01).fit(
        X, Y
    ),
    "ridge-two-targets": lambda: krein.KreinRidge(fourier(NTK()), regularizer="two", lam=(0.01, 0.1)).fit(
        X, np.c_[Y, -Y]
    ),
    "ridge-projected": lambda: krein.KreinRidge(fourier(DeltaGaussian(0.5, 2.0), weights="projected"), lam=0.01).fit(
        X, Y
    ),
    "ridge-fast-transform": lambda: krein.KreinRidge(fourier(Gaussian(0.7), sampler="hadamard"), lam=0.01).fit(X, Y),
    "classifier-scaled": lambda: krein.KreinRidgeClassifier(
        krein.TunedFeatures(None, scaling="minmax", features=fourier(Gaussian(0.7))), lam=0.01
    ).fit(X, LABELS),
    "classifier-chosen": lambda: krein.KreinRidgeClassifier(krein.TunedFeatures([Laplacian(), NTK()]), lam=0.01).fit(
        X, LABELS
    ),
    "svc-nystroem": lambda: krein.KreinSVC(nystroem(DeltaGaussian(0.5, 2.0)), C=1.0).fit(X, LABELS),
    "pca": lambda: krein.KreinPCA(n_components=3, features=fourier(DeltaGaussian(0.5, 2.0))).fit(X),
    "exact-ridge": lambda: krein.ExactKreinRidge(DeltaGaussian(), lam=0.1).fit(X[:30], Y[:30]),
    "exact-svc": lambda: krein.ExactKreinSVC(DeltaGaussian(0.5, 2.0)).fit(X[:40], LABELS[:40]),
    "baseline-tensor-sketch": lambda: krein.baselines.TensorSketch(n_components=16, random_state=0).fit(X),
    "map-unbiased": lambda: fourier(SphericalPolynomial(2.0, 3), weights="unbiased").fit(X),
}


def outputs(model: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
    """What a model gives for rows, as named arrays."""
    found = {}
    for name in ("transform", "decision_function", "predict"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(rows))
    return found


def check_sensitivity(name: str, model: Any) -> None:
    """An error if rounding of the rows changes a value by more than a tenth of the tolerance."""
    before, after = outputs(model, NEW), outputs(model, np.nextafter(NEW, 2.0))
    for what, values in before.items():
        if values.dtype.kind == "f":
            change = np.abs(values - after[what]).max() / np.abs(values).max()
            if change > TOLERANCE / 10:
                raise ValueError(f"{name}: rounding changes {what} by {change:.1e}; use a model that is less sensitive")


def main(folder: Path) -> None:
    """Write all files, in a folder named after the format."""
    target = folder / f"format-{FORMAT}"
    target.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make()
        check_sensitivity(name, model)
        save_model(model, target / f"{name}.krein", notes={"made_by": "tests/files/make_reference_models.py"})
        np.savez(target / f"{name}.npz", rows=NEW, **outputs(model, NEW))
        sys.stdout.write(f"{name}: {(target / f'{name}.krein').stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
