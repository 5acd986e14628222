"""What is to be done: a plan turns an experiment into runs, and a run is everything that decides a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import krein
from krein._core.checks import integer, one_of
from krein.kernels import parse_kernel
from krein.paper.data import DIMENSIONS, known_datasets
from krein.paper.methods import METHODS, Method

if TYPE_CHECKING:
    from krein.paper.experiment import Experiment

__all__ = ["FORMAT", "Count", "Mode", "Plan", "Run"]

Mode = Literal["quick", "full"]
Count = Literal["columns", "pairs"]

FORMAT = 3  # of records; raise it when the meaning of a run or of its results changes: old records then count no longer


@dataclass(frozen=True)
class Run:
    """A description of one measurement; the experiment's ``measure`` turns it into numbers.

    Parameters
    ----------
    experiment : str
        Such as ``"figure2"``.
    dataset : str
        Such as ``"letter"``.
    kernel : str
        As :func:`krein.kernels.parse_kernel` reads it.
    method : str
        A name in :data:`krein.paper.methods.METHODS`.
    size : int
        Width as the reader counts it: output columns, or the paper's number of pairs; 0 where nothing is drawn.
    columns : int
        Output columns of the features.
    seed : int
        Random seed of rows and features.
    train_rows, test_rows : int, default=0
        Rows drawn to fit on and to test on; 0 for all.
    cut : float or None, default=None
        Radius at which the measure is cut, in experiments about that.

    Examples
    --------
    >>> run = Run("figure2", "letter", "ntk", "default", 32, 32, seed=0, test_rows=1000)
    >>> run.test_rows, len(run.key)
    (1000, 16)
    """

    experiment: str
    dataset: str
    kernel: str
    method: str
    size: int
    columns: int
    seed: int
    train_rows: int = 0
    test_rows: int = 0
    cut: float | None = None

    @property
    def key(self) -> str:
        """Hash of the description, the format of records and the version of the library."""
        text = json.dumps({"format": FORMAT, "krein": krein.__version__, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def as_dict(self) -> dict[str, Any]:
        """The description as JSON keeps it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Run:
        """The inverse of `as_dict`."""
        return cls(**fields)


@dataclass(frozen=True)
class Plan:
    """How much is done of an experiment, and on which data.

    Parameters
    ----------
    mode : {"quick", "full"}, default="quick"
        Which of the experiment's sizes.
    datasets : tuple of str, default=("letter",)
        Any names that :func:`krein.datasets.load` takes; kept under their canonical names, in the order of the paper.
    count : {"columns", "pairs"}, default="columns"
        How widths are counted: every method with as many output columns, or as the paper does.
    seed : int, default=0
        Random seed of the first repetition.

    Examples
    --------
    >>> Plan(datasets=("cod-RNA", "letter")).datasets
    ('letter', 'cod_rna')
    """

    mode: Mode = "quick"
    datasets: tuple[str, ...] = ("letter",)
    count: Count = "columns"
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.mode, "mode", ("quick", "full"))
        one_of(self.count, "count", ("columns", "pairs"))
        integer(self.seed, "seed", least=0)
        object.__setattr__(self, "datasets", known_datasets(self.datasets))

    def runs(self, experiment: Experiment) -> list[Run]:
        """The runs an experiment means, in the order of the figures: data set, kernel, width, method, cut, seed."""
        return [
            run
            for dataset in experiment.only or self.datasets
            for kernel in experiment.kernels
            for multiple in experiment.sizes(self.mode).multiples
            for method in _suited(experiment, kernel)
            for run in self._repetitions(experiment, dataset, kernel, multiple, method)
        ]

    def _repetitions(
        self, experiment: Experiment, dataset: str, kernel: str, multiple: int, method: Method
    ) -> Iterator[Run]:
        """The runs of one method at one point: all its cuts and seeds."""
        sizes = experiment.sizes(self.mode)
        size = multiple * DIMENSIONS[dataset]
        columns = size * (method.per_pair if self.count == "pairs" else 1)
        seeds = range(self.seed, self.seed + sizes.repeats) if size else range(1)  # width 0: nothing is drawn at random
        for cut in experiment.cuts.get(method.name, (None,)):
            for seed in seeds:
                yield Run(
                    *(experiment.name, dataset, kernel, method.name, size, columns, seed),
                    train_rows=sizes.train_rows,
                    test_rows=sizes.test_rows,
                    cut=cut,
                )


def _suited(experiment: Experiment, kernel: str) -> list[Method]:
    return [one for one in METHODS if one.name in experiment.methods and one.suits(parse_kernel(kernel))]
