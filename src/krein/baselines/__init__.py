"""The methods that the paper compares with, each as good as published, under the contract of this library.

Every class is a :class:`krein.estimators.maps.base.SignedTransformer`: ``fit``, ``transform``, ``signature_``, ``approximate``, and
``n_components`` output columns. Nyström with better landmarks than by leverage
scores is :class:`krein.KreinNystroem`.
"""

from krein.baselines.arc_cosine import ArcCosineFeatures
from krein.baselines.double_mixture import DoubleGaussianMixture
from krein.baselines.inner_product import InnerPolynomial, Ramp
from krein.baselines.leverage import LeverageNystroem
from krein.baselines.random_maclaurin import RandomMaclaurin
from krein.baselines.spherical import SphericalRandomFeatures
from krein.baselines.tensor_sketch import TensorSketch
from krein.baselines.tensorized import TensorizedRandomProjection

__all__ = [
    "SphericalRandomFeatures",
    "DoubleGaussianMixture",
    "RandomMaclaurin",
    "TensorSketch",
    "TensorizedRandomProjection",
    "ArcCosineFeatures",
    "LeverageNystroem",
    "InnerPolynomial",
    "Ramp",
]
