"""Tables of the report: the numbers behind each figure, and which method is best by what factor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from krein.paper.methods import (
    INDEPENDENT_RIVALS,
    LOOKS,
    MAPPING_RIVALS,
    METHODS,
    MOST_ACCURATE,
    RIVALS,
    method_of,
)
from krein.paper.records import Record
from krein.paper.standings import (
    Comparison,
    Point,
    Stat,
    compare,
    means,
    seconds_to_generate,
    written_factor,
)
from krein.show.table import Table

__all__ = ["error_table", "factor_table", "factors_and_errors", "methods_table", "time_table", "width_table"]


def factors_and_errors(records: Sequence[Record], width: str) -> list[Table]:
    """The tables of a figure of errors: which method is best by what factor, and the errors."""
    return [factor_table(records, width), error_table(records, width)]


def error_table(records: Sequence[Record], width: str) -> Table:
    """Errors of the kernel matrix, a column for each method."""
    return width_table("Relative error, mean ± standard deviation", records, "error", width)


def time_table(records: Sequence[Record], width: str) -> Table:
    """Seconds to fit and to map, a column for each method."""
    caption = "Seconds to fit and to map on one thread, mean ± standard deviation"
    return width_table(caption, records, seconds_to_generate, width)


# Name of the comparison, ours, and whom it is compared with.
_MATCHES: tuple[tuple[str, str, Collection[str]], ...] = (
    ("default vs maps", "default", MAPPING_RIVALS),
    ("unbiased vs data-free", "unbiased", INDEPENDENT_RIVALS),
    ("default vs Nyström", "default", ("nystroem",)),
    ("projected vs all", MOST_ACCURATE, RIVALS),
)


def factor_table(records: Sequence[Record], width: str) -> Table:
    """Ours against the best rival at each point of a figure of errors: above 1, ours has the lower error."""
    stats = means(records, "error")
    found = [
        {(one.kernel, one.dataset, one.size): one for one in compare(stats, ours, rivals)}
        for _, ours, rivals in _MATCHES
    ]
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for point in sorted({(one.kernel, one.dataset, one.size) for one in stats}):
        kernel, dataset, size = point
        fights = [table.get(point) for table in found]
        entries = [_factor(fight, name=len(rivals) > 1) for fight, (_, _, rivals) in zip(fights, _MATCHES, strict=True)]
        best |= {(len(rows), 3 + column) for column, fight in enumerate(fights) if fight is not None and fight.won}
        rows.append((dataset, kernel, f"{size:,}", *entries))
    return Table(
        "Error of the best rival divided by ours: above 1, ours is better. Maps: all rivals without landmarks; data-free: those "
        "that use no data",
        ("data", "kernel", width, *(title for title, _, _ in _MATCHES)),
        tuple(rows),
        frozenset(best),
    )


def methods_table(names: Collection[str]) -> Table:
    """The data that each method uses."""
    rows = tuple((one.label, LOOKS[one.looks]) for one in METHODS if one.name in names)
    return Table("What each method uses", ("method", "uses"), rows)


def width_table(
    caption: str,
    records: Sequence[Record],
    value: Callable[[Record], float] | str,
    width: str,
    *,
    larger: bool = False,
) -> Table:
    """A row for each kernel, data set and width; a column for each method; the best of each row is highlighted."""
    stats = means(records, value)
    methods = [one for one in METHODS if any(point.method == one.name for point in stats)]
    rows, best = [], set()
    for number, (kernel, dataset, size) in enumerate(sorted({(one.kernel, one.dataset, one.size) for one in stats})):
        found = [stats.get(Point(dataset, kernel, size, one.name)) for one in methods]
        rows.append((dataset, kernel, f"{size:,}", *(_stat(one, percent=larger) for one in found)))
        averages = [one.mean for one in found if one is not None]
        top = max(averages) if larger else min(averages)
        best |= {(number, 3 + column) for column, one in enumerate(found) if one is not None and one.mean == top}
    return Table(caption, ("data", "kernel", width, *(one.label for one in methods)), tuple(rows), frozenset(best))


def _factor(fight: Comparison | None, *, name: bool) -> str:
    if fight is None:
        return ""
    return written_factor(fight.factor) + (f" ({method_of(fight.rival).label})" if name else "")


def _stat(stat: Stat | None, *, percent: bool) -> str:
    if stat is None:
        return ""
    if percent:
        return f"{100 * stat.mean:.1f}" + (f" ± {100 * stat.deviation:.1f}" if stat.count > 1 else "")
    return f"{stat.mean:.2g}" + (f" ± {stat.deviation:.1g}" if stat.count > 1 else "")
