"""From records to what a picture shows: panels of lines, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from krein.experiments.cells import Stats, gather, seconds_to_generate
from krein.experiments.methods import METHODS, Method, method_of
from krein.experiments.records import Record

__all__ = ["FLOOR", "Line", "Panel", "panels_of"]

FLOOR = 1e-7  # errors below are drawn here: exact but for rounding


@dataclass(frozen=True)
class Line:
    """Points of one method; with `stems` they stand on the axis and are not joined."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    deviation: tuple[float, ...] = ()
    colour: str = "ink"
    marker: str = ""
    dash: str = "-"
    stems: bool = False


@dataclass(frozen=True)
class Panel:
    """One picture: axes and lines."""

    title: str
    xlabel: str
    ylabel: str
    lines: tuple[Line, ...]
    xlog: bool = False
    ylog: bool = False


def panels_of(experiment: str, records: Sequence[Record], width: str) -> list[Panel]:
    """The pictures of an experiment; `width` is what the horizontal axis counts."""
    if not records:
        return []
    error = "relative error of the kernel matrix"
    if experiment == "figure1":
        return _curves(records)
    if experiment == "errata":
        return _masses(records)
    if experiment == "figure3":
        return _by_data(gather(records, "accuracy"), width, "test accuracy", ylog=False)
    if experiment == "figure4":
        times = _by_data(gather(records, seconds_to_generate), width, "seconds to fit and map", ylog=True)
        return _by_data(gather(records, "error"), width, error, ylog=True) + times
    if experiment == "table2":
        return _by_data(gather(records, seconds_to_generate), width, "seconds to fit and map", ylog=True)
    if experiment == "figure7":
        return _against_time(records)
    return _by_data(gather(records, "error"), width, error, ylog=True)


def _by_data(stats: Stats, width: str, ylabel: str, *, ylog: bool) -> list[Panel]:
    pairs = dict.fromkeys((cell.kernel, cell.dataset) for cell in stats)
    return [
        Panel(
            f"{dataset}, {kernel}",
            width,
            ylabel,
            tuple(_lines(stats, dataset, kernel, ylog=ylog)),
            xlog=True,
            ylog=ylog,
        )
        for kernel, dataset in sorted(pairs, key=lambda pair: pair[0])
    ]


def _lines(stats: Stats, dataset: str, kernel: str, *, ylog: bool) -> Iterable[Line]:
    for method in METHODS:
        cells = sorted(cell for cell in stats if cell[:2] == (dataset, kernel) and cell.method == method.name)
        if cells:
            y = [max(stats[cell].mean, FLOOR) if ylog else stats[cell].mean for cell in cells]
            deviation = tuple(stats[cell].deviation for cell in cells)
            yield _line(method, [float(cell.size) for cell in cells], y, deviation)


def _line(method: Method, x: Sequence[float], y: Sequence[float], deviation: tuple[float, ...] = ()) -> Line:
    return Line(method.label, tuple(x), tuple(y), deviation, method.colour, method.marker, method.dash)


def _against_time(records: Sequence[Record]) -> list[Panel]:
    times = gather(records, lambda record: record.seconds["total"])
    panels = []
    for name, label, ylog in (
        ("error", "relative error of the kernel matrix", True),
        ("accuracy", "test accuracy", False),
    ):
        stats = gather(records, name)
        for dataset, kernel in dict.fromkeys((cell.dataset, cell.kernel) for cell in stats):
            lines = []
            for method in METHODS:
                cells = sorted(cell for cell in stats if cell[:2] == (dataset, kernel) and cell.method == method.name)
                points = [(times[cell].mean, max(stats[cell].mean, FLOOR)) for cell in cells]
                if points:
                    lines.append(_line(method, [x for x, _ in points], [y for _, y in points]))
            panels.append(
                Panel(f"{dataset}, {kernel}", "seconds from rows to predictions", label, tuple(lines), True, ylog)
            )
    return panels


def _curves(records: Sequence[Record]) -> list[Panel]:
    first = records[0]
    kernel = Line("kernel", tuple(first.results["z"]), tuple(first.results["kernel"]))
    given, measures = [kernel], []
    for record in records:
        method, found = method_of(record.run.method), record.results
        given.append(
            Line(
                f"{method.label} (mass {found['mass']:.3g})",
                tuple(found["z"]),
                tuple(found["value"]),
                (),
                method.colour,
                "",
                "--",
            )
        )
        if "density" in found:
            density = Line("density", tuple(found["r"]), tuple(found["density"]), (), method.colour)
            measures.append(
                Panel(
                    f"the printed measure, cut at r = 10: mass {found['mass']:.3g}",
                    _R,
                    "mass per unit of r",
                    (density,),
                )
            )
        else:
            atoms = sorted(zip(found["radii"], found["weights"], strict=True))
            stems = Line(
                *("atoms", tuple(r for r, _ in atoms), tuple(w for _, w in atoms), (), method.colour, method.marker),
                stems=True,
            )
            measures.append(Panel(f"{method.label}: mass {found['mass']:.3g}", _R, "mass of the atom", (stems,)))
    return [Panel(f"{first.run.kernel} in dimension 16", "distance z", "k(z)", tuple(given)), *measures]


_R = "radius of the frequency r"


def _masses(records: Sequence[Record]) -> list[Panel]:
    kernels = list(dict.fromkeys(record.run.kernel for record in records))
    panels = []
    for title, key in (("total mass", "mass"), ("largest error of the kernel / largest value", "bias")):
        lines = []
        for marker, kernel in zip("v^<>", kernels, strict=False):
            lines.append(_cuts(records, "printed", kernel, key, "#D55E00", marker))
            lines.append(_cuts(records, "default", kernel, key, "#0072B2", marker))
        shown = tuple(line for line in lines if line.x)
        panels.append(Panel(f"{title}, d = 16", "radius at which the measure is cut", title, shown, True, True))
    return panels


def _cuts(records: Sequence[Record], method: str, kernel: str, key: str, colour: str, marker: str) -> Line:
    mine = [one for one in records if one.run.method == method and one.run.kernel == kernel]
    points = sorted((float(one.run.setting("r_max")), float(one.results[key])) for one in mine)
    if method == "default" and points:  # not cut anywhere: the same at every radius
        cuts = [float(one.run.setting("r_max")) for one in records]
        points = [(min(cuts), points[0][1]), (max(cuts), points[0][1])]
    label = f"{'printed' if method == 'printed' else 'ours'}, {kernel}"
    return Line(label, tuple(x for x, _ in points), tuple(y for _, y in points), (), colour, marker)
