"""Every way to make features for a kernel that this library has, under one name each."""

from __future__ import annotations

from typing import Any

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
}

RIVALS: dict[str, tuple[type, dict[str, Any], tuple[str, ...]]] = {
    "RM": (RandomMaclaurin, {}, ("polynomial",)),
    "TS": (TensorSketch, {}, ("polynomial",)),
    "TRP": (TensorizedRandomProjection, {}, ("polynomial",)),
    "SRF": (SphericalRandomFeatures, {}, ("polynomial",)),
    "DIGMM": (DoubleGaussianMixture, {}, ("polynomial", "delta-gaussian")),
    "Nyström": (KreinNystroem, {}, tuple(KERNELS)),
    "Nyström uniform": (KreinNystroem, {"landmarks": "uniform"}, tuple(KERNELS)),
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
