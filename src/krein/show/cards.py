"""What an object shows in a notebook: a card of HTML with a title, facts, a table and a small picture in SVG.

Text is escaped, there are no scripts and nothing is loaded. Ink is that of the text around the card, so that it reads on light and
dark pages; the two colors of the signs read on both, and are brighter where the reader asked for dark.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Literal

import numpy as np

__all__ = [
    "text_card",
    "POSITIVE",
    "NEGATIVE",
    "card",
    "card_table",
    "Mark",
    "curve",
    "sketch",
    "stems",
    "visible_reach",
]

POSITIVE, NEGATIVE = ("#0072B2", "#2E93CC"), ("#D55E00", "#E0701A")  # on light and on dark

_STYLE = f"""<style>
.krein-card {{ --krein-positive: {POSITIVE[0]}; --krein-negative: {NEGATIVE[0]}; color: inherit; max-width: 60rem;
  font: 13px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; margin: .3rem 0; overflow-x: auto; }}
@media (prefers-color-scheme: dark) {{
  .krein-card {{ --krein-positive: {POSITIVE[1]}; --krein-negative: {NEGATIVE[1]}; }} }}
.krein-card .krein-title {{ font-weight: 600; overflow-wrap: anywhere; }}
.krein-card .krein-body {{ display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: flex-start; }}
.krein-card .krein-body > table {{ flex: 0 1 auto; }}
.krein-card table {{ border-collapse: collapse; border: 0; margin: .2rem 0; width: auto; background: none; color: inherit; }}
.krein-card tr {{ background: none !important; }} /* notebooks stripe rows and align to the right */
.krein-card th, .krein-card td {{ text-align: left !important; vertical-align: top; padding: .12rem .9rem .12rem 0; border: 0;
  background: none; color: inherit; font-variant-numeric: tabular-nums; max-width: 34rem; }}
.krein-card th {{ font-weight: 500; opacity: .75; white-space: nowrap; }}
.krein-card td.krein-best {{ font-weight: 700; }}
.krein-card svg {{ flex: 0 1 300px; max-width: 100%; height: auto; }}
.krein-card svg text {{ fill: currentColor; font: 10px system-ui, sans-serif; opacity: .8; }}
.krein-card svg line, .krein-card svg polyline {{ fill: none; stroke: currentColor; stroke-width: 1.5; }}
.krein-card svg .krein-axis {{ stroke-width: .7; opacity: .5; }}
.krein-card svg .krein-positive {{ stroke: var(--krein-positive); }}
.krein-card svg .krein-negative {{ stroke: var(--krein-negative); }}
</style>"""

_TEXT_WIDTH, _MOST_NAME = 80, 30  # characters of a line, and of the names at its beginning
_BEST = ' class="krein-best"'


def text_card(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """The same in a terminal: a line of at most 80 characters for each name, its value wrapped beside it.

    Examples
    --------
    >>> print(text_card("title", [("name", "some words"), ("", "more")]))
    title
      name  some words
            more
    """
    rows = list(facts)
    width = min(_MOST_NAME, max((len(name) for name, _ in rows), default=0))
    lines = [title]
    for name, value in rows:
        start, place = f"  {name:<{width}}  ", " " * (width + 4)
        if len(start) > len(place):  # a long name has a line of its own
            lines.append(start.rstrip())
            start = place
        lines += wrap(
            value,
            _TEXT_WIDTH,
            initial_indent=start,
            subsequent_indent=place,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [start.rstrip()]
    return "\n".join(lines)


def card(title: str, facts: Iterable[tuple[str, str]] = (), *, drawing: str = "", table: str = "") -> str:
    """HTML of one object.

    Examples
    --------
    >>> "&lt;b&gt;" in card("<b>", [("mass", "1")])
    True
    """
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in facts)
    listed = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    body = f'<div class="krein-body">{listed}{drawing}</div>' if listed or drawing else ""
    return f'<div class="krein-card">{_STYLE}<div class="krein-title">{escape(title)}</div>{body}{table}</div>'


def card_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, best: Collection[tuple[int, int]] = (), more: str = ""
) -> str:
    """A table inside a card."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
    body = "".join(
        "<tr>"
        + "".join(f"<td{_BEST if (i, j) in best else ''}>{escape(text)}</td>" for j, text in enumerate(row))
        + "</tr>"
        for i, row in enumerate(rows)
    )
    note = f"<div>{escape(more)}</div>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


_WIDTH, _HEIGHT = 300.0, 120.0  # of the picture, in units of its viewBox
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 8.0, 8.0, 20.0  # margins, for the numbers

Color = Literal["ink", "positive", "negative"]


@dataclass(frozen=True, eq=False)
class Mark:
    """Points of one color, joined or standing on zero."""

    x: np.ndarray
    y: np.ndarray
    color: Color
    joined: bool


def curve(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, color: Color = "ink") -> Mark:
    """A line through points; those that are not finite are left out."""
    return _mark(x, y, color, joined=True)


def stems(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, color: Color = "ink") -> Mark:
    """Points that stand on zero."""
    return _mark(x, y, color, joined=False)


def sketch(marks: Iterable[Mark], label: str, xlabel: str, *, xlog: bool = False) -> str:
    """A small picture with the ends of its axes written beside it.

    Examples
    --------
    >>> text = sketch([curve([0.0, 1.0], [1.0, 0.5])], "a line", "z")
    >>> text.count("<polyline"), text.count("<svg")
    (1, 1)
    """
    shown = [mark for mark in (_on_axis(mark, xlog) for mark in marks) if mark.x.size]
    if not shown:
        return ""
    x_low, x_high = _range([mark.x for mark in shown])
    y_low, y_high = _range([np.append(mark.y, 0.0) for mark in shown])
    across = (_WIDTH - _LEFT - _RIGHT) / (x_high - x_low)
    down = (_HEIGHT - _TOP - _BOTTOM) / (y_high - y_low)
    zero = _TOP + y_high * down
    parts = [_line(_LEFT, zero, _WIDTH - _RIGHT, zero, "krein-axis")]
    for mark in shown:
        points = [
            (_LEFT + (x - x_low) * across, _TOP + (y_high - y) * down) for x, y in zip(mark.x, mark.y, strict=True)
        ]
        if mark.joined:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline class="krein-{mark.color}" points="{path}"/>')
        else:
            parts += [_line(x, zero, x, y, f"krein-{mark.color}") for x, y in points]
    ends = (10.0**x_low, 10.0**x_high) if xlog else (x_low, x_high)
    floor = _HEIGHT - 6.0
    parts += [
        _text(_LEFT, floor, "start", f"{ends[0]:.3g}"),
        _text(_WIDTH - _RIGHT, floor, "end", f"{ends[1]:.3g}"),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, floor, "middle", xlabel),
        _text(_LEFT - 4.0, _TOP + 8.0, "end", f"{y_high:.3g}"),
    ]
    if y_low < 0.0:
        parts.append(_text(_LEFT - 4.0, _HEIGHT - _BOTTOM, "end", f"{y_low:.3g}"))
    size = f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"'
    return f'<svg role="img" aria-label="{escape(label, quote=True)}" {size}>{"".join(parts)}</svg>'


def _mark(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, color: Color, *, joined: bool) -> Mark:
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    seen = np.isfinite(across) & np.isfinite(up)
    return Mark(across[seen], up[seen], color, joined)


def _on_axis(mark: Mark, xlog: bool) -> Mark:
    if not xlog:
        return mark
    seen = mark.x > 0.0
    return Mark(np.log10(mark.x[seen]), mark.y[seen], mark.color, mark.joined)


def _range(values: list[np.ndarray]) -> tuple[float, float]:
    """The least and the largest, apart from each other."""
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def visible_reach(radial: Callable[[np.ndarray], np.ndarray]) -> float:
    """Where a kernel has fallen to a few percent of its largest value."""
    z = np.geomspace(1e-3, 1e4, 1401)
    size = np.abs(radial(z))
    seen = np.flatnonzero(size > 0.03 * size.max())
    return float(z[min(seen[-1] + 1, z.size - 1)]) if seen.size else 1.0
