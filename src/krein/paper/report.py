"""The report of a folder of results: sections, figures and tables from its records, written as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from krein._core.files import write_whole
from krein.paper.catalog import known_experiments
from krein.paper.claims import Verdict, verdict_on
from krein.paper.costs import cost_table
from krein.paper.data import DIMENSIONS, SCALING
from krein.paper.experiment import Experiment
from krein.paper.html_page import Section, html_page
from krein.paper.plan import Plan
from krein.paper.records import Record
from krein.paper.result_tables import methods_table
from krein.show.figure import draw_svg, inline_svg

__all__ = ["WIDTHS", "command_for", "judge", "records_by_experiment", "write_report"]

WIDTHS = {"columns": "output columns", "pairs": "pairs s, as the paper counts"}  # what an axis of widths counts


def records_by_experiment(plan: Plan, finished: Mapping[str, Record]) -> dict[str, list[Record]]:
    """Records of this mode, counting and seed, from every data set there is."""
    wide = replace(plan, datasets=tuple(DIMENSIONS))
    return {
        experiment.name: [finished[run.key] for run in wide.runs(experiment) if run.key in finished]
        for experiment in known_experiments()
    }


def judge(records: Mapping[str, Sequence[Record]]) -> list[Verdict]:
    """Every claim with its verdict, from the records of its experiment."""
    return [
        verdict_on(claim, experiment.name, records.get(experiment.name, ()))
        for experiment in known_experiments()
        for claim in experiment.claims
    ]


def write_report(out: Path, plan: Plan, finished: Mapping[str, Record]) -> tuple[Path, list[Verdict]]:
    """Write ``index.html``, the figures and the tables."""
    records = records_by_experiment(plan, finished)
    verdicts = judge(records)
    sections = [_section(one, records[one.name], plan, out) for one in known_experiments() if records[one.name]]
    everything = [record for some in records.values() for record in some]
    methods = methods_table({record.run.method for record in everything})
    path = out / "index.html"
    write_whole(path, html_page(sections, verdicts, _introduction(plan, everything), (methods, cost_table(records))))
    return path, verdicts


def command_for(name: str, plan: Plan, out: Path) -> str:
    """The command that runs an experiment."""
    words = ["krein reproduce", name, *(f"--datasets {one}" for one in plan.datasets), f"--{plan.mode}", f"--out {out}"]
    if plan.count != "columns":
        words.append(f"--count {plan.count}")
    if plan.seed:
        words.append(f"--seed {plan.seed}")
    if plan.seeds is not None:
        words.append(f"--seeds {plan.seeds}")
    if plan.rows is not None:
        words.append(f"--rows {plan.rows}")
    return " ".join(words)


def _section(experiment: Experiment, records: Sequence[Record], plan: Plan, out: Path) -> Section:
    width = WIDTHS[plan.count]
    here = replace(plan, datasets=tuple({record.run.dataset for record in records}))
    tables = experiment.tables(records, width)
    for number, table in enumerate(tables, start=1):
        _write(out / "tables" / f"{experiment.name}-{number}.csv", table.to_csv())
    return Section(
        experiment,
        _state(experiment, records, here),
        command_for(experiment.name, here, out),
        _versions(records),
        tuple(_draw_figures(experiment, records, width, out)),
        tuple(tables),
        tuple(sorted({note for one in records for note in one.notes})),
    )


def _draw_figures(experiment: Experiment, records: Sequence[Record], width: str, out: Path) -> list[str]:
    """Write each panel as a file; the same for the page."""
    found = []
    for number, panel in enumerate(experiment.figures(records, width), start=1):
        name, svg = f"{experiment.name}-{number}", draw_svg(panel)
        _write(out / "figures" / f"{name}.svg", svg)
        found.append(inline_svg(svg, name, f"{experiment.title}; {panel.title}: {panel.ylabel}"))
    return found


def _state(experiment: Experiment, records: Sequence[Record], plan: Plan) -> str:
    text = f"{len(records):,} of {len(plan.runs(experiment)):,} runs done."
    sizes = plan.sizes(experiment)
    if sizes.test_rows:
        drawn = f"{sizes.train_rows:,} training rows drawn at random" if sizes.train_rows else "all training rows"
        text += f" {sizes.repeats} run(s) per point; fitted on {drawn}, tested on {sizes.test_rows:,} rows."
    if experiment.timed:
        text += f" Timed runs are done one at a time. {_threads(records)}"
    return text


def _threads(records: Sequence[Record]) -> str:
    """How many threads the runs had, as they found it themselves."""
    most = max((record.threads for record in records), default=1)
    return "One thread per run." if most == 1 else f"Up to {most} threads per run."


def _introduction(plan: Plan, records: Sequence[Record]) -> list[str]:
    widths = (
        "Widths are output columns, so that every method gets the same."
        if plan.count == "columns"
        else "Widths are counted in pairs, as in the paper: a pair is 4 columns for signed features, 1 for the others as "
        "published; of today's editions SRF has 2 and DIGMM 4."
    )
    return [
        "Every figure and table of “Fast Learning in Reproducing Kernel Kreĭn Spaces via Signed Measures”, computed anew, with a "
        "verdict on each claim.",
        f"Mode: {plan.mode}. Data: {SCALING}. {widths} {_threads(records)} {len(records):,} runs. {_versions(records)}",
    ]


def _versions(records: Sequence[Record]) -> str:
    """Versions of the packages that computed the records; several lists if a folder was filled by several environments."""
    found = dict.fromkeys(", ".join(f"{name} {number}" for name, number in one.versions.items()) for one in records)
    return f"Computed with {'; and '.join(found)}." if found else ""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
