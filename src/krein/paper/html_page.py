"""The report of the paper as one page: a summary of the verdicts, then pictures, verdicts and numbers of each experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from krein.paper.claims import Status, Verdict
from krein.paper.experiment import Experiment
from krein.show.page import document, figures_html, table_html
from krein.show.table import Table

__all__ = ["Section", "html_page"]

_MARKS = {"confirmed": "✓", "not confirmed": "✗", "not testable": "?"}


@dataclass(frozen=True)
class Section:
    """One experiment in the report.

    Parameters
    ----------
    experiment : Experiment
    state : str
        Runs done, rows used.
    command : str
        The command that repeats it.
    versions : str
        Versions of the packages.
    figures : tuple of str
        SVG elements, ready for the page.
    tables : tuple of Table
    notes : tuple of str, default=()
        Warnings the runs gave.
    """

    experiment: Experiment
    state: str
    command: str
    versions: str
    figures: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def html_page(
    sections: Sequence[Section], verdicts: Sequence[Verdict], introduction: Sequence[str], methods: Table
) -> str:
    """The whole document."""
    links = "".join(
        f'<a href="#{one.experiment.name}">{escape(one.experiment.title.partition(":")[0])}</a>' for one in sections
    )
    names = {one.experiment.name for one in sections}
    of_paper = [one for one in verdicts if one.claim.paper]
    own = [one for one in verdicts if not one.claim.paper]
    what, *how = (f"<p>{escape(text)}</p>" for text in introduction)
    body = (
        what
        + f'<p class="score">{_score(of_paper)}</p>'
        + _summary("The paper’s claim", of_paper, names)
        + (_summary("Claims of this library", own, names) if own else "")
        + '<p class="soft">✓ confirmed, ✗ not confirmed, ? not testable with these runs; empty: not applicable. “As printed” is '
        "the paper’s method, “this library” is what krein does. Each claim links to its figures and measurements.</p>"
        + f"<nav>{links}</nav>"
        + "".join(_section(one, [v for v in verdicts if v.experiment == one.experiment.name]) for one in sections)
        + '<h2 id="how">How this page was made</h2>'
        + "".join(how)
        + table_html(methods, prose=True)
    )
    heading = "Learning in Kreĭn spaces with signed measures: the paper, checked"
    return document("krein: the paper, checked", heading, body)


def _score(verdicts: Sequence[Verdict]) -> str:
    """How many claims hold, in one line."""
    counts = []
    for words, status in (
        ("as printed", [one.finding.printed for one in verdicts]),
        ("with this library", [one.finding.library for one in verdicts]),
    ):
        asked = [one for one in status if one is not None]
        held = sum(one == "confirmed" for one in asked)
        counts.append(f"<b>{held} of {len(asked)}</b> hold {words}")
    return f"Of the paper’s claims {counts[0]}, {counts[1]}."


def _summary(title: str, verdicts: Sequence[Verdict], names: Collection[str]) -> str:
    """A row for each claim: what is claimed, and two marks."""
    rows = "".join(
        f"<tr><td>{_linked(one, names)}</td><td>{_mark(one.finding.printed)}</td><td>{_mark(one.finding.library)}</td></tr>"
        for one in verdicts
    )
    return (
        f'<table class="summary"><thead><tr><th scope="col">{escape(title)}</th><th scope="col">as printed</th>'
        f'<th scope="col">this library</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _linked(one: Verdict, names: Collection[str]) -> str:
    text = escape(one.claim.text)
    return f'<a href="#{one.experiment}">{text}</a>' if one.experiment in names else text


def _mark(status: Status | None) -> str:
    if status is None:
        return ""
    return f'<span class="{status.replace(" ", "-")}">{_MARKS[status]}<i> {status}</i></span>'


def _verdict(one: Verdict) -> str:
    chips = "".join(
        f'<li class="{status.replace(" ", "-")}">{who}: {status}</li>'
        for who, status in (("as printed", one.finding.printed), ("this library", one.finding.library))
        if status is not None
    )
    return (
        f'<div class="claim"><b>{escape(one.claim.text)}</b><ul class="chips">{chips}</ul>'
        f"<p>{escape(one.finding.words)}</p></div>"
    )


def _section(one: Section, verdicts: Sequence[Verdict]) -> str:
    experiment = one.experiment
    mark = ' <span class="soft">(beyond the paper)</span>' if experiment.beyond else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in one.notes)
    tables = "".join(table_html(table) for table in one.tables)
    claims = "".join(map(_verdict, verdicts))
    return (
        f'<section id="{experiment.name}"><h2>{escape(experiment.title)}{mark}</h2><p>{escape(experiment.about)}</p>'
        + figures_html(one.figures)
        + (f'<div class="claims">{claims}</div>' if claims else "")
        + (f"<details><summary>The numbers</summary>{tables}</details>" if tables else "")
        + (f"<details><summary>Warnings given by the runs</summary><ul>{notes}</ul></details>" if notes else "")
        + f'<p class="soft">{escape(one.state)} {escape(one.versions)}</p>'
        + f"<pre>{escape(one.command)}</pre></section>\n"
    )
