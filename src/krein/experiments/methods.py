"""The one list of methods that the experiments compare: how each is made, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import krein
from krein.baselines.abilities import methods_for
from krein.kernels import Kernel
from krein.sampling import Importance, MonteCarlo, Orthogonal, Rejection, Sampler

__all__ = ["LOOKS", "METHODS", "Method", "method_of"]

# What a method may look at, from nothing to most.
LOOKS = {
    "nothing": "nothing of the data",
    "distances": "distances of 2,000 pairs of training rows, to choose the measure; draws and weights do not depend on them",
    "subset": "the kernel matrix of 300 training rows",
    "pairs": "the kernel on pairs of 2,000 training rows, to fit the weights",
    "rows": "the kernel matrix of up to 8,192 training rows",
    "landmarks": "the kernel between every row and the landmarks, in fitting and in mapping",
}

Maker = Callable[[Kernel, int, int], Any]


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
    ours : bool
    per_pair : int
        Output columns for one of the paper's pairs: a frequency of each sign with cosine and sine makes 4.
    needs : str
        Name of the class in ``krein.baselines`` that must be able to do the kernel; empty for any kernel.
    colour, marker, dash : str
        Of its line in figures.
    most_columns : int
        Wider runs are left out, because of their cost; 0 for no limit.
    heavy : bool
        Repeated a third as often, because of its cost.
    """

    name: str
    label: str
    make: Maker
    looks: str
    ours: bool = False
    per_pair: int = 1
    needs: str = ""
    colour: str = "#767676"
    marker: str = "o"
    dash: str = "--"
    most_columns: int = 0
    heavy: bool = False

    @property
    def independent(self) -> bool:
        """Whether frequencies and weights are drawn without fitting the kernel on data."""
        return self.looks in ("nothing", "distances")

    @property
    def feature_map(self) -> bool:
        """Whether a new row is mapped without evaluating the kernel."""
        return self.looks != "landmarks"

    def suits(self, kernel: Kernel) -> bool:
        """Whether the method can do the kernel."""
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
            truncate=None if closed else (sampler.interval if isinstance(sampler, Rejection) else 10.0),
        ),
        random_state=seed,
    )


def _scheme(sampler: Sampler) -> Maker:
    return lambda kernel, columns, seed: _printed(kernel, columns, seed, sampler)


def _ours(weights: str) -> Maker:
    return lambda kernel, columns, seed: krein.SignedFourierFeatures(
        kernel=kernel, n_components=columns, weights=weights, random_state=seed
    )


def _rival(cls: Callable[..., Any]) -> Maker:
    return lambda kernel, columns, seed: cls(kernel=kernel, n_components=columns, random_state=seed)


_BLUE, _ORANGE, _GREEN, _PINK, _GOLD, _SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#C98A00", "#3E9BD6"
_base = krein.baselines

METHODS: tuple[Method, ...] = (
    Method("printed", "ours, as printed", _printed, "nothing", True, 4, colour=_ORANGE, marker="v", dash="-"),
    Method("unbiased", "ours, unbiased", _ours("unbiased"), "distances", True, 4, colour=_SKY, marker="s", dash="-"),
    Method("default", "ours, default", _ours("calibrated"), "pairs", True, 4, colour=_BLUE, marker="o", dash="-"),
    Method(
        *("projected", "ours, projected (beyond the paper)", _ours("projected"), "rows", True, 4),
        colour=_GREEN,
        marker="D",
        dash="-",
        most_columns=600,
        heavy=True,
    ),
    Method("srf", "SRF", _rival(_base.SphericalRandomFeatures), "nothing", per_pair=2, colour=_PINK, marker="^"),
    Method("digmm", "DIGMM", _rival(_base.DoubleGaussianMixture), "subset", per_pair=4, colour=_GOLD, marker="P"),
    Method("nystroem", "Nyström, leverage", _rival(krein.KreinNystroem), "landmarks", marker="X", colour="#8C6BB1"),
    Method("rm", "RM", _rival(_base.RandomMaclaurin), "nothing", needs="RandomMaclaurin", marker="<", colour="#A6761D"),
    Method("ts", "TS", _rival(_base.TensorSketch), "nothing", needs="TensorSketch", marker=">", colour="#7A9A01"),
    Method(
        *("trp", "TRP", _rival(_base.TensorizedRandomProjection), "nothing"),
        needs="TensorizedRandomProjection",
        marker="*",
        colour="#C0504D",
    ),
    Method(
        *("arccos", "arc-cosine features", _rival(_base.ArcCosineFeatures), "nothing"),
        needs="ArcCosineFeatures",
        marker="h",
        colour="#2A9D8F",
    ),
    Method(
        "r10000", "10,000 points in [−10, 10]", _scheme(Rejection()), "nothing", True, 4, colour=_ORANGE, marker="v"
    ),
    Method("r1000", "1,000 points", _scheme(Rejection(1000)), "nothing", True, 4, colour=_GOLD, marker="s"),
    Method(
        "r5", "10,000 points in [−5, 5]", _scheme(Rejection(10_000, 5.0)), "nothing", True, 4, colour=_PINK, marker="P"
    ),
    Method("importance", "importance", _scheme(Importance()), "nothing", True, 4, colour=_GREEN, marker="D"),
    Method("orthogonal", "orthogonal", _scheme(Orthogonal()), "nothing", True, 4, colour=_SKY, marker="^"),
)


def method_of(name: str) -> Method:
    """A method by its name in records."""
    return next(method for method in METHODS if method.name == name)
