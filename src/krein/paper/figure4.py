"""Figure 4: ways to sample the measure, for each arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krein.paper.claims import Claim, Finding, ruled
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import scheme_panels
from krein.paper.measurements import timed_kernel_error
from krein.paper.records import Record
from krein.paper.result_tables import error_table, time_table
from krein.paper.rules import ARMS, BY_NAME, Rule
from krein.paper.settings import SPHERE
from krein.paper.standings import compare, least, means, seconds_to_generate

__all__ = ["FIGURE4"]


def _against_plain(name: str) -> Claim:
    """A scheme against the plain one of its arm: errors compared, and the median ratio of the least times."""
    rule: Rule = BY_NAME[name]
    assert rule.ratio is not None
    low, high = rule.ratio

    def test(records: Sequence[Record]) -> Finding | None:
        rulings = {}
        for arm, ours, plain in zip(ARMS, rule.ours, rule.rivals, strict=True):
            if ours is None:
                continue
            errors = compare(means(records, arm.error), ours, plain)
            times = compare(least(records, seconds_to_generate), ours, plain)
            if errors:
                won = sum(one.factor > 1 for one in errors)
                ratio = float(np.median([1 / one.factor for one in times]))
                words = f"lower error in {won} of {len(errors)} cells, {ratio:.2g} times the time."
                rulings[arm.name] = ruled(
                    rule.enough(won, len(errors)) and low < ratio < high, words, won=won, cells=len(errors)
                )
        return Finding(rulings) if rulings else None

    return Claim(rule, test)


FIGURE4 = Experiment(
    "figure4",
    "Figure 4: sampling schemes; times on one thread",
    "The measure of each arm sampled in the ways of the paper. Literal: rejection from 10,000 points of [−10, 10], from 1,000, "
    "from "
    "[−5, 5], where the negative part of p = 2 is zero in sixteen dimensions, importance sampling with a Gaussian of the same "
    "second "
    "moment, orthogonal directions. Public code: independent and orthogonal directions. Corrected: the same two with unbiased "
    "weights. "
    "Errors on unseen rows; seconds to fit and to map those rows, one run at a time and on one thread, the least of the runs, "
    "which take turns.",
    measure=timed_kernel_error,
    kernels=(SPHERE,),
    methods=(
        *("literal", "literal_fewer", "literal_nearer", "literal_importance", "literal_orthogonal"),
        *("code", "code_orthogonal", "independent", "orthogonal"),
    ),
    quick=Sizes((2, 8, 32), 2, 4000, 1000),
    full=Sizes((2, 8, 32), 10, 10_000, 1000),
    figures=scheme_panels,
    tables=lambda records, width: [error_table(records, width), time_table(records, width)],
    claims=(_against_plain("orthogonal"), _against_plain("importance")),
    timed=True,
)
