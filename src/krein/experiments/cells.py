"""Records gathered into cells: mean and deviation over seeds, and who beats whom in each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from krein.experiments.records import Record

__all__ = ["Cell", "Duel", "Stat", "Stats", "duels", "gather", "seconds_to_generate", "written_factor"]


class Cell(NamedTuple):
    """What the runs of one point of a figure share."""

    dataset: str
    kernel: str
    size: int
    method: str


@dataclass(frozen=True)
class Stat:
    """Mean, standard deviation and number of runs."""

    mean: float
    deviation: float
    count: int

    @property
    def spread(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(self.count)


Stats = dict[Cell, Stat]

EXACT = 1e-10  # errors below are rounding, and all the same


@dataclass(frozen=True)
class Duel:
    """One method against the best of its rivals at one point; a `factor` above 1 means it is better."""

    dataset: str
    kernel: str
    size: int
    ours: Stat
    rival: str
    theirs: Stat
    factor: float

    @property
    def won(self) -> bool:
        """Whether no rival is better; two that are exact but for rounding are equal."""
        return self.factor >= 1

    @property
    def clear(self) -> bool:
        """Whether it wins by more than two standard errors of the difference."""
        return self.factor > 1 and abs(self.ours.mean - self.theirs.mean) > 2 * math.hypot(
            self.ours.spread, self.theirs.spread
        )


def gather(records: Iterable[Record], value: str | Callable[[Record], float]) -> Stats:
    """Mean and deviation of a result, by its name or by a function of the record.

    Examples
    --------
    >>> from krein.experiments.run import Run
    >>> records = [Record(Run("e", "error", "letter", "ntk", "srf", 8, 8, s), {"error": 1.0 + s}) for s in (0, 2)]
    >>> gather(records, "error")[Cell("letter", "ntk", 8, "srf")]
    Stat(mean=2.0, deviation=1.4142135623730951, count=2)
    """
    read = value if callable(value) else lambda record: float(record.results[value])
    found: dict[Cell, list[float]] = {}
    for record in sorted(records, key=lambda one: one.run.seed):
        run = record.run
        found.setdefault(Cell(run.dataset, run.kernel, run.size, run.method), []).append(read(record))
    return {
        cell: Stat(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))
        for cell, values in found.items()
    }


def duels(stats: Stats, ours: str, rivals: Collection[str], *, larger: bool = False) -> list[Duel]:
    """`ours` against the best of `rivals`, wherever both have been run; `larger` if more is better."""
    found = []
    for cell, mine in stats.items():
        if cell.method != ours:
            continue
        others = {name: stats[cell._replace(method=name)] for name in rivals if cell._replace(method=name) in stats}
        if not others:
            continue
        best = (max if larger else min)(others, key=lambda name: others[name].mean)
        top, bottom = (mine.mean, others[best].mean) if larger else (others[best].mean, mine.mean)
        factor = max(top, EXACT) / max(bottom, EXACT)
        found.append(Duel(cell.dataset, cell.kernel, cell.size, mine, best, others[best], factor))
    return found


def seconds_to_generate(record: Record) -> float:
    """Fit and map."""
    return record.seconds["fit"] + record.seconds["transform"]


def written_factor(value: float) -> str:
    """A ratio with two digits that matter, and no exponent where none is needed.

    Examples
    --------
    >>> [written_factor(one) for one in (0.0123, 1.26, 617.0, 3.2e9)]
    ['0.012', '1.3', '617', '3e+09']
    """
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"
