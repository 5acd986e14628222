"""Figure 7, beyond the paper: what an error or an accuracy costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from krein.paper.data import Rows, rows_of
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.figures import ERROR_LABEL, method_line, points_of
from krein.paper.measurements import features_of, relative_errors, timed, warm_up
from krein.paper.methods import ridge_classifier
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.result_tables import error_table, width_table
from krein.paper.settings import DELTA
from krein.paper.standings import means
from krein.show.figure import FLOOR, Panel
from krein.show.table import Table

__all__ = ["FIGURE7"]

_CHECKED = 1000  # test rows whose kernel matrix gives the error


def _measure(run: Run) -> Outcome:
    """Error, accuracy of a ridge classifier, and the whole time from rows to predictions."""
    rows = rows_of(run)
    warm_up(run.method, run.kernel, run.dataset)
    (learner, guess), total = timed(lambda: _learn_and_predict(run, rows))
    checked = rows.X_test[:_CHECKED]
    Z = learner.features_(checked)
    errors = relative_errors((Z * learner.features_.signature) @ Z.T, run, checked)
    return {"accuracy": float(np.mean(guess == rows.y_test)), **errors}, {"total": total}


def _learn_and_predict(run: Run, rows: Rows) -> tuple[Any, np.ndarray]:
    learner = ridge_classifier(features_of(run), run.seed).fit(rows.X_train, rows.y_train)
    return learner, learner.predict(rows.X_test)


def _total(record: Record) -> float:
    return record.seconds["total"]


def _figures(records: Sequence[Record], width: str) -> list[Panel]:
    return [
        *_against_time(records, "error", ERROR_LABEL, ylog=True),
        *_against_time(records, "accuracy", "test accuracy", ylog=False),
    ]


def _against_time(records: Sequence[Record], result: str, ylabel: str, *, ylog: bool) -> list[Panel]:
    times, stats = means(records, _total), means(records, result)
    xlabel = "seconds from rows to predictions, one thread"
    return [
        Panel(
            f"{dataset}, {kernel}",
            xlabel,
            ylabel,
            tuple(
                method_line(method, [times[p].mean for p in points], [max(stats[p].mean, FLOOR) for p in points])
                for method, points in points_of(stats, dataset, kernel)
            ),
            xlog=True,
            ylog=ylog,
        )
        for dataset, kernel in dict.fromkeys((point.dataset, point.kernel) for point in stats)
    ]


def _tables(records: Sequence[Record], width: str) -> list[Table]:
    return [
        error_table(records, width),
        width_table("Test accuracy in percent", records, "accuracy", width, larger=True),
        width_table("Seconds from rows to predictions, on one thread", records, _total, width),
    ]


FIGURE7 = Experiment(
    "figure7",
    "Figure 7: what an error or an accuracy costs, on one thread",
    "The whole time from rows to predictions with a ridge classifier, one run at a time and on one thread, against error and "
    "accuracy. This is the fair comparison with Nyström, which needs fewer columns and more time for each.",
    measure=_measure,
    kernels=(DELTA,),
    methods=("unbiased", "default", "projected", "srf", "srf_plus", "nystroem"),
    quick=Sizes((2, 8, 32), 1, 5000, 3000),
    full=Sizes((2, 8, 32), 3, 50_000, 20_000),
    figures=_figures,
    tables=_tables,
    timed=True,
    beyond=True,
)
