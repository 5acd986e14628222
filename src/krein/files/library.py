"""The classes of the subpackages below this one that may appear in model files, and their tags.

A tag is part of the file format: it never changes, whatever becomes of the class. So are the names of constructor arguments.
"""

from __future__ import annotations

from krein.features import FeatureMap, FittedMap, HeadBasis
from krein.features.columns import SectionColumns
from krein.features.region import Region
from krein.features.width_search import WidthSearch, WidthTrial
from krein.files.registry import register
from krein.kernels import (
    NTK,
    ArcCosine,
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GeodesicGaussian,
    Laplacian,
    Log,
    Matern,
    Multiquadric,
    Product,
    Scaled,
    Sigmoid,
    SphericalPolynomial,
    Sum,
    ThinPlate,
)
from krein.learning.chosen_features import PlacedMap
from krein.learning.embedding import FittedEmbedding
from krein.learning.kernel_model import KernelModel
from krein.learning.leaves.local import LocalPart
from krein.learning.leaves.model import LeafModel
from krein.learning.leaves.splits import SplitTree
from krein.learning.metric import LearnedMetric, MetricTrial
from krein.learning.tuning.choice import Choice
from krein.learning.tuning.placement import NormalScores, Placement
from krein.learning.tuning.trials import Trial, Trials
from krein.matrices.corrections import FittedCorrection
from krein.measures import Atoms, Head, Mixture, SignedMeasure
from krein.measures.build import MeasureRecipe
from krein.nystroem.fitted_nystroem import FittedNystroem
from krein.sampling import (
    Frequencies,
    Hadamard,
    Importance,
    Leverage,
    MonteCarlo,
    Orthogonal,
    QuasiMonteCarlo,
    Rejection,
    Structure,
)
from krein.similarities.called import CallableSimilarity
from krein.similarities.distance_kernel import DistanceKernel
from krein.similarities.object_kernel import FunctionKernel
from krein.similarities.objects import Objects
from krein.similarities.similarity import KernelSimilarity, PrecomputedSimilarity

__all__ = ["TAGS"]

TAGS: dict[str, type] = {
    "kernel.gaussian": Gaussian,
    "kernel.laplacian": Laplacian,
    "kernel.matern": Matern,
    "kernel.cauchy": Cauchy,
    "kernel.delta-gaussian": DeltaGaussian,
    "kernel.spherical-polynomial": SphericalPolynomial,
    "kernel.arc-cosine": ArcCosine,
    "kernel.ntk": NTK,
    "kernel.sigmoid": Sigmoid,
    "kernel.geodesic-gaussian": GeodesicGaussian,
    "kernel.multiquadric": Multiquadric,
    "kernel.log": Log,
    "kernel.thin-plate": ThinPlate,
    "kernel.sum": Sum,
    "kernel.product": Product,
    "kernel.scaled": Scaled,
    "sampler.monte-carlo": MonteCarlo,
    "sampler.rejection": Rejection,
    "sampler.importance": Importance,
    "sampler.orthogonal": Orthogonal,
    "sampler.hadamard": Hadamard,
    "sampler.quasi-monte-carlo": QuasiMonteCarlo,
    "sampler.leverage": Leverage,
    "atoms": Atoms,
    "mixture": Mixture,
    "head": Head,
    "signed-measure": SignedMeasure,
    "frequencies": Frequencies,
    "fast-frequencies": Structure,
    "region": Region,
    "head-basis": HeadBasis,
    "kernel-sections": SectionColumns,
    "feature-map": FeatureMap,
    "width-trial": WidthTrial,
    "width-search": WidthSearch,
    "fitted-map": FittedMap,
    "measure-recipe": MeasureRecipe,
    "similarity.kernel": KernelSimilarity,
    "similarity.precomputed": PrecomputedSimilarity,
    "similarity.callable": CallableSimilarity,
    "similarity.function": FunctionKernel,
    "objects": Objects,
    "fitted-nystroem": FittedNystroem,
    "fitted-correction": FittedCorrection,
    "distance-kernel": DistanceKernel,
    "normal-scores": NormalScores,
    "placement": Placement,
    "placed-map": PlacedMap,
    "kernel-model": KernelModel,
    "trial": Trial,
    "trials": Trials,
    "choice": Choice,
    "fitted-embedding": FittedEmbedding,
    "split-tree": SplitTree,
    "leaf-model": LeafModel,
    "metric-trial": MetricTrial,
    "learned-metric": LearnedMetric,
    "local-part": LocalPart,
}
# a λ that says nothing has an infinite error, and objects may well hold NaN
_UNBOUNDED = {"choice": ("errors",), "objects": ("data",)}

for _tag, _class in TAGS.items():
    register(_tag, unbounded=_UNBOUNDED.get(_tag, ()))(_class)
