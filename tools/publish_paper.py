"""Makes the guide's page of a full reproduction: ``python tools/publish_paper.py results --seed 100 --seeds 5 --rows 4000``.

Figures, tables and verdicts go to docs/guide/paper, the records to benchmarks/paper, in compressed pieces below a megabyte.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import platform
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from krein.paper import ARMS, TASKS, Experiment, Plan, Record, RecordFile, Verdict, judge, known_experiments
from krein.paper.costs import cost_table
from krein.paper.report import WIDTHS, command_for, records_by_experiment
from krein.show.figure import draw_svg
from krein.show.table import Table

TOP = Path(__file__).resolve().parents[1]
PAGE, RECORDS = TOP / "docs" / "guide" / "paper", TOP / "benchmarks" / "paper"
PIECE = 6_000  # records in a file
WHOLE_SETS = ("table2",)  # run with the rows of --full, whatever --rows says


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    for name in ("seed", "seeds", "rows"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--demo", type=Path, required=True, help="folder of krein demo")
    asked = parser.parse_args()
    plan = Plan("full", tuple(TASKS), seed=asked.seed, seeds=asked.seeds, rows=asked.rows)
    finished = RecordFile(asked.out / "records.jsonl").read()
    plans = {one.name: replace(plan, rows=None if one.name in WHOLE_SETS else plan.rows) for one in known_experiments()}
    records = {name: records_by_experiment(own, finished)[name] for name, own in plans.items()}
    for folder in (PAGE, RECORDS):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    sections = [_section(one, records[one.name], plans[one.name]) for one in known_experiments() if records[one.name]]
    demo = records_by_experiment(
        Plan(datasets=("letter", "letter_binary")), RecordFile(asked.demo / "records.jsonl").read()
    )
    for prefix, some in (("", judge(records)), ("demo-", judge(demo))):
        _write_verdicts(prefix, some)
    _table("costs", cost_table(records))
    used = [record for some in records.values() for record in some]
    (PAGE / "run.inc").write_text("\n".join([_machine(used), *sections]), encoding="utf-8")
    _write_records("records", used)
    _write_records("demo", [record for some in demo.values() for record in some])


def _section(experiment: Experiment, records: Sequence[Record], plan: Plan) -> str:
    """A part of the page: what was run, its figures, its tables."""
    here = replace(plan, datasets=tuple(dict.fromkeys(one.run.dataset for one in records)))
    planned = len(here.runs(experiment))
    width = WIDTHS[plan.count]
    lines = [experiment.title, "~" * len(experiment.title), "", experiment.about, ""]
    lines += [f"{here.described(experiment)}. {_done(records)} {len(records):,} of {planned:,} runs.", ""]
    lines += [".. code-block:: console", "", f"    $ {command_for(experiment.name, here, Path('results'))}", ""]
    for number, panel in enumerate(experiment.figures(records, width), start=1):
        name = f"{experiment.name}-{number}.svg"
        (PAGE / name).write_text(draw_svg(panel), encoding="utf-8")
        lines += [f".. image:: paper/{name}", f"   :alt: {panel.title}: {panel.ylabel}", "   :width: 49%", ""]
    for number, table in enumerate(experiment.tables(records, width), start=1):
        _table(f"{experiment.name}-{number}", table)
        lines += [*_csv(f"{experiment.name}-{number}", table.caption), ""]
    return "\n".join(lines)


def _done(records: Sequence[Record]) -> str:
    """Seeds of each data set."""
    seeds: dict[str, set[int]] = {}
    for one in records:
        seeds.setdefault(one.run.dataset, set()).add(one.run.seed)
    drawn = {name: some for name, some in seeds.items() if some != {0}}
    told = ", ".join(f"{name} {min(some)} to {max(some)}" for name, some in drawn.items())
    return f"Seeds: {told}." if told else ""


def _write_verdicts(prefix: str, verdicts: Sequence[Verdict]) -> None:
    header = ("claim", "rule", *(arm.label for arm in ARMS))
    for name, some in (
        ("verdicts", [v for v in verdicts if v.claim.paper]),
        ("own", [v for v in verdicts if not v.claim.paper]),
    ):
        rows = []
        words = []
        for one in some:
            told = []
            for arm in ARMS:
                ruling = one.finding.rulings.get(arm.name)
                cells = f" ({ruling.won} of {ruling.cells})" if ruling and ruling.cells > 1 else ""
                told.append(f"{ruling.status}{cells}" if ruling else "")
            rows.append((one.claim.text, one.claim.rule.words, *told))
            words += [f"*{one.claim.text}* {one.finding.told}", ""]
        _table(prefix + name, Table("", header, tuple(rows)))
        (PAGE / f"{prefix}{name}.inc").write_text("\n".join(words), encoding="utf-8")


def _machine(records: Sequence[Record]) -> str:
    kind = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    versions = dict.fromkeys(", ".join(f"{k} {v}" for k, v in one.versions.items()) for one in records)
    days = sorted({one.started[:10] for one in records})
    return (
        f"{len(records):,} runs on {' and '.join(days)}, on one processor of a machine ({kind}) on which other programs were "
        f"running. "
        f"Computed with {'; and '.join(versions)}.\n"
    )


def _table(name: str, table: Table) -> None:
    (PAGE / f"{name}.csv").write_text(table.to_csv(), encoding="utf-8")


def _csv(name: str, caption: str) -> list[str]:
    return [f".. csv-table:: {caption}", f"   :file: {name}.csv", "   :header-rows: 1"]


def _write_records(name: str, records: Sequence[Record]) -> None:
    lines = [json.dumps(one.as_dict(), sort_keys=True) for one in records]
    for number, first in enumerate(range(0, len(lines), PIECE), start=1):
        text = "\n".join(lines[first : first + PIECE]) + "\n"
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
            file.write(text.encode())
        (RECORDS / f"{name}-{number}.jsonl.gz").write_bytes(packed.getvalue())


if __name__ == "__main__":
    main()
