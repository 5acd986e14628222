"""An experiment: a figure or table of the paper with all that belongs to it, from its runs to the claims it tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from krein.paper.claims import Claim
from krein.paper.plan import Mode, Run
from krein.paper.records import Record
from krein.show.figure import Panel
from krein.show.table import Table

__all__ = ["Experiment", "Measurement", "Outcome", "Sizes"]

Outcome = tuple[dict[str, Any], dict[str, float]]  # results, and seconds by what was timed
Measurement = Callable[[Run], Outcome]


@dataclass(frozen=True)
class Sizes:
    """How much of an experiment is done.

    Parameters
    ----------
    multiples : tuple of int
        Widths, in multiples of the dimension d of the data; 0 where nothing is drawn.
    repeats : int
        Runs with seeds that follow each other.
    train_rows, test_rows : int
        Rows drawn to fit on and to test on; 0 for all.
    """

    multiples: tuple[int, ...]
    repeats: int
    train_rows: int
    test_rows: int


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Parameters
    ----------
    name, title, about : str
        In commands, in the heading, and below it.
    measure : callable
        Does a run: results that depend on the run alone, and seconds. A function of a module, so that processes find it.
    kernels, methods : tuple of str
        What is compared; a method that cannot do a kernel is left out there.
    quick, full : Sizes
        For each mode.
    figures, tables : callable
        Records, and what the horizontal axis counts, to the pictures and tables of the report.
    summary : callable or None, default=None
        As `tables`, to the one table that is shown on the terminal.
    claims : tuple of Claim, default=()
        What its records decide.
    only : tuple of str, default=()
        Data sets it is about; empty for those the user asks for.
    cuts : mapping of str to tuple of float, default={}
        By method, the radii at which its measure is cut, one after the other.
    timed : bool, default=False
        Whether times are its result: its runs are then done one at a time.
    beyond : bool, default=False
        Not in the paper.
    """

    name: str
    title: str
    about: str
    measure: Measurement
    kernels: tuple[str, ...]
    methods: tuple[str, ...]
    quick: Sizes
    full: Sizes
    figures: Callable[[Sequence[Record], str], list[Panel]]
    tables: Callable[[Sequence[Record], str], list[Table]]
    summary: Callable[[Sequence[Record], str], Table] | None = None
    claims: tuple[Claim, ...] = ()
    only: tuple[str, ...] = ()
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    timed: bool = False
    beyond: bool = False

    def sizes(self, mode: Mode) -> Sizes:
        """How much is done in a mode."""
        return self.quick if mode == "quick" else self.full
