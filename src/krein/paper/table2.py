"""Table 2: time to generate the features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krein.kernels import parse_kernel
from krein.paper.claims import Claim, Finding, ruled
from krein.paper.data import rows_of
from krein.paper.experiment import Experiment, Outcome, Sizes
from krein.paper.figures import time_panels
from krein.paper.measurements import features_of, relative_errors, timed, warm_up
from krein.paper.methods import method_of
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.result_tables import search_table, time_table
from krein.paper.rules import ARMS, BY_NAME
from krein.paper.settings import COMPARED, DELTA, SPHERE
from krein.paper.standings import compare, counted, least, seconds_to_generate

__all__ = ["TABLE2"]

_BLOCK = 20_000  # rows mapped at a time: a whole matrix of features may not fit in memory
_CHECKED = 300  # test rows whose kernel matrix is compared, as a check


def _measure(run: Run) -> Outcome:
    """Time to make the feature matrix of the training rows; the error on some test rows beside it, as a check."""
    rows = rows_of(run)
    warm_up(run.method, run.kernel, run.dataset)
    features, fit = timed(lambda: features_of(run).fit(rows.X_train))

    def map_rows() -> None:
        for first in range(0, rows.X_train.shape[0], _BLOCK):
            features.transform(rows.X_train[first : first + _BLOCK])

    _, transform = timed(map_rows)
    seconds = {"fit": fit, "transform": transform}
    search = method_of(run.method).search
    if search is not None:
        seconds["search"] = timed(lambda: search(parse_kernel(run.kernel), rows.X_train))[1]
    checked = rows.X_test[:_CHECKED]
    errors = relative_errors(features.approximate(checked), run, checked)
    return {**errors, "rows": rows.X_train.shape[0]}, seconds


def _a_little_slower(records: Sequence[Record]) -> Finding | None:
    rule = BY_NAME["time"]
    assert rule.ratio is not None
    low, high = rule.ratio
    rulings = {}
    for arm, ours, rivals in zip(ARMS, rule.ours, rule.rivals, strict=True):
        if ours is None:
            continue
        same = counted(records, arm.count)
        mapping = compare(least(same, lambda one: one.seconds["transform"]), ours, rivals)
        whole = compare(least(same, seconds_to_generate), ours, rivals)
        if mapping:
            ratios = [1 / one.factor for one in mapping]
            ratio, total = float(np.median(ratios)), float(np.median([1 / one.factor for one in whole]))
            inside = sum(low <= one <= high for one in ratios)
            words = f"{ratio:.2g} times SRF's time to map the rows (median), {total:.2g} times with fitting."
            rulings[arm.name] = ruled(low <= ratio <= high, words, won=inside, cells=len(ratios))
    search = [one.seconds["search"] for one in records if "search" in one.seconds]
    words = (
        f"SRF's search for ten Gaussians beforehand, not counted, takes {min(search):.2g} to {max(search):.2g} s here; the paper "
        "reports 10 to 20 s."
        if search
        else ""
    )
    return Finding(rulings, words) if rulings else None


TABLE2 = Experiment(
    "table2",
    "Table 2: time to generate the features, on one thread",
    "Seconds to fit a map and to map the training rows with it, one run at a time and every method on one thread: all rows of "
    "letter and ijcnn1, as in the paper, and 50,000 of the larger sets. Processor time, the least of the runs, which take turns. "
    "What a map searches for before it sees rows is kept by the process and not counted; SRF's search is timed apart.",
    measure=_measure,
    kernels=(DELTA, SPHERE),
    methods=COMPARED,
    quick=Sizes((2, 8, 32), 1, 0, 300),
    full=Sizes((2, 8, 32), 3, 50_000, 300),
    figures=time_panels,
    tables=lambda records, width: [time_table(records, width), search_table(records)],
    claims=(Claim(BY_NAME["time"], _a_little_slower),),
    timed=True,
)
