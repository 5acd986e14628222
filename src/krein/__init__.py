"""Learning with similarities that need not be positive definite.

A kernel becomes a signed measure, the measure random features with a signature, and the features models that train on
millions of rows. Start with :func:`diagnose` and :class:`SignedFourierFeatures`.
"""

from krein import baselines, datasets, kernels
from krein._core.threads import thread_limit
from krein.estimators import (
    ExactKreinRidge,
    ExactKreinSVC,
    KreinNystroem,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    ScaledFeatures,
    SignedFourierFeatures,
    load_model,
)
from krein.measures import (
    MeasureRecipe,
    SignedMeasure,
    components_for_error,
    diagnose,
    predicted_error,
    signed_measure,
    uniform_error_bound,
)

__version__ = "0.2.0"

__all__ = [
    "kernels",
    "diagnose",
    "signed_measure",
    "SignedMeasure",
    "MeasureRecipe",
    "predicted_error",
    "uniform_error_bound",
    "components_for_error",
    "SignedFourierFeatures",
    "KreinNystroem",
    "ScaledFeatures",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "KreinPCA",
    "ExactKreinRidge",
    "ExactKreinSVC",
    "load_model",
    "thread_limit",
    "baselines",
    "datasets",
]
