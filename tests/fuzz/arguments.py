"""Parameters, legal and illegal, for whatever a signature asks for."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import krein
from fuzz.tables import draw_table
from krein import kernels

__all__ = ["ILLEGAL", "draw_arguments", "draw_kernel"]

_CHANGED = 0.2  # of parameters that are not left at their default
_ILLEGAL = 0.3  # of those, that no rule allows

ILLEGAL: tuple[Any, ...] = (
    *(None, -1, 0, 0.0, 2.5, 1e308, -1e308, math.nan, math.inf, 10**400, "", "x", "²", b"auto"),
    *(
        [],
        (),
        {},
        [1],
        [math.nan],
        object,
        object(),
        True,
        1j,
        np.float32(2),
        np.array([1.0, 2.0]),
        np.datetime64("2020-01-01"),
    ),
)


def _linear(X: Any, Y: Any) -> Any:
    return np.asarray(X, dtype=float) @ np.asarray(Y, dtype=float).T


def draw_kernel(rng: np.random.Generator) -> Any:
    """A kernel of the library with parameters of any size, or a sum, product or multiple of two."""
    names = (
        "Gaussian",
        "Laplacian",
        "Matern",
        "Cauchy",
        "DeltaGaussian",
        "SphericalPolynomial",
        "ArcCosine",
        "NTK",
        "Sigmoid",
    )
    more = ("GeodesicGaussian", "Multiquadric", "Log", "ThinPlate")
    kernel = getattr(kernels, str(rng.choice([*names, *more])))()
    kind = rng.random()
    if kind < 0.1 and kernel.domain != "sphere":
        return kernel.scaled(float(10.0 ** rng.integers(-3, 4)))
    if kind < 0.2:
        return kernel - 0.5 * kernel
    return -1.5 * kernel if kind < 0.25 else kernel


def _distance(rng: np.random.Generator) -> Any:
    metric = str(rng.choice(["euclidean", "cityblock", "precomputed", "cosine"]))
    return krein.DistanceKernel(metric, power=float(rng.choice([0.5, 1.0, 2.0])))


def _matrix(rng: np.random.Generator) -> Any:
    """Similarities of twelve objects, as they should be or not."""
    rows = rng.normal(size=(12, 3))
    K = rows @ rows.T * 10.0 ** rng.choice([-300, -3, 0, 0, 3, 150]) - rng.choice([0.0, 1.0])
    if rng.random() < 0.3:
        K[0, 1] = rng.choice([np.nan, np.inf, 7.0])
    return K if rng.random() < 0.7 else draw_table(rng).X


def _map(rng: np.random.Generator) -> Any:
    size = int(rng.choice([4, 16, 64]))
    pool: list[Callable[[], Any]] = [
        lambda: krein.SignedFourierFeatures(draw_kernel(rng), size, random_state=0),
        lambda: krein.SignedFourierFeatures(draw_kernel(rng), size, weights="projected", random_state=0),
        lambda: krein.KreinNystroem(draw_kernel(rng), size, random_state=0),
        lambda: krein.KreinNystroem("precomputed", size, random_state=0),
        lambda: krein.KreinNystroem(_linear, size, random_state=0),
        lambda: krein.baselines.TensorSketch(n_components=size, random_state=0),
    ]
    return pool[int(rng.integers(len(pool)))]()


# By the name of the parameter: what it may well be. Names that are not here are only ever given something illegal.
LEGAL: dict[str, Callable[[np.random.Generator], Any]] = {
    "kernel": lambda rng: [draw_kernel(rng), "precomputed", _linear, _distance(rng), _matrix(rng)][
        int(rng.choice(5, p=[0.6, 0.15, 0.1, 0.1, 0.05]))
    ],
    "kernels": lambda rng: [draw_kernel(rng)],
    "k": draw_kernel,
    "K": lambda rng: _matrix(rng),
    "X": lambda rng: draw_table(rng).X,
    "X_train": lambda rng: draw_table(rng).X,
    "y": lambda rng: rng.integers(0, 3, size=int(rng.choice([12, 12, 12, 0, 5]))),
    "text": lambda rng: str(rng.choice(["gaussian", "ntk:2", "gaussian(0.5) - laplacian", "-matern", "2*ntk + ", "("])),
    "metric": lambda rng: str(rng.choice(["euclidean", "cityblock", "precomputed"])),
    "power": lambda rng: float(rng.choice([0.5, 1.0, 2.0])),
    "distances": lambda rng: rng.uniform(0.0, 3.0, size=20),
    "distance": lambda rng: bool(rng.integers(2)),
    "measure": lambda rng: krein.signed_measure(kernels.DeltaGaussian(1.0, 3.0), 3, radius=10.0),
    "z": lambda rng: rng.uniform(0.0, 2.0, size=3),
    "epsilon": lambda rng: float(10.0 ** rng.integers(-3, 1)),
    "features": _map,
    "n_components": lambda rng: int(rng.choice([1, 2, 3, 8, 33, 64])),
    "dim": lambda rng: int(rng.choice([1, 2, 3, 16, 100])),
    "random_state": lambda rng: 0,
    "lam": lambda rng: float(10.0 ** rng.integers(-12, 3)),
    "C": lambda rng: float(10.0 ** rng.integers(-3, 4)),
    "radius": lambda rng: float(10.0 ** rng.integers(-1, 2)),
    "tol": lambda rng: float(10.0 ** rng.integers(-6, 0)),
    "error": lambda rng: float(10.0 ** rng.integers(-4, 0)),
    "weights": lambda rng: str(rng.choice(["calibrated", "unbiased", "projected"])),
    "regularizer": lambda rng: str(rng.choice(["hilbert", "two", "krein"])),
    "selection": lambda rng: str(rng.choice(["loo", "validation", "gcv"])),
    "solver": lambda rng: str(rng.choice(["auto", "exact", "features", "local"])),
    "sampler": lambda rng: str(
        rng.choice(
            ["monte_carlo", "rejection", "importance", "orthogonal", "hadamard", "quasi_monte_carlo", "leverage"]
        )
    ),
    "landmarks": lambda rng: str(rng.choice(["auto", "uniform", "kmeans"])),
    "normalize": lambda rng: bool(rng.integers(2)),
    "fit_intercept": lambda rng: bool(rng.integers(2)),
    "scaling": lambda rng: str(rng.choice(["standard", "minmax"])),
    "method": lambda rng: str(
        rng.choice(["auto", "clip", "flip", "shift", "square", "nearest", "closed_form", "fourier"])
    ),
    "class_weight": lambda rng: "balanced",
    "max_iter": lambda rng: int(rng.choice([1, 10, 1000])),
}


def draw_arguments(target: Callable[..., Any], rng: np.random.Generator, *, lawful: bool = False) -> dict[str, Any]:
    """Arguments of a constructor or function: required ones always, others now and then.

    A random state is always given, so that a case is the same whenever it is run. Every other draw is lawful throughout: otherwise
    few cases would get beyond the checks of parameters.
    """
    found: dict[str, Any] = {}
    illegal = 0.0 if lawful or rng.random() >= 0.5 else _ILLEGAL
    for name, parameter in inspect.signature(target).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name == "self":
            continue
        if name == "random_state":
            found[name] = 0
            continue
        required = parameter.default is inspect.Parameter.empty
        if not required and rng.random() > _CHANGED:
            continue
        legal = LEGAL.get(name)
        if legal is not None and rng.random() >= illegal:
            found[name] = legal(rng)
        elif illegal or required:
            found[name] = ILLEGAL[int(rng.integers(len(ILLEGAL)))]
    return found
