"""The report of an output folder: sections, figures and tables from its records, written as files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from krein.experiments.catalog import Experiment, Plan, known_experiments
from krein.experiments.claims import Claim, Finding, judge
from krein.experiments.data import DIMENSIONS, SCALING
from krein.experiments.drawing import draw, inline
from krein.experiments.page import Section, page
from krein.experiments.panels import panels_of
from krein.experiments.records import Record
from krein.experiments.sheets import methods_sheet, sheets_of

__all__ = ["WIDTHS", "command_for", "planned", "write_report"]

WIDTHS = {"columns": "output columns", "pairs": "pairs s, as the paper counts"}


def planned(plan: Plan, finished: Mapping[str, Record]) -> dict[str, list[Record]]:
    """Records of this mode, counting and seed, by experiment, from every data set there is."""
    wide = replace(plan, datasets=tuple(DIMENSIONS))
    return {
        experiment.name: [finished[run.key] for run in wide.runs(experiment) if run.key in finished]
        for experiment in known_experiments(())
    }


def write_report(out: Path, plan: Plan, finished: Mapping[str, Record]) -> tuple[Path, list[tuple[Claim, Finding]]]:
    """Write ``index.html``, the figures and the tables.

    Parameters
    ----------
    out : path
        An existing folder.
    plan : Plan
        Records of its mode, counting and seed are shown, also those of earlier commands.
    finished : mapping of str to Record

    Returns
    -------
    path of index.html, and the verdicts in it
    """
    records = planned(plan, finished)
    verdicts = judge(records)
    sections = [_section(one, records[one.name], plan, out) for one in known_experiments(()) if records[one.name]]
    used = {record.run.method for some in records.values() for record in some}
    everything = [record for some in records.values() for record in some]
    path = out / "index.html"
    _write(path, page(sections, verdicts, _intro(plan, everything), methods_sheet(sorted(used))))
    return path, verdicts


def command_for(name: str, plan: Plan, out: Path) -> str:
    """The command that makes an experiment."""
    words = ["krein reproduce", name, *(f"--datasets {one}" for one in plan.datasets), f"--{plan.mode}", f"--out {out}"]
    if plan.count != "columns":
        words.append(f"--count {plan.count}")
    if plan.seed:
        words.append(f"--seed {plan.seed}")
    return " ".join(words)


def _section(experiment: Experiment, records: Sequence[Record], plan: Plan, out: Path) -> Section:
    width = WIDTHS[plan.count]
    present = tuple(name for name in DIMENSIONS if any(one.run.dataset == name for one in records))
    here = replace(plan, datasets=present)
    figures = []
    for number, panel in enumerate(panels_of(experiment.name, records, width), start=1):
        svg = draw(panel)
        _write(out / "figures" / f"{experiment.name}-{number}.svg", svg)
        figures.append(inline(svg, f"{experiment.name}-{number}", f"{experiment.title}; {panel.title}: {panel.ylabel}"))
    sheets = sheets_of(experiment.name, records, width)
    for number, sheet in enumerate(sheets, start=1):
        _write(out / "tables" / f"{experiment.name}-{number}.csv", sheet.to_csv())
    notes = sorted({note for one in records for note in one.notes})
    return Section(
        experiment.name,
        experiment.title,
        experiment.about,
        _state(experiment, records, here),
        command_for(experiment.name, here, out),
        tuple(figures),
        tuple(sheets),
        tuple(notes),
        experiment.beyond,
    )


def _state(experiment: Experiment, records: Sequence[Record], plan: Plan) -> str:
    total = len(plan.runs(experiment))
    text = f"{len(records):,} of {total:,} runs done."
    sizes = experiment.sizes(plan.mode)
    if sizes.test_rows:
        drawn = f"{sizes.train_rows:,} training rows drawn at random" if sizes.train_rows else "all training rows"
        text += f" {sizes.repeats} run(s) per point; fitted on {drawn}, judged on {sizes.test_rows:,} test rows."
    if sizes.repeats > 1 and "projected" in experiment.methods:
        text += " Projected features, which cost most, have a third of the runs and at most 600 columns."
    return text + (" Timed runs are done one at a time." if experiment.timed else "")


def _intro(plan: Plan, records: Sequence[Record]) -> list[str]:
    versions = records[0].versions if records else {}
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    widths = (
        "Widths are output columns, so that every method gets the same."
        if plan.count == "columns"
        else "Widths are counted in pairs, as in the paper: a pair is 4 columns for signed features, 2 for SRF, 1 for the others."
    )
    return [
        "Every figure and table of “Fast Learning in Reproducing Kernel Kreĭn Spaces via Signed Measures”, computed anew, with a "
        "verdict on each claim.",
        f"Mode: {plan.mode}. Data: {SCALING}. {widths} One thread per run. {len(records):,} runs. {listed}.",
    ]


def _write(path: Path, text: str) -> None:
    """Beside its place, then renamed: a failure leaves the old file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        partial.unlink(missing_ok=True)
