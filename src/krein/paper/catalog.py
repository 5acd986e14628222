"""The figures and tables of the paper, and two beyond it: a module for each, with all that belongs to it."""

from collections.abc import Sequence

from krein.paper.errata import ERRATA
from krein.paper.experiment import Experiment
from krein.paper.figure1 import FIGURE1
from krein.paper.figure2 import FIGURE2
from krein.paper.figure3 import FIGURE3
from krein.paper.figure4 import FIGURE4
from krein.paper.figure5 import FIGURE5
from krein.paper.figure6 import FIGURE6
from krein.paper.figure7 import FIGURE7
from krein.paper.table2 import TABLE2

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
