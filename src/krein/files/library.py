"""The classes of the subpackages below this one that may appear in model files, and their tags.

A tag is part of the file format: it never changes, whatever becomes of the class. So are the names of constructor arguments.
"""

from __future__ import annotations

from typing import Any

from krein.features import FeatureMap, FittedMap, HeadBasis
from krein.features.feature_map import SectionColumns
from krein.features.region import Region
from krein.features.width_search import WidthSearch, WidthTrial
from krein.files.registry import register
from krein.kernels import NAMED_KERNELS, Product, Scaled, Sum
from krein.learning.chosen_features import PlacedMap
from krein.learning.embedding import FittedEmbedding
from krein.learning.kernel_model import KernelModel
from krein.learning.leaves.local import LocalModel, LocalPart
from krein.learning.leaves.model import LeafModel
from krein.learning.leaves.splits import SplitTree
from krein.learning.link import Link
from krein.learning.metric import LearnedMetric, MetricTrial
from krein.learning.model import LinearModel
from krein.learning.tuning.choice import Choice
from krein.learning.tuning.placement import NormalScores, Placement
from krein.learning.tuning.trials import Trial, Trials
from krein.matrices.corrections import FittedCorrection
from krein.measures import Atoms, Head, SignedMeasure
from krein.measures.build import MeasureRecipe
from krein.nystroem.fitted_nystroem import FittedNystroem
from krein.sampling import SAMPLERS, Frequencies, Structure
from krein.similarities import DistanceKernel, KernelSimilarity, Objects, PrecomputedSimilarity, Similarity

__all__ = ["TAGS"]

TAGS: dict[str, type] = {
    **{f"kernel.{name}": cls for name, cls in NAMED_KERNELS.items()},
    "kernel.sum": Sum,
    "kernel.product": Product,
    "kernel.scaled": Scaled,
    **{f"sampler.{name.replace('_', '-')}": cls for name, cls in SAMPLERS.items()},
    "atoms": Atoms,
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
    "similarity.callable": Similarity,
    "objects": Objects,
    "fitted-nystroem": FittedNystroem,
    "fitted-correction": FittedCorrection,
    "distance-kernel": DistanceKernel,
    "normal-scores": NormalScores,
    "placement": Placement,
    "placed-map": PlacedMap,
    "kernel-model": KernelModel,
    "linear-model": LinearModel,
    "link": Link,
    "local-model": LocalModel,
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

# How values are found, which is the affair of whoever finds them; and no file says where to keep them
_UNSTORED = {"similarity.callable": ("n_jobs", "cache", "verbose")}
_CALLS = {True: "blocks", False: "pairs", None: "auto"}


def _upgrade_callable(given: dict[str, Any]) -> dict[str, Any]:
    """Before 0.2 was released a function was wrapped in an object of its own, and how it is called was a truth value."""
    if "kernel" not in given or not isinstance(given.get("takes_blocks"), bool | None):
        return given
    function = given["kernel"]
    if isinstance(function, dict) and function.get("tag") == "similarity.function":
        arguments = function.get("arguments")
        function = arguments.get("function") if isinstance(arguments, dict) else None
    others = {name: value for name, value in given.items() if name not in ("kernel", "takes_blocks")}
    return {"function": function, "call": _CALLS[given.get("takes_blocks")], **others}


def _upgrade_precomputed(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "symmetrize"}


_UPGRADES = {"similarity.callable": _upgrade_callable, "similarity.precomputed": _upgrade_precomputed}

for _tag, _class in TAGS.items():
    register(_tag, unbounded=_UNBOUNDED.get(_tag, ()), unstored=_UNSTORED.get(_tag, ()), upgrade=_UPGRADES.get(_tag))(
        _class
    )
