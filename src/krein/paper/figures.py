"""From records to panels of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from krein.paper.methods import METHODS, Method
from krein.paper.records import Record
from krein.paper.standings import Point, Stats, means, seconds_to_generate
from krein.show.figure import FLOOR, Line, Panel

__all__ = ["error_panels", "method_line", "points_of", "time_panels", "width_panels"]

ERROR_LABEL = "relative error of the kernel matrix"  # of the vertical axis


def error_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Error of the kernel matrix against width, a panel for each data set and kernel."""
    return width_panels(records, "error", width, ERROR_LABEL, ylog=True)


def time_panels(records: Sequence[Record], width: str) -> list[Panel]:
    """Seconds to fit and map against width, a panel for each data set and kernel."""
    return width_panels(records, seconds_to_generate, width, "seconds to fit and map, one thread", ylog=True)


def width_panels(
    records: Sequence[Record], value: Callable[[Record], float] | str, width: str, ylabel: str, *, ylog: bool
) -> list[Panel]:
    """A result against width, a panel for each kernel and data set, a line for each method."""
    stats = means(records, value)
    pairs = dict.fromkeys((point.kernel, point.dataset) for point in stats)
    return [
        Panel(
            *(f"{dataset}, {kernel}", width, ylabel, tuple(_lines(stats, dataset, kernel, ylog=ylog))),
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
