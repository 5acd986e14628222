"""Panels of lines, drawn as SVG that takes its ink from the page it stands on, so that it reads in light and dark."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from krein.show.style import Look, dress, look_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FLOOR", "Line", "Panel", "draw_svg", "inline_svg"]

FLOOR = 1e-7  # relative errors below are drawn here: exact but for rounding
_WIDE, _TALL, _LEGEND_ROW = 5.2, 3.5, 0.19  # inches
_LEGEND_COLUMNS = 2
_MOST_TICKS = 8  # more widths than these would have their labels run together
_INK = look_of("auto").ink  # what becomes the color of the page's text


@dataclass(frozen=True)
class Line:
    """Points of one method.

    Parameters
    ----------
    label : str
    x, y : tuple of float
    deviation : tuple of float, default=()
        Half the height of the band around the line.
    color, marker, dash : str
        ``"ink"`` is the color of the text.
    stems : bool, default=False
        Whether the points stand on the axis and are not joined.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    deviation: tuple[float, ...] = ()
    color: str = "ink"
    marker: str = ""
    dash: str = "-"
    stems: bool = False


@dataclass(frozen=True)
class Panel:
    """One picture: axes and lines.

    Parameters
    ----------
    title, xlabel, ylabel : str
    lines : tuple of Line
    xlog, ylog : bool, default=False
        Whether the axis is logarithmic.
    """

    title: str
    xlabel: str
    ylabel: str
    lines: tuple[Line, ...]
    xlog: bool = False
    ylog: bool = False


def draw_svg(panel: Panel) -> str:
    """A panel as an SVG document with a transparent page and gray ink; the same bytes for the same panel."""
    import matplotlib

    look = look_of("auto")
    rows = -(-len(panel.lines) // _LEGEND_COLUMNS) if len(panel.lines) > 1 else 0
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": panel.title, "font.size": 9}):
        figure = new_figure(_WIDE, _TALL + _LEGEND_ROW * rows)
        axes = figure.subplots()
        dress(axes, look, xlabel=panel.xlabel, ylabel=panel.ylabel, title=panel.title)
        _scales(axes, panel)
        for line in panel.lines:
            _line(axes, line, look, log=panel.ylog)
        if rows:
            figure.legend(
                loc="outside lower left", ncols=_LEGEND_COLUMNS, frameon=False, labelcolor=look.ink, fontsize=8
            )
        file = io.StringIO()
        figure.savefig(file, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def inline_svg(svg: str, name: str, label: str) -> str:
    """An SVG document made part of a page: scaled to its width, inked by ``currentColor``, its ids its own.

    Examples
    --------
    >>> inline_svg('<?xml?><svg width="5pt" height="4pt" viewBox="0 0 5 4"><g id="a" style="fill: #767676"/></svg>', "f", "Fig")
    '<svg role="img" aria-label="Fig" viewBox="0 0 5 4"><g id="f-a" style="fill: currentColor"/></svg>'
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace(_INK, "currentColor")
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label, quote=True)}"', 1).strip()


def _scales(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullFormatter, NullLocator

    if panel.xlog:
        axes.set_xscale("log")
        ticks = sorted({x for line in panel.lines for x in line.x if np.isfinite(x)})
        if len(ticks) <= _MOST_TICKS and all(float(x).is_integer() for x in ticks):
            axes.xaxis.set_major_locator(FixedLocator(ticks))
            axes.xaxis.set_major_formatter(FormatStrFormatter("%d"))
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.xaxis.set_minor_formatter(NullFormatter())
    if panel.ylog:
        axes.set_yscale("log")


def _line(axes: Axes, line: Line, look: Look, *, log: bool) -> None:
    color = look.ink if line.color == "ink" else line.color
    x, y = np.array(line.x), np.array(line.y)
    if line.stems:
        axes.axhline(0.0, color=look.ink, linewidth=0.8)
        axes.vlines(x, 0.0, y, color=color, linewidth=1.8)
        axes.plot(x, y, line.marker or "o", color=color, markersize=5, linestyle="none", label=line.label)
        return
    axes.plot(
        x,
        y,
        color=color,
        marker=line.marker or None,
        markersize=5,
        linestyle=line.dash,
        linewidth=2.0 if line.dash == "-" else 1.3,
        label=line.label,
    )
    if any(line.deviation):
        deviation = np.array(line.deviation)
        low = np.maximum(y - deviation, np.maximum(FLOOR, y / 10)) if log else y - deviation
        axes.fill_between(x, low, y + deviation, color=color, alpha=0.18, linewidth=0)
