"""The experiments: frozen configurations, and the runs they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from krein.experiments.data import DIMENSIONS
from krein.experiments.methods import METHODS
from krein.experiments.run import Run, Setting
from krein.kernels import parse_kernel

__all__ = ["EXPERIMENTS", "Count", "Experiment", "Mode", "Plan", "Sizes", "known_experiments"]

Mode = Literal["quick", "full"]
Count = Literal["columns", "pairs"]

DELTA = "delta-gaussian(1, 10)"
SPHERE = "spherical-polynomial(2, 2)"
_COMPARED = ("printed", "unbiased", "default", "projected", "srf", "digmm", "nystroem", "rm", "ts", "trp")
_PAPER = ("printed", "default", "srf", "digmm", "nystroem", "rm", "ts", "trp")


@dataclass(frozen=True)
class Sizes:
    """How much of an experiment is done.

    Parameters
    ----------
    multiples : tuple of int
        Widths, in multiples of the dimension d of the data.
    repeats : int
        Runs with seeds that follow each other.
    train_rows, test_rows : int
        Rows drawn to fit on and to judge by; 0 for all.
    """

    multiples: tuple[int, ...]
    repeats: int
    train_rows: int
    test_rows: int


@dataclass(frozen=True)
class Experiment:
    """A figure or table.

    Parameters
    ----------
    name, title, about : str
    score : str
        A name in :data:`krein.experiments.scores.SCORES`.
    kernels, methods : tuple of str
    quick, full : Sizes
    only : tuple of str
        Data sets it is about; empty for those the user asks for.
    timed : bool
        Whether times are its result: its runs are then done one at a time.
    beyond : bool
        Not in the paper.
    sweep : tuple of (name, values, method)
        One more setting, run over its values for one method and at the first of them for the others.
    """

    name: str
    title: str
    about: str
    score: str
    kernels: tuple[str, ...]
    methods: tuple[str, ...]
    quick: Sizes
    full: Sizes
    only: tuple[str, ...] = ()
    timed: bool = False
    beyond: bool = False
    settings: tuple[tuple[str, Setting], ...] = ()
    sweep: tuple[str, tuple[Setting, ...], str] | None = None

    def sizes(self, mode: Mode) -> Sizes:
        """Quick or full."""
        return self.quick if mode == "quick" else self.full


_ONCE = Sizes((0,), 1, 0, 0)

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "figure1",
        "Figure 1: a kernel and its signed measure",
        "The kernel as each measure gives it, and the measures themselves. The printed one is the Fourier transform of the kernel "
        "extended by zero, cut at r = 10 as in the paper's Section 5; SRF's is the nearest positive measure; ours is an exact "
        "polynomial head and the atoms of least total mass that give the rest to within 0.001.",
        "curves",
        (SPHERE,),
        ("printed", "default", "srf"),
        _ONCE,
        _ONCE,
        only=("letter",),
    ),
    Experiment(
        "figure2",
        "Figure 2: error of the kernel matrix",
        "Relative Frobenius error on 1,000 unseen rows, mean and standard deviation over the runs.",
        "error",
        (DELTA, SPHERE),
        _COMPARED,
        Sizes((2, 8, 32), 3, 4000, 1000),
        Sizes((2, 4, 8, 16, 32), 10, 10_000, 1000),
    ),
    Experiment(
        "figure3",
        "Figure 3: accuracy with a linear classifier",
        "Test accuracy of LibLinear's support vector machine (squared hinge loss, one against rest) on the features, C from "
        "0.01, 0.1, 1, 10, 100 by five-fold cross-validation on the training rows.",
        "accuracy",
        (DELTA, SPHERE),
        _PAPER,
        Sizes((2, 8), 1, 2000, 3000),
        Sizes((2, 8, 32), 3, 3000, 20_000),
    ),
    Experiment(
        "table2",
        "Table 2: time to generate the features",
        "Seconds to fit a map and to map the training rows with it, on one core: all rows of letter and ijcnn1, as in the paper, "
        "and 50,000 of the larger sets.",
        "generate",
        (DELTA, SPHERE),
        _PAPER,
        Sizes((2, 8, 32), 1, 0, 300),
        Sizes((2, 8, 32), 3, 50_000, 300),
        timed=True,
    ),
    Experiment(
        "figure4",
        "Figure 4: sampling schemes",
        "The printed measure (cut at r = 10, or at 5) sampled in the five ways of the paper, and for comparison the least-mass "
        "measure of this library with unbiased weights.",
        "error",
        (SPHERE,),
        ("r10000", "r1000", "r5", "importance", "orthogonal", "unbiased"),
        Sizes((2, 8, 32), 2, 4000, 1000),
        Sizes((2, 8, 32), 10, 10_000, 1000),
        timed=True,
    ),
    Experiment(
        "figure5",
        "Figure 5: other orders of the spherical polynomial",
        "As Figure 2, for p = 1 and p = 3.",
        "error",
        ("spherical-polynomial(2, 1)", "spherical-polynomial(2, 3)"),
        _COMPARED,
        Sizes((2, 8), 1, 4000, 1000),
        Sizes((2, 8, 32), 5, 10_000, 1000),
    ),
    Experiment(
        "errata",
        "Errata: the printed measure does not exist",
        "Mass and bias of the printed measure, cut at ever larger radii, and of the measure this library uses instead.",
        "mass",
        (SPHERE, "spherical-polynomial(2, 8)"),
        ("printed", "default"),
        _ONCE,
        _ONCE,
        only=("letter",),
        settings=(("radius", 2.0),),
        sweep=("r_max", (10, 5, 20, 40), "printed"),
    ),
    Experiment(
        "figure6",
        "Figure 6: kernels of neural networks",
        "As Figure 2, for the arc-cosine kernels of order 0 and 1 and the neural tangent kernel, which the paper leaves out.",
        "error",
        ("arc-cosine(0)", "arc-cosine(1)", "ntk"),
        ("unbiased", "default", "projected", "srf", "digmm", "nystroem", "rm", "arccos"),
        Sizes((2, 8), 1, 4000, 1000),
        Sizes((2, 8, 32), 5, 10_000, 1000),
        beyond=True,
    ),
    Experiment(
        "figure7",
        "Figure 7: what an error or an accuracy costs",
        "The whole time from rows to predictions with a ridge classifier, on one core, against error and accuracy: the honest "
        "comparison with Nyström, which needs fewer columns and more time for each.",
        "pareto",
        (DELTA,),
        ("unbiased", "default", "projected", "srf", "nystroem"),
        Sizes((2, 8, 32), 1, 5000, 3000),
        Sizes((2, 8, 32), 3, 50_000, 20_000),
        timed=True,
        beyond=True,
    ),
)


def known_experiments(names: Sequence[str]) -> tuple[Experiment, ...]:
    """The experiments of these names, all for none; an unknown name is an error that lists the known ones."""
    known = {one.name: one for one in EXPERIMENTS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ValueError(f"unknown experiment {wrong[0]!r}; known: {', '.join(known)}")
    return tuple(one for one in EXPERIMENTS if not names or one.name in names)


@dataclass(frozen=True)
class Plan:
    """Which runs an experiment means.

    Parameters
    ----------
    mode : {"quick", "full"}
    datasets : tuple of str
    count : {"columns", "pairs"}
        How widths are counted: every method with as many output columns, or as the paper does.
    seed : int
        Of the first repetition.
    """

    mode: Mode = "quick"
    datasets: tuple[str, ...] = ("letter",)
    count: Count = "columns"
    seed: int = 0

    def runs(self, experiment: Experiment) -> list[Run]:
        """In the order of the figures: data set, kernel, width, method, seed."""
        sizes = experiment.sizes(self.mode)
        sweep = experiment.sweep or ("", ("",), "")
        rows: tuple[tuple[str, Setting], ...] = (
            ("train_rows", sizes.train_rows),
            ("test_rows", sizes.test_rows),
            ("count", self.count),
        )
        found = []
        for dataset in experiment.only or self.datasets:
            for kernel in experiment.kernels:
                able = [one for one in METHODS if one.name in experiment.methods and one.suits(parse_kernel(kernel))]
                for multiple in sizes.multiples:
                    for method in able:
                        size = multiple * DIMENSIONS[dataset]
                        columns = size * (method.per_pair if self.count == "pairs" else 1)
                        if method.most_columns and columns > method.most_columns:
                            continue
                        for value in sweep[1] if method.name == sweep[2] else sweep[1][:1]:
                            extra = ((sweep[0], value),) if experiment.sweep else ()
                            settings = (
                                (*rows, *experiment.settings, *extra) if multiple else (*experiment.settings, *extra)
                            )
                            repeats = max(1, sizes.repeats // 3) if method.heavy else sizes.repeats
                            seeds = range(self.seed, self.seed + repeats) if multiple else (0,)
                            found += [
                                Run(
                                    *(experiment.name, experiment.score, dataset, kernel, method.name),
                                    *(size, columns, seed, settings),
                                )
                                for seed in seeds
                            ]
        return found
