"""What the whole would cost: times of runs, times the rows, the seeds and the widths that they leave out."""

from __future__ import annotations

import pytest

from krein.paper.costs import WHOLE, cost_table
from krein.paper.data import DIMENSIONS, TRAINING_ROWS, prepare
from krein.paper.figure5 import FIGURE5
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.settings import ORDERS


def test_training_rows_are_those_of_the_data():
    assert TRAINING_ROWS.keys() == DIMENSIONS.keys()
    for name in ("letter", "letter_binary"):
        assert prepare(name).X_train.shape[0] == TRAINING_ROWS[name]


def test_hours_are_seconds_by_rows_seeds_and_widths():
    """A minute at 8 d is four at 32 d, ten times each; where it is spent on learning, three times that for 12,000 rows."""
    run = Run("figure5", "letter", ORDERS[0], "srf", 128, 128, 0, train_rows=4000, test_rows=1000)
    planned = [run for run in WHOLE.runs(FIGURE5) if run.dataset == "letter"]
    for what, times in (("fit", 1), ("learn", 3)):
        table = cost_table({"figure5": [Record(run, {"error": 1.0}, {what: 60.0, "search": 9.0})]})
        ((name, data, done, hours),) = table.rows
        assert (name, data, done) == ("figure5", "letter", f"30 of {len(planned):,}")
        assert float(hours) == pytest.approx(times * 10 * (1 + 1 + 4) / 60, rel=0.05)
