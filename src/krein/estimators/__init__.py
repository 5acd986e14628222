"""The scikit-learn layer: feature maps with a signature and the models that learn from them."""

from krein.estimators.fourier import SignedFourierFeatures
from krein.estimators.nystroem import KreinNystroem

__all__ = ["SignedFourierFeatures", "KreinNystroem"]
