"""What the whole of the paper's experiments would cost, from the times of the runs that were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krein.paper.catalog import known_experiments
from krein.paper.data import DIMENSIONS, TRAINING_ROWS
from krein.paper.plan import Plan, Run
from krein.paper.records import Record
from krein.show.table import Table

__all__ = ["WHOLE", "cost_table"]

WHOLE = Plan("full", tuple(DIMENSIONS), seeds=10, rows=0)  # ten seeds, whole training sets, every data set


def cost_table(records: Mapping[str, Sequence[Record]]) -> Table:
    """Hours of one processor for each experiment and data set that has records.

    Time to learn is taken to grow like the rows, and beyond the widest width all like the columns.
    """
    rows = []
    for experiment in known_experiments():
        done = records.get(experiment.name, ())
        for dataset in dict.fromkeys(one.run.dataset for one in done if one.run.size):
            runs = [run for run in WHOLE.runs(experiment) if run.dataset == dataset]
            seconds = [_seconds(run, done) for run in runs]
            known = [one for one in seconds if one is not None]
            hours = sum(known) / 3600
            entry = f"{hours:.2g}" if hours < 99.5 else f"{hours:.0f}"
            rows.append((experiment.name, dataset, f"{len(known):,} of {len(runs):,}", entry))
    caption = (
        "What ten seeds and whole training sets would cost: hours of one processor to fit, to map and to learn, from the times of "
        "these runs; the kernel matrices that errors are taken from come on top"
    )
    return Table(caption, ("experiment", "data", "runs whose method has a time", "hours"), tuple(rows))


def _seconds(run: Run, records: Sequence[Record]) -> float | None:
    """The time of a run from the nearest width at which its method has records."""
    some = [one for one in records if _line(one.run) == _line(run)]
    if not some:
        return None
    near = min((one.run.columns for one in some), key=lambda columns: abs(columns - run.columns))
    times = [_scaled(one) for one in some if one.run.columns == near]
    return sum(times) / len(times) * max(1.0, run.columns / near)


def _line(run: Run) -> tuple[str, str, str]:
    return run.dataset, run.kernel, run.method


def _scaled(record: Record) -> float:
    """Seconds of a run, as if it had all training rows: learning passes over them, fitting a map does not."""
    rows, all_rows = record.run.train_rows, TRAINING_ROWS[record.run.dataset]
    more = all_rows / min(rows, all_rows) if rows else 1.0
    return sum(
        value * (more if name in ("learn", "total") or "rows" in record.results else 1.0)
        for name, value in record.seconds.items()
        if name != "search"
    )
