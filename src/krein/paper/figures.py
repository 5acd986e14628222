"""From records to panels of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from krein.paper.methods import METHODS, Method, method_of
from krein.paper.records import Record
from krein.paper.standings import Point, Stats, least, means, seconds_to_generate
from krein.show.figure import FLOOR, Line, Panel

__all__ = [
    "accuracy_panels",
    "error_panels",
    "method_line",
    "points_of",
    "scheme_panels",
    "time_panels",
    "width_panels",
]

_FIRST = ("literal", "code", "jacobian")  # arms and measures that are shown beside the rivals of their time
ERROR_LABEL = "relative error of the kernel matrix"  # of the vertical axis


def error_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Error of the kernel matrix against width, two panels for each data set and kernel."""
    return [
        panel
        for words, some in _editions(records)
        for panel in width_panels(some, "error", width, ERROR_LABEL, ylog=True, words=words)
    ]


def accuracy_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Test accuracy against width, two panels for each data set and kernel."""
    return [
        panel
        for words, some in _editions(records)
        for panel in width_panels(some, "accuracy", width, "test accuracy", ylog=False, words=words)
    ]


def scheme_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Error and least time of sampling schemes."""
    return width_panels(records, "error", width, ERROR_LABEL, ylog=True) + time_panels(records, width)


def time_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Least seconds to fit and map against width, a panel for each data set and kernel."""
    stats = least(records, seconds_to_generate)
    return _panels(stats, width, "seconds to fit and map, one thread", ylog=True)


def _editions(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """The arms beside the rivals of the paper, and the corrected one beside those of today."""
    then = [one for one in records if (lambda m: m.published or m.ours)(method_of(one.run.method))]
    now = [one for one in records if not method_of(one.run.method).published and one.run.method not in _FIRST]
    rivals = [one for one in now if not method_of(one.run.method).ours]
    return [("", then), *([(" (rivals of today)", now)] if rivals else [])]


def width_panels(
    records: Sequence[Record],
    value: Callable[[Record], float] | str,
    width: str,
    ylabel: str,
    *,
    ylog: bool,
    words: str = "",
) -> list[Panel]:
    """A result against width, a panel for each kernel and data set, a line for each method."""
    return _panels(means(records, value), width, ylabel, ylog=ylog, words=words)


def _panels(stats: Stats, width: str, ylabel: str, *, ylog: bool, words: str = "") -> list[Panel]:
    pairs = dict.fromkeys((point.kernel, point.dataset) for point in stats)
    return [
        Panel(
            *(f"{dataset}, {kernel}{words}", width, ylabel, tuple(_lines(stats, dataset, kernel, ylog=ylog))),
            xlog=True,
            ylog=ylog,
        )
        for kernel, dataset in sorted(pairs, key=lambda pair: pair[0])
    ]


def points_of(stats: Stats, dataset: str, kernel: str) -> Iterator[tuple[Method, list[Point]]]:
    """The points of each method on one data set and kernel, by width."""
    for method in METHODS:
        points = sorted(point for point in stats if point[:2] == (dataset, kernel) and point.method == method.name)
        if points:
            yield method, points


def method_line(method: Method, x: Sequence[float], y: Sequence[float], deviation: tuple[float, ...] = ()) -> Line:
    """A line in the look of its method."""
    return Line(method.label, tuple(x), tuple(y), deviation, method.color, method.marker, method.dash)


def _lines(stats: Stats, dataset: str, kernel: str, *, ylog: bool) -> Iterator[Line]:
    for method, points in points_of(stats, dataset, kernel):
        y = [max(stats[point].mean, FLOOR) if ylog else stats[point].mean for point in points]
        deviation = tuple(stats[point].deviation for point in points)
        yield method_line(method, [float(point.size) for point in points], y, deviation)
