"""The table, the file of results and the plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from suite.rows import Row

__all__ = ["draw", "show", "write"]

_VERDICT = {True: "met", False: "MISSED", None: ""}


def show(title: str, rows: list[Row]) -> None:
    """Print one section."""
    print(f"\n{title}")
    for row in rows:
        spread = "" if row.low is None else f"({_short(row.low)} to {_short(row.high)})"
        value = "    –" if np.isnan(row.value) else _short(row.value)
        target = f"{row.target:12s}{_VERDICT[row.met]:7s}"
        print(f"  {row.name:58s}{value:>8s} {row.unit:4s}{spread:20s}{target}{row.note}".rstrip(), flush=True)


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write(path: Path, machine: dict[str, Any], sections: dict[str, list[Row]], rest: dict[str, Any]) -> None:
    """Everything that was measured."""
    tables = {title: [row.as_dict() for row in rows] for title, rows in sections.items()}
    path.write_text(json.dumps({"machine": machine, "sections": tables, **rest}, indent=1, ensure_ascii=False) + "\n")


def draw(
    path: Path,
    sections: dict[str, list[Row]],
    points: list[dict[str, Any]],
    lines: dict[str, tuple[list[int], list[float]]],
) -> None:
    """Targets beside what was measured; error against time; growth of the time of transform."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = sorted({(p["data"], p["kernel"]) for p in points})
    panels = 2 + len(kinds)
    figure, axes = plt.subplots(
        -(-panels // 2), 2, figsize=(11, 4.2 * -(-panels // 2)), layout="constrained", squeeze=False
    )
    flat = list(axes.ravel())
    _draw_targets(
        flat[0], [row for rows in sections.values() for row in rows if row.met is not None and row.unit == "×"]
    )
    for letter, (sizes, seconds) in lines.items():
        flat[1].loglog(sizes, seconds, "o-", label=f"in {letter}")
    flat[1].set(title="transform: growth", xlabel="n, D or d", ylabel="seconds")
    if lines:
        flat[1].legend(frameon=False)
    for axis, (data, kernel) in zip(flat[2:], kinds, strict=False):
        for method in dict.fromkeys(p["method"] for p in points):
            curve = [p for p in points if (p["data"], p["kernel"], p["method"]) == (data, kernel, method)]
            if curve:
                style = "o-" if method.startswith("krein") else "s--" if method.startswith("Nyström") else ".:"
                axis.loglog(
                    [p["fit"] + p["transform"] for p in curve], [p["error"] for p in curve], style, label=method
                )
        axis.set(title=f"{data}, {kernel}", xlabel="seconds, fit + transform of all rows", ylabel="relative error")
        axis.legend(frameon=False, fontsize="small")
    for axis in flat[panels:]:
        axis.set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _draw_targets(axis: Any, rows: list[Row]) -> None:
    rows = [row for row in rows if row.at_least is None or row.at_most is None][:16]
    for height, row in enumerate(reversed(rows)):
        color = "tab:green" if row.met else "tab:red"
        low, high = row.low or row.value, row.high or row.value
        axis.errorbar(row.value, height, xerr=[[row.value - low], [high - row.value]], fmt="o", color=color)
        axis.plot(row.at_least or row.at_most, height, "|", color="black", markersize=12)
    axis.set_yticks(range(len(rows)), [row.name for row in reversed(rows)], fontsize="small")
    axis.set(title="ratios; the bar is the target", xlabel="×", xscale="log")
