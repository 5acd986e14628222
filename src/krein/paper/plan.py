"""What is to be done: a plan turns an experiment into runs, and a run is everything that decides a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import krein
from krein._core.checks import integer, one_of
from krein.kernels import parse_kernel
from krein.paper.data import DIMENSIONS, known_datasets
from krein.paper.methods import METHODS, Method

if TYPE_CHECKING:
    from krein.paper.experiment import Experiment, Sizes

__all__ = ["FORMAT", "Count", "Mode", "Plan", "Run"]

Mode = Literal["quick", "full"]
Count = Literal["columns", "pairs"]

FORMAT = 4  # of records; raise it when the meaning of a run or of its results changes: old records then count no longer


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
    seeds : int or None, default=None
        Repetitions of each point, in place of those of the mode.
    rows : int or None, default=None
        Training rows, in place of those of the mode; 0 for all.

    Examples
    --------
    >>> Plan(datasets=("cod-RNA", "letter")).datasets
    ('letter', 'cod_rna')
    """

    mode: Mode = "quick"
    datasets: tuple[str, ...] = ("letter",)
    count: Count = "columns"
    seed: int = 0
    seeds: int | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        one_of(self.mode, "mode", ("quick", "full"))
        one_of(self.count, "count", ("columns", "pairs"))
        integer(self.seed, "seed", least=0)
        if self.seeds is not None:
            integer(self.seeds, "seeds", least=1)
        if self.rows is not None:
            integer(self.rows, "rows", least=0)
        object.__setattr__(self, "datasets", known_datasets(self.datasets))

    def sizes(self, experiment: Experiment) -> Sizes:
        """How much is done of an experiment: that of the mode, but for what the plan says itself."""
        sizes = experiment.sizes(self.mode)
        if not sizes.test_rows:  # nothing is drawn
            return sizes
        rows = sizes.train_rows if self.rows is None else self.rows
        return replace(sizes, repeats=self.seeds or sizes.repeats, train_rows=rows)

    def described(self, experiment: Experiment) -> str:
        """Widths, seeds and rows of an experiment, in words."""
        sizes = self.sizes(experiment)
        if not sizes.test_rows:
            return "nothing drawn"
        rows = f"{sizes.train_rows:,}" if sizes.train_rows else "all"
        return (
            f"{experiment.title.partition(':')[0]}: widths {', '.join(map(str, sizes.multiples))} d; "
            f"{sizes.repeats} seed{'s' if sizes.repeats > 1 else ''}; {rows} training and {sizes.test_rows:,} test rows at most"
        )

    def runs(self, experiment: Experiment) -> list[Run]:
        """The runs an experiment means: data set, kernel, width, seed, method, cut.

        The methods of a point take turns, so that what else the machine does meets all of them.
        """
        return [
            run
            for dataset in experiment.only or self.datasets
            for kernel in experiment.kernels
            for multiple in self.sizes(experiment).multiples
            for seed in self._seeds(experiment, multiple)
            for method in _suited(experiment, kernel)
            for run in self._cuts(experiment, dataset, kernel, multiple, seed, method)
        ]

    def _seeds(self, experiment: Experiment, multiple: int) -> range:
        """Width 0: nothing is drawn at random."""
        return range(self.seed, self.seed + self.sizes(experiment).repeats) if multiple else range(1)

    def _cuts(
        self, experiment: Experiment, dataset: str, kernel: str, multiple: int, seed: int, method: Method
    ) -> Iterator[Run]:
        """The runs of one method at one point and seed."""
        sizes = self.sizes(experiment)
        size = multiple * DIMENSIONS[dataset]
        columns = size * (method.per_pair if self.count == "pairs" else 1)
        for cut in experiment.cuts.get(method.name, (None,)):
            yield Run(
                *(experiment.name, dataset, kernel, method.name, size, columns, seed),
                train_rows=sizes.train_rows,
                test_rows=sizes.test_rows,
                cut=cut,
            )


def _suited(experiment: Experiment, kernel: str) -> list[Method]:
    return [one for one in METHODS if one.name in experiment.methods and one.can(parse_kernel(kernel))]
