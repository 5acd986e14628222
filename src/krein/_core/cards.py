"""What an object shows in a notebook: a card of HTML with a title, facts, a small picture and a table.

Text is escaped, there are no scripts and nothing is loaded. Ink is that of the text around the card, so that it reads on light and
dark pages; the two colors of the signs read on both, and are brighter where the reader asked for dark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

__all__ = ["POSITIVE", "NEGATIVE", "card", "card_table"]

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

_BEST = ' class="krein-best"'


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
