"""Tables of the report: the numbers behind each figure, and who wins where by what factor."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from krein.experiments.cells import Cell, Stat, Stats, duels, gather, seconds_to_generate, written_factor
from krein.experiments.claims import RIVALS
from krein.experiments.methods import LOOKS, METHODS, method_of
from krein.experiments.records import Record

__all__ = ["Sheet", "methods_sheet", "sheets_of", "winners"]


@dataclass(frozen=True)
class Sheet:
    """A table of text; `best` holds the (row, column) of entries to stress."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()

    def to_csv(self) -> str:
        """The table as comma-separated values."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()


def sheets_of(experiment: str, records: Sequence[Record], width: str) -> list[Sheet]:
    """The tables of an experiment."""
    if not records or experiment == "figure1":
        return []
    if experiment == "errata":
        return [_masses(records)]
    if experiment == "figure3":
        return [_grid("Test accuracy, mean ± standard deviation", gather(records, "accuracy"), width, larger=True)]
    times = _grid("Seconds to fit and to map, mean ± standard deviation", _times(records), width)
    if experiment == "table2":
        return [times]
    errors = _grid("Relative error, mean ± standard deviation", gather(records, "error"), width)
    if experiment == "figure4":
        return [errors, times]
    if experiment == "figure7":
        accuracy = _grid("Test accuracy", gather(records, "accuracy"), width, larger=True)
        total = gather(records, lambda record: record.seconds["total"])
        return [errors, accuracy, _grid("Seconds from rows to predictions", total, width)]
    return [winners(records, width), errors]


def winners(records: Sequence[Record], width: str) -> Sheet:
    """Ours against the best rival at each point of a figure of errors: above 1, ours has the lower error."""
    stats = gather(records, "error")
    maps = tuple(name for name in RIVALS if method_of(name).feature_map)
    free = tuple(name for name in RIVALS if method_of(name).independent)
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    matches = [("default", maps), ("unbiased", free), ("default", ("nystroem",)), ("projected", ("nystroem",))]
    found = [{(one.dataset, one.kernel, one.size): one for one in duels(stats, *match)} for match in matches]
    for point in sorted(
        {(cell.dataset, cell.kernel, cell.size) for cell in stats}, key=lambda one: (one[1], one[0], one[2])
    ):
        row = [point[0], point[1], f"{point[2]:,}"]
        for column, table in enumerate(found):
            duel = table.get(point)
            if duel is None:
                row.append("")
                continue
            against = "" if len(matches[column][1]) == 1 else f" ({method_of(duel.rival).label})"
            row.append(f"{written_factor(duel.factor)}{against}")
            if duel.won:
                best.add((len(rows), column + 3))
        rows.append(tuple(row))
    return Sheet(
        "Error of the best rival over ours: above 1, ours is better. Maps: all rivals without landmarks; data-free: those that "
        "look at nothing",
        (
            *("data", "kernel", width),
            "default vs maps",
            "unbiased vs data-free",
            "default vs Nyström",
            "projected vs Nyström",
        ),
        tuple(rows),
        frozenset(best),
    )


def methods_sheet(names: Sequence[str]) -> Sheet:
    """What each method looks at."""
    rows = tuple((one.label, LOOKS[one.looks]) for one in METHODS if one.name in names)
    return Sheet("What each method looks at", ("method", "it looks at"), rows)


def _times(records: Sequence[Record]) -> Stats:
    return gather(records, seconds_to_generate) if all("fit" in one.seconds for one in records) else {}


def _grid(caption: str, stats: Stats, width: str, *, larger: bool = False) -> Sheet:
    """A row for each data set, kernel and width; a column for each method."""
    methods = [one for one in METHODS if any(cell.method == one.name for cell in stats)]
    points = sorted({(cell.kernel, cell.dataset, cell.size) for cell in stats})
    rows, best = [], set()
    for number, (kernel, dataset, size) in enumerate(points):
        found = [stats.get(Cell(dataset, kernel, size, one.name)) for one in methods]
        rows.append((dataset, kernel, f"{size:,}", *(_stat(one, percent=larger) for one in found)))
        means = [one.mean for one in found if one is not None]
        top = max(means) if larger else min(means)
        best |= {(number, 3 + column) for column, one in enumerate(found) if one is not None and one.mean == top}
    return Sheet(caption, ("data", "kernel", width, *(one.label for one in methods)), tuple(rows), frozenset(best))


def _masses(records: Sequence[Record]) -> Sheet:
    order = sorted(records, key=lambda one: (one.run.kernel, one.run.method != "printed", one.run.setting("r_max")))
    rows = tuple(
        (
            one.run.kernel,
            f"printed, cut at r = {one.run.setting('r_max')}" if one.run.method == "printed" else "this library",
            f"{one.results['mass']:.4g}",
            f"{one.results['bias']:.2%}" if one.results["bias"] < 10 else f"{one.results['bias']:.2g} times",
            {True: "finite", False: "infinite", None: "undecided"}[one.results["finite"]]
            if one.run.method == "printed"
            else "",
        )
        for one in order
    )
    header = ("kernel", "measure", "mass", "largest error / largest value", "mass without a cut")
    return Sheet("Mass and bias in dimension 16, distances up to 2", header, rows)


def _stat(stat: Stat | None, *, percent: bool) -> str:
    if stat is None:
        return ""
    if percent:
        return f"{100 * stat.mean:.1f}" + (f" ± {100 * stat.deviation:.1f}" if stat.count > 1 else "")
    return f"{stat.mean:.2g}" + (f" ± {stat.deviation:.1g}" if stat.count > 1 else "")
