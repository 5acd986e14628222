"""The one list of methods that the experiments compare: how each is made, and which data it uses.

Every map, measure and learner of the experiments is made here, so that a change of their parameters meets one file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import krein
from krein.baselines.kernel_forms import methods_for
from krein.kernels import Kernel
from krein.measures import SignedMeasure
from krein.nystroem import LANDMARK_RULES
from krein.sampling import Importance, MonteCarlo, Orthogonal, Rejection, Sampler
from krein.show.style import COLORS

__all__ = [
    "METHODS",
    "Method",
    "method_of",
    "MOST_ACCURATE",
    "NYSTROEM_RULES",
    "PAPER_COSTS",
    "RIVALS",
    "MAPPING_RIVALS",
    "INDEPENDENT_RIVALS",
    "LOOKS",
    "library_measure",
    "printed_measure",
    "positive_mixture",
    "support_vector_machine",
    "ridge_classifier",
]

# The data that a method may use, from nothing to most.
LOOKS = {
    "nothing": "no data",
    "distances": "distances of 2,000 pairs of training rows, to choose the measure; draws and weights do not depend on them",
    "subset": "the kernel matrix of 300 training rows",
    "pairs": "the kernel on pairs of 2,000 training rows, to fit the weights",
    "dictionary": "the kernel matrix of up to 8,192 training rows in fitting; in mapping waves or, if it is more accurate, the "
    "kernel between every row and landmarks",
    "landmarks": "the kernel between every row and the landmarks, in fitting and in mapping",
}

Maker = Callable[[Kernel, int, int], Any]

PRINTED_CUT = 10.0  # radius at which the paper cuts its measure, Section 5
PAPER_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)  # values of C that the paper chooses from


@dataclass(frozen=True)
class Method:
    """A feature map with its settings.

    Parameters
    ----------
    name, label : str
        In records, and for people.
    make : callable
        (kernel, columns, seed) to an estimator.
    looks : str
        A key of `LOOKS`.
    ours : bool, default=False
        Whether it is this library's, or the paper's.
    per_pair : int, default=1
        Output columns for one of the paper's pairs: a frequency of each sign with cosine and sine makes 4.
    needs : str, default=""
        Name of the class in ``krein.baselines`` that must be able to do the kernel; empty for any kernel.
    color, marker, dash : str
        Style of its line in figures.
    search_seconds : callable or None, default=None
        From a fitted map to the seconds it took to find its measure, if the map records them.
    """

    name: str
    label: str
    make: Maker
    looks: str
    ours: bool = False
    per_pair: int = 1
    needs: str = ""
    color: str = "#767676"
    marker: str = "o"
    dash: str = "--"
    search_seconds: Callable[[Any], float] | None = None

    @property
    def independent(self) -> bool:
        """Whether frequencies and weights are drawn without fitting the kernel on data."""
        return self.looks in ("nothing", "distances")

    @property
    def feature_map(self) -> bool:
        """Whether a new row is mapped without evaluating the kernel."""
        return self.looks != "landmarks"

    def suits(self, kernel: Kernel) -> bool:
        """Whether the method can do a kernel."""
        return not self.needs or self.needs in methods_for(kernel)


def _printed(kernel: Kernel, columns: int, seed: int, sampler: Sampler | None = None) -> Any:
    """Algorithm 1 as printed: the difference of Gaussians itself, or the Fourier transform cut at r = 10."""
    closed = all(part.radius_law(2) is not None for _, part in kernel.terms())
    return krein.SignedFourierFeatures(
        kernel=kernel,
        n_components=columns,
        weights="unbiased",
        sampler=(sampler or (MonteCarlo() if closed else Rejection())).with_params(allocation="equal"),
        measure=krein.MeasureRecipe(
            method="closed_form" if closed else "fourier",
            head_degree=-1,
            truncate=None if closed else (sampler.interval if isinstance(sampler, Rejection) else PRINTED_CUT),
        ),
        random_state=seed,
    )


def _scheme(sampler: Sampler) -> Maker:
    return lambda kernel, columns, seed: _printed(kernel, columns, seed, sampler)


def _ours(weights: str) -> Maker:
    return lambda kernel, columns, seed: krein.SignedFourierFeatures(
        kernel=kernel, n_components=columns, weights=weights, random_state=seed
    )


def _rival(cls: Callable[..., Any], **options: Any) -> Maker:
    return lambda kernel, columns, seed: cls(kernel=kernel, n_components=columns, random_state=seed, **options)


_BLUE, _ORANGE, _GREEN, _PINK = (COLORS[name] for name in ("positive", "negative", "measure", "other"))
_GOLD, _SKY = "#C98A00", "#3E9BD6"  # the palette's, darkened: thin lines must be seen on a white page
_base = krein.baselines

METHODS: tuple[Method, ...] = (
    Method("printed", "ours, as printed", _printed, "nothing", True, 4, color=_ORANGE, marker="v", dash="-"),
    Method("unbiased", "ours, unbiased", _ours("unbiased"), "distances", True, 4, color=_SKY, marker="s", dash="-"),
    Method("default", "ours, default", _ours("calibrated"), "pairs", True, 4, color=_BLUE, marker="o", dash="-"),
    Method(
        *("projected", "ours, most accurate (projected)", _ours("projected"), "dictionary", True, 4),
        color=_GREEN,
        marker="D",
        dash="-",
    ),
    Method(
        *("srf", "SRF", _rival(_base.SphericalRandomFeatures), "nothing"),
        per_pair=2,
        color=_PINK,
        marker="^",
        search_seconds=lambda fitted: float(fitted.fit_time_),
    ),
    Method("digmm", "DIGMM", _rival(_base.DoubleGaussianMixture), "subset", per_pair=4, color=_GOLD, marker="P"),
    Method(
        *("nystroem", "Nyström, k-means", _rival(krein.KreinNystroem, landmarks="kmeans"), "landmarks"),
        marker="X",
        color="#8C6BB1",
    ),
    *(
        Method(
            *(f"nystroem_{rule}", f"Nyström, {rule}", _rival(krein.KreinNystroem, landmarks=rule), "landmarks"),
            marker="x",
            color="#8C6BB1",
            dash=":",
        )
        for rule in LANDMARK_RULES
        if rule not in ("auto", "kmeans")
    ),
    Method("rm", "RM", _rival(_base.RandomMaclaurin), "nothing", needs="RandomMaclaurin", marker="<", color="#A6761D"),
    Method("ts", "TS", _rival(_base.TensorSketch), "nothing", needs="TensorSketch", marker=">", color="#7A9A01"),
    Method(
        *("trp", "TRP", _rival(_base.TensorizedRandomProjection), "nothing"),
        needs="TensorizedRandomProjection",
        marker="*",
        color="#C0504D",
    ),
    Method(
        *("arccos", "arc-cosine features", _rival(_base.ArcCosineFeatures), "nothing"),
        needs="ArcCosineFeatures",
        marker="h",
        color="#2A9D8F",
    ),
    Method("r10000", "10,000 points in [−10, 10]", _scheme(Rejection()), "nothing", True, 4, color=_ORANGE, marker="v"),
    Method("r1000", "1,000 points", _scheme(Rejection(1000)), "nothing", True, 4, color=_GOLD, marker="s"),
    Method(
        "r5", "10,000 points in [−5, 5]", _scheme(Rejection(10_000, 5.0)), "nothing", True, 4, color=_PINK, marker="P"
    ),
    Method("importance", "importance", _scheme(Importance()), "nothing", True, 4, color=_GREEN, marker="D"),
    Method("orthogonal", "orthogonal", _scheme(Orthogonal()), "nothing", True, 4, color=_SKY, marker="^"),
)

_BY_NAME = {method.name: method for method in METHODS}
# The one of this library's maps that verdicts on accuracy are about; its default is told beside it
MOST_ACCURATE = "projected"
NYSTROEM_RULES = tuple(name for name in _BY_NAME if name.startswith("nystroem_"))  # landmarks by any rule
RIVALS = tuple(method.name for method in METHODS if not method.ours)  # published methods that are not the paper's
MAPPING_RIVALS = tuple(name for name in RIVALS if _BY_NAME[name].feature_map)  # those without landmarks
INDEPENDENT_RIVALS = tuple(name for name in RIVALS if _BY_NAME[name].independent)  # those that fit nothing on data


def method_of(name: str) -> Method:
    """A method by its name in records."""
    return _BY_NAME[name]


def printed_measure(kernel: Kernel, dim: int, cut: float) -> SignedMeasure:
    """The measure as printed: the Fourier transform of the kernel extended by zero, cut at a radius."""
    return krein.signed_measure(kernel, dim, method="fourier", truncate=cut)


def library_measure(kernel: Kernel, dim: int) -> SignedMeasure:
    """This library's measure on all distances of the sphere: exact head, atoms of least mass, within 0.001."""
    return krein.signed_measure(kernel, dim, 2.0, "least_mass", 1, 1e-3, sphere=True)


def positive_mixture(kernel: Kernel, dim: int) -> Any:
    """SRF's positive measure on all distances of the sphere."""
    features = krein.baselines.SphericalRandomFeatures(kernel=kernel, n_components=4, radius=2.0, random_state=0)
    return features.fit(np.eye(dim)).mixture_


def support_vector_machine(features: Any, seed: int) -> Any:
    """The classifier of Figure 3: linear, squared hinge loss, C of the paper's grid by five-fold cross-validation."""
    return krein.KreinSVC(features, C=PAPER_COSTS, random_state=seed)


def ridge_classifier(features: Any, seed: int) -> Any:
    """The classifier of Figure 7."""
    return krein.KreinRidgeClassifier(features, random_state=seed)
