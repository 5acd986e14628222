"""Feature maps of other packages, as functions of the rows that do no more than they must."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

__all__ = ["Peer", "optional_maps", "gpytorch_features", "rfflearn_features", "sklearn_maps"]

Peer = Callable[[], Any]


def sklearn_maps(X: np.ndarray, width: int, *, slow: bool, fit_rows: int = 5000) -> dict[str, Peer]:
    """scikit-learn's maps, fitted; with ``slow`` also the two that take seconds."""
    maps = {"RBFSampler": RBFSampler(gamma=0.5, n_components=width, random_state=0)}
    if slow:
        maps["PolynomialCountSketch"] = PolynomialCountSketch(degree=2, coef0=1.0, n_components=width, random_state=0)
        maps["Nystroem"] = Nystroem(kernel="rbf", gamma=0.5 / X.shape[1], n_components=width, random_state=0)
    return {name: partial(one.fit(X[:fit_rows]).transform, X) for name, one in maps.items()}


def rfflearn_features(X: np.ndarray, width: int) -> Peer:
    """The map inside rfflearn's models."""
    import rfflearn.cpu as rfflearn

    rfflearn.seed(0)
    model = rfflearn.RFFRegressor(dim_kernel=width)
    model.set_weight(X.shape[1])
    return lambda: model.conv(X)


def gpytorch_features(X: np.ndarray, width: int) -> Peer:
    """The map inside gpytorch's RFFKernel, without gradients."""
    import torch
    from gpytorch.kernels import RFFKernel

    rows = torch.from_numpy(X)
    kernel = RFFKernel(num_samples=width // 2, num_dims=X.shape[1]).to(rows.dtype)
    kernel._init_weights(X.shape[1], width // 2)

    def features() -> Any:
        with torch.no_grad():
            return kernel._featurize(rows, normalize=True)

    return features


def optional_maps(X: np.ndarray, width: int) -> tuple[dict[str, Peer], dict[str, str]]:
    """The optional peers that can be used here, and why the others cannot."""
    found: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    makers = {"rfflearn": rfflearn_features, "gpytorch RFF": gpytorch_features}
    if X.dtype == np.float32:
        del makers["rfflearn"]  # works in float64 whatever the rows are
    for name, make in makers.items():
        try:
            peer = make(X, width)
            make(X[:10], width)()
        except Exception as error:  # a peer that does not run here must not end the run
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
        else:
            found[name] = peer
    return found, missing
