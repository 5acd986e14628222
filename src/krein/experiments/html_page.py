"""The report of the paper as one page: verdicts, then a section for each experiment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from krein.experiments.claims import Verdict
from krein.experiments.experiment import Experiment
from krein.experiments.page import document, figures_html, table_html
from krein.experiments.text_table import Table

__all__ = ["Section", "html_page"]


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
    body = (
        "".join(f"<p>{escape(text)}</p>" for text in introduction)
        + f"<nav>{links}</nav>"
        + f'<h2 id="verdicts">Verdicts</h2><p class="soft">Computed from the records of these runs. &ldquo;As printed&rdquo; is '
        f'the paper&rsquo;s method; &ldquo;library&rdquo; is what krein does by default.</p><div class="claims">{paper}</div>'
        f'<p class="soft">And what this library claims of itself:</p><div class="claims">{own}</div>'
        + table_html(methods, prose=True)
        + "".join(_section(one) for one in sections)
    )
    heading = "Learning in Kreĭn spaces with signed measures: the paper, checked"
    return document("krein: the paper, checked", heading, body)


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
    mark = ' <span class="soft">(beyond the paper)</span>' if experiment.beyond else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in one.notes)
    return (
        f'<section id="{experiment.name}"><h2>{escape(experiment.title)}{mark}</h2><p>{escape(experiment.about)}</p>'
        f'<p class="soft">{escape(one.state)}</p>'
        + figures_html(one.figures)
        + "".join(table_html(table) for table in one.tables)
        + (f"<details><summary>Warnings given by the runs</summary><ul>{notes}</ul></details>" if notes else "")
        + f"<pre>{escape(one.command)}</pre></section>\n"
    )
