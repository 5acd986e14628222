"""Tables and pictures of the comparison at scale, from its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contest.results import csv_directive, csv_text, show_table
from contest.scale_regression import LocalAgainstFeatures
from krein.show.figure import Line, Panel, draw_svg
from suite.timing import exponent

__all__ = [
    *("cluster_table", "growth_exponent", "growth_table", "panel_of", "regression_table", "set_table", "show_results"),
    "write_pages",
]

_LOOKS = {
    "krein, nothing set": ("#D55E00", "*", ""),
    "krein, exact": ("#0072B2", "s", ""),
    "krein, local": ("#009E73", "D", ""),
    "krein, features": ("#0072B2", "o", "-"),
    "Nystroem, ridge": ("#CC79A7", "^", "--"),
    "RBFSampler, ridge": ("#E69F00", "v", "--"),
    "boosting": ("ink", "P", ""),
    "boosting, as long": ("ink", "p", ""),
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


def cluster_table(found: Run) -> list[tuple[str, ...]]:
    """Seconds of one process with two threads and of two workers with one each."""
    header = ("", "fit, s", "of processors, s", "over one process")
    one, two = found["one_process"], found["two_workers"]
    ratio = two["seconds"] / one["seconds"]
    return [
        header,
        ("one process, two threads", f"{one['seconds']:.1f}", f"{one['processor_seconds']:.1f}", ""),
        ("two Dask workers", f"{two['seconds']:.1f}", f"{two['processor_seconds']:.1f}", f"{ratio:.2f}"),
    ]


def regression_table(found: dict[str, Run]) -> list[tuple[str, ...]]:
    """R² of leaves and of features alone on each table, and the gain with its standard error."""
    header = ("table", "rows", "columns", "features, R²", "local, R²", "gain", "standard error", "local is")
    body = []
    for run in found.values():
        if "failure" in run:
            continue
        one = LocalAgainstFeatures(**run)
        verdict = "worse" if one.worse else "better" if one.gain > one.error else "equal"
        numbers = (f"{value:.4f}" for value in (one.features, one.local, one.gain, one.error))
        body.append((one.name, f"{one.n_rows}", f"{one.n_columns}", *numbers, verdict))
    return [header, *body]


def show_results(results: dict[str, Any], parts: Sequence[str]) -> None:
    """Print the tables of some parts."""
    for part in parts:
        if part in results.get("sets", {}):
            show_table(part, set_table(list(results["sets"][part].values())))
        elif part == "growth" and "growth" in results:
            runs = list(results["growth"].values())
            show_table("growth with the rows, covtype", growth_table(runs))
            for clock in ("fit_seconds", "fit_processor_seconds"):
                print(f"  exponent of {clock} in rows: {growth_exponent(runs, clock):.2f}")
        elif part == "cluster" and "failure" not in results.get("cluster", {"failure": ""}):
            show_table("two workers, covtype", cluster_table(results["cluster"]))
            print(f"  same labels: {100 * results['cluster']['same_labels']:.3f} %")
        elif part == "regression" and "regression" in results:
            show_table("leaves against features on regression tables", regression_table(results["regression"]))


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
    """Tables and pictures of all that was measured, and the parts of pages that show them."""
    folder.mkdir(parents=True, exist_ok=True)

    def shown(name: str, cells: list[tuple[str, ...]]) -> str:
        (folder / f"{name}.csv").write_text(csv_text(cells))
        return csv_directive(f"{name}.csv")

    parts = []
    for name, found in results.get("sets", {}).items():
        runs = list(found.values())
        (folder / f"scale-{name}.svg").write_text(draw_svg(panel_of(name, runs)))
        sizes = [(run["n_train"], run["n_test"]) for run in runs if "accuracy" in run]
        rows = f", {max(sizes)[0]:,} rows to fit on and {max(sizes)[1]:,} others to test on" if sizes else ""
        picture = f".. image:: tables/scale-{name}.svg\n   :alt: Accuracy against the time of a fit on {name}\n"
        parts += [f"**{name}**{rows}.\n", picture, shown(f"scale-{name}", set_table(runs))]
    growth = list(results.get("growth", {}).values())
    if growth:
        slopes = [growth_exponent(growth, clock) for clock in ("fit_seconds", "fit_processor_seconds")]
        words = f"**Growth** on covtype, nothing set. Exponent of the time in the rows: {slopes[0]:.2f}, "
        parts += [f"{words}of processor time {slopes[1]:.2f}.\n", shown("scale-growth", growth_table(growth))]
    _write_part(folder / "scale.inc", parts)
    _write_part(folder / "scale-cluster.inc", _cluster_part(results.get("cluster"), shown))
    regression = results.get("regression")
    _write_part(
        folder / "scale-regression.inc",
        [shown("scale-regression", regression_table(regression))] if regression else [],
    )


def _cluster_part(found: Run | None, shown: Callable[[str, list[tuple[str, ...]]], str]) -> list[str]:
    if found is None or "failure" in found:
        return []
    rows, new = found["one_process"]["n_train"], found["one_process"]["n_test"]
    words = f"{rows:,} rows of {found['set']} in {found['blocks']} blocks; of {new:,} new rows "
    same = f"{100 * found['same_labels']:.2f} % get the same label.\n"
    return [words + same, shown("scale-cluster", cluster_table(found))]


def _write_part(path: Path, parts: list[str]) -> None:
    path.write_text("\n".join(parts) or NOT_MEASURED)


def _settings(run: Run) -> str:
    rows = [f"{run['most_rows']:,} rows"] if run.get("most_rows") else []
    return ", ".join([*rows, *(f"{name} {value}" for name, value in run["settings"].items() if name != "solver")])
