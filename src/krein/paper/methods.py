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
from krein.baselines.spherical import enclosing_diameter, fit_clipped_gaussians
from krein.kernels import Kernel
from krein.measures import SignedMeasure
from krein.paper.line_features import LineFeatures, suits
from krein.sampling import MonteCarlo, Orthogonal, Rejection, Sampler
from krein.show.style import COLORS

__all__ = [
    "METHODS",
    "Method",
    "method_of",
    "MOST_ACCURATE",
    "NYSTROEM_RULES",
    "PUBLISHED",
    "PAPER_COSTS",
    "RIVALS",
    "MAPPING_RIVALS",
    "INDEPENDENT_RIVALS",
    "LOOKS",
    "liblinear_machine",
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
    published : bool, default=False
        Whether it is a rival as it was when the paper compared with it.
    can : callable, default=every kernel
        Whether it can do a kernel.
    color, marker, dash : str
        Style of its line in figures.
    search : callable or None, default=None
        Kernel and rows to the search for its measure beforehand, done anew.
    """

    name: str
    label: str
    make: Maker
    looks: str
    ours: bool = False
    per_pair: int = 1
    published: bool = False
    can: Callable[[Kernel], bool] = lambda kernel: True
    color: str = "#767676"
    marker: str = "o"
    dash: str = "--"
    search: Callable[[Kernel, np.ndarray], object] | None = None

    @property
    def independent(self) -> bool:
        """Whether frequencies and weights are drawn without fitting the kernel on data."""
        return self.looks in ("nothing", "distances")

    @property
    def feature_map(self) -> bool:
        """Whether a new row is mapped without evaluating the kernel."""
        return self.looks != "landmarks"


def _with_jacobian(kernel: Kernel, columns: int, seed: int) -> Any:
    """Algorithm 1 with the measure of the kernel extended by zero on all of space, cut at r = 10."""
    closed = all(part.radius_law(2) is not None for _, part in kernel.terms())
    return krein.SignedFourierFeatures(
        kernel=kernel,
        n_components=columns,
        weights="unbiased",
        sampler=(MonteCarlo() if closed else Rejection()).with_params(allocation="equal"),
        measure=krein.MeasureRecipe(
            method="closed_form" if closed else "fourier", head_degree=-1, truncate=None if closed else PRINTED_CUT
        ),
        random_state=seed,
    )


def _ours(weights: str, sampler: Sampler | None = None) -> Maker:
    return lambda kernel, columns, seed: krein.SignedFourierFeatures(
        kernel=kernel, n_components=columns, weights=weights, sampler=sampler or "orthogonal", random_state=seed
    )


def _rival(cls: Callable[..., Any], **options: Any) -> Maker:
    return lambda kernel, columns, seed: cls(kernel=kernel, n_components=columns, random_state=seed, **options)


def _done_by(name: str) -> Callable[[Kernel], bool]:
    """Whether a class of ``krein.baselines`` can do a kernel."""
    return lambda kernel: name in methods_for(kernel)


def _vanishes(kernel: Kernel) -> bool:
    """Whether the nearest positive measure is zero, as for a difference of Gaussians, but not with a constant added."""
    return float(kernel.radial(np.zeros(1))[0]) == 0.0


def _search(constant: float) -> Callable[[Kernel, np.ndarray], object]:
    """The published search for SRF's measure, which a process otherwise does once."""
    return lambda kernel, X: fit_clipped_gaussians.__wrapped__(
        kernel, X.shape[1], 2.0 if kernel.domain == "sphere" else enclosing_diameter(X), constant
    )


_BLUE, _ORANGE, _GREEN, _PINK = (COLORS[name] for name in ("positive", "negative", "measure", "other"))
_GOLD, _SKY = "#C98A00", "#3E9BD6"  # the palette's, darkened: thin lines must be seen on a white page
_base = krein.baselines

_RULE_LABELS = {"kmeans": "k-means"}


def _published(name: str, label: str, maker: Maker, looks: str = "nothing", **style: Any) -> Method:
    """A rival as it was when the paper compared with it."""
    return Method(name, label, maker, looks, published=True, dash=":", **style)


def _line(arm: str, scheme: str = "plain") -> Maker:
    return lambda kernel, columns, seed: LineFeatures(kernel, columns, arm=arm, scheme=scheme, random_state=seed)


_SRF, _DIGMM = _base.SphericalRandomFeatures, _base.DoubleGaussianMixture
_RM, _TS, _TRP = _base.RandomMaclaurin, _base.TensorSketch, _base.TensorizedRandomProjection
_BROWN, _OLIVE, _RED, _PURPLE = "#A6761D", "#7A9A01", "#C0504D", "#8C6BB1"
_OURS: dict[str, Any] = {"ours": True, "per_pair": 4, "dash": "-"}

METHODS: tuple[Method, ...] = (
    Method("literal", "literal", _line("literal"), "nothing", can=suits, **_OURS, color=_ORANGE, marker="v"),
    Method("code", "public code", _line("code"), "nothing", can=suits, **_OURS, color=_GOLD, marker="s"),
    Method(
        *("jacobian", "with the Jacobian, cut at 10", _with_jacobian, "nothing"),
        can=suits,
        **_OURS,
        color="#767676",
        marker="h",
    ),
    Method("unbiased", "unbiased", _ours("unbiased"), "distances", **_OURS, color=_SKY, marker="s"),
    Method("default", "corrected", _ours("calibrated"), "pairs", **_OURS, color=_BLUE, marker="o"),
    Method(*("projected", "most accurate", _ours("projected"), "dictionary"), **_OURS, color=_GREEN, marker="D"),
    Method("srf", "SRF", _rival(_SRF), "nothing", per_pair=2, color=_PINK, marker="^"),
    Method(
        *("srf_plus", "SRF to k + 1", _rival(_SRF, constant=1.0), "nothing"),
        per_pair=2,
        can=_vanishes,
        color="#B03A7A",
        marker="^",
    ),
    _published(
        *("srf_published", "SRF, published", _rival(_SRF, edition="published")),
        color=_PINK,
        marker="^",
        search=_search(0.0),
    ),
    _published(
        *("srf_published_plus", "SRF to k + 1, published", _rival(_SRF, edition="published", constant=1.0)),
        can=_vanishes,
        color="#B03A7A",
        marker="^",
        search=_search(1.0),
    ),
    Method("digmm", "DIGMM", _rival(_DIGMM), "subset", per_pair=4, color=_SKY, marker="P"),
    _published(
        *("digmm_published", "DIGMM, published", _rival(_DIGMM, edition="published"), "subset"), color=_SKY, marker="P"
    ),
    *(
        Method(
            "nystroem" if rule == "kmeans" else f"nystroem_{rule}",
            f"Nyström, {_RULE_LABELS.get(rule, rule)}",
            *(_rival(krein.KreinNystroem, landmarks=rule), "landmarks"),
            color=_PURPLE,
            marker=marker,
        )
        for rule, marker in (("kmeans", "X"), ("pivoted", "x"), ("uniform", "+"))
    ),
    _published(
        *("nystroem_leverage", "Nyström, leverage", _rival(_base.LeverageNystroem), "landmarks"),
        color=_PURPLE,
        marker="x",
    ),
    Method("rm", "RM", _rival(_RM), "nothing", can=_done_by("RandomMaclaurin"), color=_BROWN, marker="<"),
    _published(
        *("rm_published", "RM, published", _rival(_RM, edition="published")),
        can=_done_by("RandomMaclaurin"),
        color=_BROWN,
        marker="<",
    ),
    Method("ts", "TS", _rival(_TS), "nothing", can=_done_by("TensorSketch"), color=_OLIVE, marker=">"),
    _published(
        *("ts_published", "TS, published", _rival(_TS, edition="published")),
        can=_done_by("TensorSketch"),
        color=_OLIVE,
        marker=">",
    ),
    Method("trp", "TRP", _rival(_TRP), "nothing", can=_done_by("TensorizedRandomProjection"), color=_RED, marker="*"),
    _published(
        *("trp_published", "TRP, published", _rival(_TRP, edition="published")),
        can=_done_by("TensorizedRandomProjection"),
        color=_RED,
        marker="*",
    ),
    Method(
        *("arccos", "arc-cosine features", _rival(_base.ArcCosineFeatures), "nothing"),
        can=_done_by("ArcCosineFeatures"),
        marker="h",
        color="#2A9D8F",
    ),
    *(
        Method(f"literal_{scheme}", f"literal, {label}", _line("literal", scheme), "nothing", can=suits, **_OURS | look)
        for scheme, label, look in (
            ("fewer", "1,000 points", {"color": _GOLD, "marker": "s", "dash": "--"}),
            ("nearer", "points in [−5, 5]", {"color": _PINK, "marker": "P", "dash": "--"}),
            ("importance", "importance", {"color": _GREEN, "marker": "D", "dash": "--"}),
            ("orthogonal", "orthogonal", {"color": _SKY, "marker": "^", "dash": "--"}),
        )
    ),
    Method(
        *("code_orthogonal", "public code, orthogonal", _line("code", "orthogonal"), "nothing"),
        can=suits,
        **_OURS | {"dash": "--"},
        color=_GOLD,
        marker="^",
    ),
    Method(
        *("independent", "corrected, independent draws", _ours("unbiased", MonteCarlo()), "distances"),
        **_OURS | {"dash": "--"},
        color=_BLUE,
        marker="s",
    ),
    Method(
        *("orthogonal", "corrected, orthogonal", _ours("unbiased", Orthogonal()), "distances"),
        **_OURS,
        color=_BLUE,
        marker="^",
    ),
)

_BY_NAME = {method.name: method for method in METHODS}
# The one of this library's maps that verdicts on accuracy are about; its default is told beside it
MOST_ACCURATE = "projected"
NYSTROEM_RULES = tuple(name for name in _BY_NAME if name.startswith("nystroem"))  # landmarks by any rule
RIVALS = tuple(
    method.name for method in METHODS if not method.ours
)  # methods that are not the paper's, in both editions
PUBLISHED = tuple(method.name for method in METHODS if method.published)  # as they were when the paper was written
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
    """SRF's published measure on all distances of the sphere."""
    features = krein.baselines.SphericalRandomFeatures(
        kernel=kernel, n_components=4, edition="published", radius=2.0, random_state=0
    )
    return features.fit(np.eye(dim)).mixture_


def support_vector_machine(features: Any, seed: int) -> Any:
    """The classifier of Figure 3: linear, squared hinge loss, C of the paper's grid by five-fold cross-validation."""
    return krein.KreinSVC(features, C=PAPER_COSTS, random_state=seed)


def liblinear_machine() -> Any:
    """The classifier of the public code: LibLinear's primal solver with its tolerance, C = 1000, no intercept."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=1000.0, dual=False, fit_intercept=False, tol=0.01)


def ridge_classifier(features: Any, seed: int) -> Any:
    """The classifier of Figure 7."""
    return krein.KreinRidgeClassifier(features, random_state=seed)
