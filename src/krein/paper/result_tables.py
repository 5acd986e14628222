"""Tables of the report: the numbers behind each figure, and which method is best by what factor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from krein.paper.data import DIMENSIONS
from krein.paper.methods import LOOKS, METHODS, MOST_ACCURATE, PUBLISHED, RIVALS, method_of
from krein.paper.records import Record
from krein.paper.rules import CODE
from krein.paper.standings import Comparison, Stat, Stats, compare, least, means, seconds_to_generate, written_factor
from krein.show.table import Table

__all__ = [
    "accuracies_by_arm",
    "arms_table",
    "error_table",
    "errors_by_arm",
    "methods_table",
    "search_table",
    "time_table",
    "width_table",
]


def errors_by_arm(records: Sequence[Record], width: str) -> list[Table]:
    """The tables of a figure of errors: the arms beside the best rivals, all errors, and those of the public code."""
    exact = f"{_ERROR}, with the exact diagonal, as the public code has it"
    some = [one for one in records if one.run.method in _OF_THE_CODE]
    return [arms_table(records, width), error_table(records, width), width_table(exact, some, CODE.error, width)]


def accuracies_by_arm(records: Sequence[Record], width: str) -> list[Table]:
    """The tables of a figure of accuracies: by cross-validation, and as the public code has it."""
    caption = "Test accuracy in percent, mean ± standard deviation"
    some = [one for one in records if CODE.accuracy in one.results]
    tables = [width_table(f"{caption}; C by cross-validation", records, "accuracy", width, larger=True)]
    if some:
        tables.append(width_table(f"{caption}; as the public code", some, CODE.accuracy, width, larger=True))
    return tables


def error_table(records: Sequence[Record], width: str) -> Table:
    """Errors of the kernel matrix, a column for each width."""
    return width_table(_ERROR, records, "error", width)


def time_table(records: Sequence[Record], width: str) -> Table:
    """Least seconds to fit and to map, a column for each width."""
    caption = "Seconds to fit and to map on one thread, the least of the runs"
    return _width_table(caption, least(records, seconds_to_generate), width)


def search_table(records: Sequence[Record]) -> Table:
    """Least seconds of SRF's search for its measure, which is done beforehand."""
    stats = least([one for one in records if "search" in one.seconds], lambda one: one.seconds["search"])
    found: dict[tuple[str, str, str], float] = {}
    for point, stat in stats.items():
        key = (point.dataset, point.kernel, method_of(point.method).label)
        found[key] = min(stat.mean, found.get(key, stat.mean))
    rows = tuple((*key, f"{seconds:.2g}") for key, seconds in sorted(found.items()))
    return Table(
        "Seconds of SRF's search beforehand, the least of the runs", ("data", "kernel", "method", "seconds"), rows
    )


_ERROR = "Relative error, mean ± standard deviation"
_OF_THE_CODE = ("code", *PUBLISHED)
_OURS = ("literal", "code", "default", MOST_ACCURATE)  # columns of the table of arms


def arms_table(records: Sequence[Record], width: str) -> Table:
    """The arms beside the best rival, as published and of today, at each point of a figure of errors."""
    stats = means(records, "error")
    rivals = [
        {(one.kernel, one.dataset, one.size): one for ours in _OURS for one in compare(stats, ours, names)}
        for names in (PUBLISHED, RIVALS)
    ]
    mine = {(one.kernel, one.dataset, one.size, one.method): stat for one, stat in stats.items()}
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for point in sorted({(one.kernel, one.dataset, one.size) for one in stats}):
        kernel, dataset, size = point
        own = [mine.get((*point, name)) for name in _OURS]
        best_rivals = [found.get(point) for found in rivals]
        values = [*own, *(None if one is None else one.theirs for one in best_rivals)]
        known = [one.mean for one in values if one is not None]
        best |= {(len(rows), 3 + n) for n, one in enumerate(values) if one is not None and one.mean == min(known)}
        rows.append((dataset, kernel, f"{size:,}", *(_error(one) for one in own), *map(_rival, best_rivals)))
    return Table(
        "Relative error of each arm and of the best rival, with as many columns",
        ("data", "kernel", width, *(method_of(name).label for name in _OURS), "best published", "best of today"),
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
    """A row for each kernel, data set and method; a column for each width; the best of each is highlighted."""
    return _width_table(caption, means(records, value), width, larger=larger)


def _width_table(caption: str, stats: Stats, width: str, *, larger: bool = False) -> Table:
    multiples = sorted({one.size // DIMENSIONS[one.dataset] for one in stats})
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for kernel, dataset in sorted({(one.kernel, one.dataset) for one in stats}):
        some = {
            (one.method, one.size // DIMENSIONS[dataset]): stat
            for one, stat in stats.items()
            if (one.kernel, one.dataset) == (kernel, dataset)
        }
        top = {
            at: (max if larger else min)(stat.mean for (_, multiple), stat in some.items() if multiple == at)
            for at in {multiple for _, multiple in some}
        }
        for method in METHODS:
            found = [some.get((method.name, at)) for at in multiples]
            if any(found):
                best |= {
                    (len(rows), 3 + n)
                    for n, (at, one) in enumerate(zip(multiples, found, strict=True))
                    if one is not None and one.mean == top[at]
                }
                rows.append((dataset, kernel, method.label, *(_stat(one, percent=larger) for one in found)))
    header = ("data", "kernel", "method", *(f"{at} d" for at in multiples))
    return Table(f"{caption}. Widths: {width}, in multiples of the dimension d", header, tuple(rows), frozenset(best))


def _rival(fight: Comparison | None) -> str:
    return "" if fight is None else f"{_error(fight.theirs)} ({method_of(fight.rival).label})"


def _error(stat: Stat | None) -> str:
    return "" if stat is None else written_factor(stat.mean) if stat.mean >= 1e-3 else f"{stat.mean:.0e}"


def _stat(stat: Stat | None, *, percent: bool) -> str:
    if stat is None:
        return ""
    if percent:
        return f"{100 * stat.mean:.1f}" + (f" ± {100 * stat.deviation:.1f}" if stat.count > 1 else "")
    return f"{stat.mean:.2g}" + (f" ± {stat.deviation:.1g}" if stat.deviation else "")
