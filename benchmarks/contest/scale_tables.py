"""Tables and pictures of the comparison at scale, from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contest.results import csv_directive, csv_text
from krein.experiments.figures import Line, Panel
from krein.experiments.svg import draw_svg
from suite.timing import exponent

__all__ = ["growth_exponent", "growth_table", "panel_of", "set_table", "write_pages"]

_LOOKS = {
    "krein, nothing set": ("#D55E00", "*", ""),
    "krein, exact": ("#0072B2", "s", ""),
    "krein, local": ("#009E73", "D", ""),
    "krein, features": ("#0072B2", "o", "-"),
    "Nystroem, ridge": ("#CC79A7", "^", "--"),
    "RBFSampler, ridge": ("#E69F00", "v", "--"),
    "boosting": ("ink", "P", ":"),
    "xRFM": ("ink", "X", ""),
}
Run = dict[str, Any]
NOT_MEASURED = "Not measured yet; ``make bench-scale`` measures it.\n"


def set_table(runs: list[Run]) -> list[tuple[str, ...]]:
    """A row for each model on one set, the best accuracy first; what was not measured last, with the reason."""
    header = (
        "model",
        "accuracy, %",
        "fit, s",
        "of processors, s",
        "predict, s",
        "memory of the fit, MiB",
        "chosen or set",
    )
    good = sorted((run for run in runs if "accuracy" in run), key=lambda run: -run["accuracy"])
    body = [
        (
            run["line"],
            f"{100 * run['accuracy']:.2f}",
            f"{run['fit_seconds']:.1f}",
            f"{run['fit_processor_seconds']:.1f}",
            f"{run['predict_seconds']:.1f}",
            "" if run["fit_mib"] is None else f"{run['fit_mib']:,.0f}",
            "; ".join(part for part in (_settings(run), run["chosen"]) if part),
        )
        for run in good
    ]
    missing = [(run["line"], "not measured", "", "", "", "", run["failure"]) for run in runs if "accuracy" not in run]
    return [header, *body, *missing]


def growth_table(runs: list[Run]) -> list[tuple[str, ...]]:
    """Rows against time and memory of the model with nothing set."""
    header = ("rows", "accuracy, %", "fit, s", "µs a row", "rows, MiB", "memory of the fit, MiB")
    return [
        header,
        *(
            (
                f"{run['n_train']:,}",
                f"{100 * run['accuracy']:.2f}",
                f"{run['fit_seconds']:.1f}",
                f"{1e6 * run['fit_seconds'] / run['n_train']:.0f}",
                f"{run['rows_mib']:,.0f}",
                "" if run["fit_mib"] is None else f"{run['fit_mib']:,.0f}",
            )
            for run in runs
            if "accuracy" in run
        ),
    ]


def growth_exponent(runs: list[Run], clock: str = "fit_seconds") -> float:
    """Slope of log time against log rows; NaN with fewer than two runs."""
    good = [run for run in runs if "accuracy" in run]
    if len(good) < 2:
        return float("nan")
    return exponent([run["n_train"] for run in good], [run[clock] for run in good])


def panel_of(name: str, runs: list[Run]) -> Panel:
    """Accuracy against the time of a fit, a line for each family of models."""
    lines = []
    for label, (color, marker, dash) in _LOOKS.items():
        points = sorted(
            (run["fit_seconds"], run["accuracy"]) for run in runs if run["line"] == label and "accuracy" in run
        )
        if points:
            x, y = zip(*points, strict=True)
            lines.append(Line(label, x, tuple(100 * one for one in y), color=color, marker=marker, dash=dash))
    return Panel(name, "seconds of a fit", "accuracy on new rows, %", tuple(lines), xlog=True)


def write_pages(results: dict[str, Any], folder: Path) -> None:
    """A table and a picture for each set, the table of growth, and the part of the page that shows them."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, runs in results["sets"].items():
        (folder / f"scale-{name}.csv").write_text(csv_text(set_table(runs)))
        (folder / f"scale-{name}.svg").write_text(draw_svg(panel_of(name, runs)))
        sizes = [(run["n_train"], run["n_test"]) for run in runs if "accuracy" in run]
        rows = f", {sizes[0][0]:,} rows to fit on and {sizes[0][1]:,} others to be judged on" if sizes else ""
        picture = f".. image:: tables/scale-{name}.svg\n   :alt: Accuracy against the time of a fit on {name}\n"
        parts += [f"**{name}**{rows}.\n", picture, csv_directive(f"scale-{name}.csv")]
    if results["growth"]:
        (folder / "scale-growth.csv").write_text(csv_text(growth_table(results["growth"])))
        slopes = [growth_exponent(results["growth"], clock) for clock in ("fit_seconds", "fit_processor_seconds")]
        words = f"**Growth** on covtype, nothing set. Exponent of the time in the rows: {slopes[0]:.2f}, "
        parts += [f"{words}of processor time {slopes[1]:.2f}.\n", csv_directive("scale-growth.csv")]
    (folder / "scale.inc").write_text("\n".join(parts) or NOT_MEASURED)


def _settings(run: Run) -> str:
    return ", ".join(f"{name} {value}" for name, value in run["settings"].items() if name != "solver")
