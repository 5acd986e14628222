"""The report as one page of HTML that needs nothing else: no scripts, no network, light and dark, phone and desk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from krein.experiments.claims import Verdict
from krein.experiments.experiment import Experiment
from krein.experiments.result_tables import Table

__all__ = ["Section", "html_page"]

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
.claims { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.claim { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; min-width: 0; }
.claim p { margin: .35rem 0; font-size: .92rem; } .claim b { display: block; line-height: 1.35; }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; margin: .45rem 0; padding: 0; list-style: none; font-size: .82rem; }
.chips li { border: 1px solid currentColor; border-radius: 1rem; padding: .05rem .6rem; font-weight: 600; }
.confirmed { color: var(--good); } .not-confirmed { color: var(--bad); } .not-testable { color: var(--open); }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); margin: 1rem 0; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .4rem; min-width: 0; }
svg { display: block; width: 100%; height: auto; color: var(--ink); }
.scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; width: 100%; }
caption { text-align: left; padding: .5rem .7rem; font-weight: 600; } td b { color: var(--good); }
th, td { text-align: left; padding: .25rem .7rem; border-top: 1px solid var(--line); white-space: nowrap; }
table.prose td { white-space: normal; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem;
  font-size: .86rem; } summary { cursor: pointer; color: var(--accent); } details { margin: .6rem 0; }
"""


@dataclass(frozen=True)
class Section:
    """One experiment in the report.

    Parameters
    ----------
    experiment : Experiment
    state : str
        Runs done, rows used.
    command : str
        How to get it again.
    figures : tuple of str
        SVG elements, ready for the page.
    tables : tuple of Table
    notes : tuple of str, default=()
        Warnings the runs gave.
    """

    experiment: Experiment
    state: str
    command: str
    figures: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def html_page(
    sections: Sequence[Section], verdicts: Sequence[Verdict], introduction: Sequence[str], methods: Table
) -> str:
    """The whole document.

    Parameters
    ----------
    sections : sequence of Section
    verdicts : sequence of Verdict
    introduction : sequence of str
        Paragraphs.
    methods : Table
        What each method looks at.

    Returns
    -------
    str
    """
    links = "".join(
        f'<a href="#{one.experiment.name}">{escape(one.experiment.title.partition(":")[0])}</a>' for one in sections
    )
    names = {one.experiment.name for one in sections}
    paper = "".join(_verdict(one, names) for one in verdicts if one.claim.paper)
    own = "".join(_verdict(one, names) for one in verdicts if not one.claim.paper)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>krein: the paper, checked</title><style>{_CSS}</style></head>\n<body><main>'
        "<h1>Learning in Kreĭn spaces with signed measures: the paper, checked</h1>"
        + "".join(f"<p>{escape(text)}</p>" for text in introduction)
        + f"<nav>{links}</nav>"
        + f'<h2 id="verdicts">Verdicts</h2><p class="soft">Computed from the records of these runs. &ldquo;As printed&rdquo; is '
        f'the paper&rsquo;s method; &ldquo;library&rdquo; is what krein does by default.</p><div class="claims">{paper}</div>'
        f'<p class="soft">And what this library claims of itself:</p><div class="claims">{own}</div>'
        + _table(methods, prose=True)
        + "".join(_section(one) for one in sections)
        + "</main></body></html>\n"
    )


def _verdict(one: Verdict, names: Collection[str]) -> str:
    chips = "".join(
        f'<li class="{status.replace(" ", "-")}">{who}: {status}</li>'
        for who, status in (("as printed", one.finding.printed), ("library", one.finding.library))
        if status is not None
    )
    link = f'<a href="#{one.experiment}">{one.experiment}</a>' if one.experiment in names else one.experiment
    return (
        f'<div class="claim"><b>{escape(one.claim.text)}</b><ul class="chips">{chips}</ul>'
        f'<p>{escape(one.finding.words)}</p><p class="soft">{link}</p></div>'
    )


def _section(one: Section) -> str:
    experiment = one.experiment
    figures = "".join(f"<figure>{svg}</figure>" for svg in one.figures)
    mark = ' <span class="soft">(beyond the paper)</span>' if experiment.beyond else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in one.notes)
    return (
        f'<section id="{experiment.name}"><h2>{escape(experiment.title)}{mark}</h2><p>{escape(experiment.about)}</p>'
        f'<p class="soft">{escape(one.state)}</p>'
        + (f'<div class="figures">{figures}</div>' if figures else "")
        + "".join(_table(table) for table in one.tables)
        + (f"<details><summary>Warnings given by the runs</summary><ul>{notes}</ul></details>" if notes else "")
        + f"<pre>{escape(one.command)}</pre></section>\n"
    )


def _table(table: Table, *, prose: bool = False) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.header)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{f'<b>{escape(text)}</b>' if (i, j) in table.best else escape(text)}</td>"
            for j, text in enumerate(row)
        )
        + "</tr>"
        for i, row in enumerate(table.rows)
    )
    kind = ' class="prose"' if prose else ""
    return (
        f'<div class="scroll" tabindex="0"><table{kind}><caption>{escape(table.caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
