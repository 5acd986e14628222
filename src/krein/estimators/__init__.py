"""The scikit-learn layer: feature maps with a signature and the models that learn from them."""

from krein.estimators.learners.exact import ExactKreinRidge, ExactKreinSVC
from krein.estimators.learners.logistic import KreinLogistic
from krein.estimators.learners.mds import KreinMDS
from krein.estimators.learners.pca import KreinPCA
from krein.estimators.learners.ridge import KreinRidge, KreinRidgeClassifier
from krein.estimators.learners.svm import KreinSVC
from krein.estimators.maps.correction import SpectrumCorrection
from krein.estimators.maps.fourier import SignedFourierFeatures
from krein.estimators.maps.nystroem import KreinNystroem
from krein.estimators.maps.tuned import TunedFeatures
from krein.files.models import load_model

__all__ = [
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
    "SpectrumCorrection",
    "load_model",
]
