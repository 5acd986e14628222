"""Learning with similarities that need not be positive definite.

From a kernel the library computes a signed measure, from the measure random features with a signature, and on the features
it trains models on millions of rows. Start with :func:`diagnose` and :class:`SignedFourierFeatures`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krein import baselines, datasets, kernels, plotting
    from krein._core.threads import thread_limit
    from krein.comparison import compare
    from krein.diagnosis import diagnose
    from krein.estimators import (
        ExactKreinRidge,
        ExactKreinSVC,
        KreinLogistic,
        KreinMDS,
        KreinNystroem,
        KreinPCA,
        KreinRidge,
        KreinRidgeClassifier,
        KreinSVC,
        SignedFourierFeatures,
        SpectrumCorrection,
        TunedFeatures,
        load_model,
    )
    from krein.measures import (
        MeasureRecipe,
        SignedMeasure,
        components_for_error,
        predicted_error,
        signed_measure,
        uniform_error_bound,
    )
    from krein.similarities import DistanceKernel, Similarity, SimilarityCache

__version__ = "0.2.0"

__all__ = [
    "kernels",
    "diagnose",
    "compare",
    "signed_measure",
    "SignedMeasure",
    "MeasureRecipe",
    "predicted_error",
    "uniform_error_bound",
    "components_for_error",
    "SignedFourierFeatures",
    "KreinNystroem",
    "TunedFeatures",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "KreinLogistic",
    "KreinPCA",
    "KreinMDS",
    "ExactKreinRidge",
    "ExactKreinSVC",
    "Similarity",
    "DistanceKernel",
    "SpectrumCorrection",
    "SimilarityCache",
    "load_model",
    "thread_limit",
    "baselines",
    "datasets",
    "plotting",
]

# A name is imported when it is first used: scikit-learn alone takes half a second, and `krein --help` does not need it. The
# lightest subpackage first.
_SUBPACKAGES = ("_core.threads", "measures", "similarities", "estimators")
_BESIDE = {"diagnose": "diagnosis", "compare": "comparison"}  # functions that use several subpackages


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'krein' has no attribute {name!r}")
    value = _public(name)
    globals()[name] = value
    return value


def _public(name: str) -> Any:
    for subpackage in (_BESIDE[name],) if name in _BESIDE else _SUBPACKAGES:
        module = import_module(f"krein.{subpackage}")
        if name in module.__all__:
            return getattr(module, name)
    return import_module(f"krein.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
