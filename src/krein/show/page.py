"""A page of HTML that needs nothing else: no scripts, no network, light and dark, phone and desk."""

from __future__ import annotations

from html import escape

from krein.show.table import Table

__all__ = ["document", "figures_html", "table_html"]

_MOST_COLUMNS = 7  # that stand side by side on a desk; more are set smaller, and their cells broken

_CSS = """
:root { color-scheme: light dark; --ink: #1b1d20; --soft: #5c6470; --page: #fcfcfa; --card: #ffffff; --line: #dfe2e6;
  --good: #0b6b4a; --bad: #b03a00; --open: #5c6470; --accent: #00588a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e8ea; --soft: #a3abb6; --page: #131416; --card: #1b1d20;
  --line: #34383d; --good: #4fc79a; --bad: #ff9a62; --open: #a3abb6; --accent: #6fb7e6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 3rem 0 .3rem; padding-top: .8rem; border-top: 1px solid var(--line); }
p { max-width: 46rem; overflow-wrap: anywhere; } .soft { color: var(--soft); font-size: .92rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem .9rem; font-size: .92rem; } a { color: var(--accent); }
.score { font-size: 1.15rem; max-width: none; } .score b { font-size: 1.5rem; }
table.summary { margin: .8rem 0; font-size: .95rem; border-bottom: 1px solid var(--line); }
table.summary th, table.summary td { white-space: normal; padding: .28rem .6rem .28rem 0; vertical-align: top; }
table.summary th + th, table.summary td + td { width: 9.5rem; white-space: nowrap; }
table.summary a { color: inherit; text-decoration-color: var(--line); } table.summary i { font-style: normal; }
table.summary span { font-weight: 600; }
.claims { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.claim { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; min-width: 0; }
.claim p { margin: .35rem 0; font-size: .92rem; } .claim b { display: block; line-height: 1.35; }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; margin: .45rem 0; padding: 0; list-style: none; font-size: .82rem; }
.chips li { border: 1px solid currentColor; border-radius: 1rem; padding: .05rem .6rem; font-weight: 600; }
.confirmed { color: var(--good); } .not-confirmed { color: var(--bad); } .not-testable { color: var(--open); }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); margin: 1rem 0; }
.figures:has(> :only-child) { max-width: 40rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .4rem; min-width: 0; }
svg { display: block; width: 100%; height: auto; color: var(--ink); }
.scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; width: 100%; }
caption { text-align: left; padding: .5rem .7rem; font-weight: 600; } td b { color: var(--good); }
caption span { display: inline-block; position: sticky; left: .7rem; max-width: min(100%, calc(100vw - 4rem)); }
th, td { text-align: left; padding: .25rem .7rem; border-top: 1px solid var(--line); white-space: nowrap; }
th, table.prose td { white-space: normal; }
table.dense { font-size: .74rem; } table.dense th, table.dense td { padding: .2rem .3rem; vertical-align: top; }
table.dense td:nth-child(2) { white-space: normal; }
@media (max-width: 40rem) { table.summary th + th, table.summary td + td { width: 4.2rem; white-space: normal; }
  table.summary i { position: absolute; left: -99rem; } table.summary span { font-size: 1.15rem; }
  th, td { padding: .25rem .45rem; } }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem;
  font-size: .86rem; } summary { cursor: pointer; color: var(--accent); } details { margin: .6rem 0; }
"""


def document(title: str, heading: str, body: str) -> str:
    """A whole document."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{_CSS}</style></head>\n<body><main>'
        f"<h1>{escape(heading)}</h1>{body}</main></body></html>\n"
    )


def figures_html(drawings: tuple[str, ...]) -> str:
    """Pictures side by side, as many as fit."""
    inside = "".join(f"<figure>{svg}</figure>" for svg in drawings)
    return f'<div class="figures">{inside}</div>' if inside else ""


def table_html(table: Table, *, prose: bool = False) -> str:
    """A table that fits a desk, and scrolls by itself where the page is narrower."""
    dense = not prose and len(table.header) > _MOST_COLUMNS

    def cell(text: str) -> str:
        return escape(text).replace(" ± ", "<br>± ") if dense else escape(text)

    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.header)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{f'<b>{cell(text)}</b>' if (i, j) in table.best else cell(text)}</td>" for j, text in enumerate(row)
        )
        + "</tr>"
        for i, row in enumerate(table.rows)
    )
    kind = ' class="prose"' if prose else ' class="dense"' if dense else ""
    return (
        f'<div class="scroll" tabindex="0"><table{kind}><caption><span>{escape(table.caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
