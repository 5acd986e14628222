"""Means over the runs of each point of a figure, and who beats whom there."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from krein.paper.methods import method_of
from krein.paper.plan import Count
from krein.paper.records import Record

__all__ = [
    "Comparison",
    "Point",
    "Stat",
    "Stats",
    "compare",
    "counted",
    "least",
    "means",
    "seconds_to_generate",
    "written_factor",
]


class Point(NamedTuple):
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
    def standard_error(self) -> float:
        """Of the mean."""
        return self.deviation / math.sqrt(self.count)


Stats = dict[Point, Stat]

EXACT = 1e-10  # relative errors below are rounding, and all the same
_CLEAR = 2.0  # standard errors by which a difference is more than chance


@dataclass(frozen=True)
class Comparison:
    """One method against the best of its rivals at one point.

    Parameters
    ----------
    dataset, kernel : str
    size : int
    ours : Stat
    rival : str
        The best one.
    theirs : Stat
    factor : float
        Above 1 means that ours is better.
    rivals : int, default=1
        How many there were.
    """

    dataset: str
    kernel: str
    size: int
    ours: Stat
    rival: str
    theirs: Stat
    factor: float
    rivals: int = 1

    @property
    def won(self) -> bool:
        """Whether no rival is better; two that are exact but for rounding are equal."""
        return self.factor >= 1

    @property
    def clear(self) -> bool:
        """Whether it wins by more than two standard errors of the difference."""
        return self.factor > 1 and abs(self.ours.mean - self.theirs.mean) > _CLEAR * math.hypot(
            self.ours.standard_error, self.theirs.standard_error
        )


def counted(records: Iterable[Record], count: Count) -> list[Record]:
    """Records whose widths are output columns, or the paper's pairs, however the plan counted them."""
    return [replace(one, run=replace(one.run, size=_width(one, count))) for one in records]


def _width(record: Record, count: Count) -> int:
    columns = record.run.columns
    return columns if count == "columns" else columns // method_of(record.run.method).per_pair


def least(records: Iterable[Record], value: Callable[[Record], float]) -> Stats:
    """The least of a time at each point: what another program added is in the others."""
    return _at_each_point(records, value, lambda values: Stat(min(values), 0.0, len(values)))


def means(records: Iterable[Record], value: Callable[[Record], float] | str) -> Stats:
    """Mean and deviation of a result at each point.

    Examples
    --------
    >>> from krein.paper.plan import Run
    >>> records = [Record(Run("figure2", "letter", "ntk", "srf", 8, 8, s), {"error": 1.0 + s}) for s in (0, 2)]
    >>> means(records, "error")[Point("letter", "ntk", 8, "srf")]
    Stat(mean=2.0, deviation=1.4142135623730951, count=2)
    """
    read = value if callable(value) else lambda record: float(record.results[value])
    return _at_each_point(records, read, _summary)


def _summary(values: Sequence[float]) -> Stat:
    return Stat(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


def _at_each_point(
    records: Iterable[Record], read: Callable[[Record], float], summarize: Callable[[Sequence[float]], Stat]
) -> Stats:
    found: dict[Point, list[float]] = {}
    for record in sorted(records, key=lambda one: one.run.seed):
        run = record.run
        found.setdefault(Point(run.dataset, run.kernel, run.size, run.method), []).append(read(record))
    return {point: summarize(values) for point, values in found.items()}


def compare(stats: Stats, ours: str, rivals: Collection[str], *, larger: bool = False) -> list[Comparison]:
    """One method against the best of its rivals, wherever both have been run."""
    found = []
    for point, mine in stats.items():
        if point.method != ours:
            continue
        others = {name: stats[point._replace(method=name)] for name in rivals if point._replace(method=name) in stats}
        if not others:
            continue
        best = (max if larger else min)(others, key=lambda name: others[name].mean)
        top, bottom = (mine.mean, others[best].mean) if larger else (others[best].mean, mine.mean)
        factor = max(top, EXACT) / max(bottom, EXACT)
        found.append(Comparison(point.dataset, point.kernel, point.size, mine, best, others[best], factor, len(others)))
    return found


def seconds_to_generate(record: Record) -> float:
    """Time to fit a map and to map rows with it."""
    return record.seconds["fit"] + record.seconds["transform"]


def written_factor(value: float) -> str:
    """A ratio with two digits that matter, and no exponent where none is needed.

    Examples
    --------
    >>> [written_factor(one) for one in (0.0123, 1.26, 617.0, 3.2e9)]
    ['0.012', '1.3', '617', '3e+09']
    """
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"
