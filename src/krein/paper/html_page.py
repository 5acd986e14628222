"""The report of the paper as one page: a summary of the verdicts, then pictures, verdicts and numbers of each experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from krein.paper.claims import Ruling, Verdict
from krein.paper.experiment import Experiment
from krein.paper.rules import ARMS
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
    sections: Sequence[Section], verdicts: Sequence[Verdict], introduction: Sequence[str], ends: Sequence[Table]
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
        + '<p class="soft">✓ confirmed, ✗ not confirmed, ? not testable with these runs; empty: not applicable. Numbers are cells '
        "won, of all cells. Below each claim is its rule, which was written before the runs. Each claim links to its figures and "
        "measurements.</p><ul>"
        + "".join(f"<li><b>{escape(arm.label)}</b>: {escape(arm.about)}</li>" for arm in ARMS)
        + "</ul>"
        + f"<nav>{links}</nav>"
        + "".join(_section(one, [v for v in verdicts if v.experiment == one.experiment.name]) for one in sections)
        + '<h2 id="how">How this page was made</h2>'
        + "".join(how)
        + "".join(table_html(table, prose=True) for table in ends)
    )
    heading = "Learning in Kreĭn spaces with signed measures: the paper, checked"
    return document("krein: the paper, checked", heading, body)


def _score(verdicts: Sequence[Verdict]) -> str:
    """How many claims hold, in one line."""
    counts = []
    for arm in ARMS:
        asked = [status for one in verdicts if (status := one.finding.status(arm.name)) is not None]
        held = sum(one == "confirmed" for one in asked)
        counts.append(f"<b>{held} of {len(asked)}</b> {arm.label}")
    return f"Of the paper’s claims hold: {', '.join(counts)}."


def _summary(title: str, verdicts: Sequence[Verdict], names: Collection[str]) -> str:
    """A row for each claim: what is claimed, and two marks."""
    rows = "".join(
        f"<tr><td>{_linked(one, names)}<br><small>{escape(one.claim.rule.words)}</small></td>"
        + "".join(f"<td>{_mark(one.finding.rulings.get(arm.name))}</td>" for arm in ARMS)
        + "</tr>"
        for one in verdicts
    )
    heads = "".join(f'<th scope="col">{escape(arm.label)}</th>' for arm in ARMS)
    return (
        f'<table class="summary"><thead><tr><th scope="col">{escape(title)}</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _linked(one: Verdict, names: Collection[str]) -> str:
    text = escape(one.claim.text)
    return f'<a href="#{one.experiment}">{text}</a>' if one.experiment in names else text


def _mark(ruling: Ruling | None) -> str:
    if ruling is None:
        return ""
    cells = f" {ruling.won} of {ruling.cells}" if ruling.cells > 1 else ""
    return (
        f'<span class="{ruling.status.replace(" ", "-")}">{_MARKS[ruling.status]}{cells}<i> {ruling.status}</i></span>'
    )


def _verdict(one: Verdict) -> str:
    chips = "".join(
        f'<li class="{status.replace(" ", "-")}">{escape(arm.label)}: {status}</li>'
        for arm in ARMS
        if (status := one.finding.status(arm.name)) is not None
    )
    return (
        f'<div class="claim"><b>{escape(one.claim.text)}</b><ul class="chips">{chips}</ul>'
        f'<p class="soft">{escape(one.claim.rule.words)}</p><p>{escape(one.finding.told)}</p></div>'
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
