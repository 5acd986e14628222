"""The scikit-learn layer: feature maps with a signature and the models that learn from them."""

from krein.estimators.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.fourier import SignedFourierFeatures
from krein.estimators.nystroem import KreinNystroem
from krein.estimators.pca import KreinPCA
from krein.estimators.persistence import load
from krein.estimators.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.scaled import ScaledFeatures
from krein.estimators.svm import KreinSVC

__all__ = [
    "SignedFourierFeatures",
    "KreinNystroem",
    "ScaledFeatures",
    "KreinRidge",
    "KreinRidgeClassifier",
    "KreinSVC",
    "KreinPCA",
    "ExactKreinRidge",
    "ExactKreinSVC",
    "load",
]
