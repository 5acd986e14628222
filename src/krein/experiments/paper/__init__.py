"""The figures and tables of the paper, and two beyond it: a module for each, with all that belongs to it."""

from collections.abc import Sequence

from krein.experiments.experiment import Experiment
from krein.experiments.paper.errata import ERRATA
from krein.experiments.paper.figure1 import FIGURE1
from krein.experiments.paper.figure2 import FIGURE2
from krein.experiments.paper.figure3 import FIGURE3
from krein.experiments.paper.figure4 import FIGURE4
from krein.experiments.paper.figure5 import FIGURE5
from krein.experiments.paper.figure6 import FIGURE6
from krein.experiments.paper.figure7 import FIGURE7
from krein.experiments.paper.table2 import TABLE2

__all__ = ["EXPERIMENTS", "known_experiments"]

EXPERIMENTS: tuple[Experiment, ...] = (  # in the order of the report
    FIGURE1,
    FIGURE2,
    FIGURE3,
    TABLE2,
    FIGURE4,
    FIGURE5,
    ERRATA,
    FIGURE6,
    FIGURE7,
)


def known_experiments(names: Sequence[str] = ()) -> tuple[Experiment, ...]:
    """The experiments of these names, in the order of the report."""
    known = {one.name: one for one in EXPERIMENTS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ValueError(f"unknown experiment {wrong[0]!r}; known: {', '.join(known)}")
    return tuple(one for one in EXPERIMENTS if not names or one.name in names)
