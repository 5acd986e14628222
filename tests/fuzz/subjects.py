"""What is tried: every public estimator, kernel and function, found by looking. A new one needs no entry here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

import krein
from krein import baselines, datasets, kernels

__all__ = ["estimators", "functions", "kernel_classes"]

# Not functions of data or parameters: they open or download files, which have a campaign of their own, or change the process.
_LEFT_OUT = {"load_model", "thread_limit", "load", "cache_folder", "SimilarityCache"}


def estimators() -> dict[str, type[BaseEstimator]]:
    """Estimator classes by name."""
    found = {name: getattr(home, name) for home in (krein, baselines) for name in home.__all__}
    return {name: one for name, one in sorted(found.items()) if inspect.isclass(one) and issubclass(one, BaseEstimator)}


def kernel_classes() -> dict[str, type[kernels.Kernel]]:
    """Kernel classes by name."""
    found = {name: getattr(kernels, name) for name in kernels.__all__}
    return {
        name: one
        for name, one in sorted(found.items())
        if inspect.isclass(one) and issubclass(one, kernels.Kernel) and not inspect.isabstract(one)
    }


def functions() -> dict[str, Callable[..., Any]]:
    """Functions by name, and the constructors of what is no estimator."""
    found = {
        f"{home.__name__}.{name}": getattr(home, name) for home in (krein, kernels, datasets) for name in home.__all__
    }
    made_apart = {*estimators().values(), *kernel_classes().values(), kernels.Kernel}
    return {
        name: one
        for name, one in sorted(found.items())
        if (inspect.isfunction(one) or (inspect.isclass(one) and one not in made_apart))
        and not (inspect.isclass(one) and issubclass(one, Exception))
        and name.rpartition(".")[2] not in _LEFT_OUT
    }
