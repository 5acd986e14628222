"""Figure 4: ways to sample the printed measure."""

from __future__ import annotations

from collections.abc import Sequence

from krein.paper.claims import Claim, Finding, decided, median_ratio, mostly_won, tally
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels, time_panels
from krein.paper.measurements import timed_kernel_error
from krein.paper.records import Record
from krein.paper.result_tables import error_table, time_table
from krein.paper.settings import SPHERE
from krein.paper.standings import Comparison, compare, means, seconds_to_generate

__all__ = ["FIGURE4"]


def _against_plain(records: Sequence[Record], scheme: str) -> tuple[list[Comparison], float] | None:
    """A scheme against 10,000 points: errors compared, and the median ratio of times."""
    lower = compare(means(records, "error"), scheme, ("r10000",))
    times = compare(means(records, seconds_to_generate), scheme, ("r10000",))
    return (lower, median_ratio(times)) if lower else None


def _orthogonal(records: Sequence[Record]) -> Finding | None:
    found = _against_plain(records, "orthogonal")
    if found is None:
        return None
    lower, ratio = found
    better = mostly_won(lower) == "confirmed"
    words = (
        f"Lower error than 10,000 points in {tally(lower)}; its time is {ratio:.2g} times theirs (median). "
        f"Lower error: {'yes' if better else 'no'}; more time: {'yes' if ratio > 1 else 'no'}."
    )
    return Finding(decided(better and ratio > 1), None, words)


def _importance(records: Sequence[Record]) -> Finding | None:
    found = _against_plain(records, "importance")
    if found is None:
        return None
    lower, ratio = found
    words = (
        f"With a Gaussian surrogate of matching scale: lower error than 10,000 points in {tally(lower)}; "
        f"its time is {ratio:.2g} times theirs (median)."
    )
    return Finding(decided(mostly_won(lower) == "confirmed" and ratio < 1), None, words)


FIGURE4 = Experiment(
    "figure4",
    "Figure 4: sampling schemes; times on one thread",
    "The printed measure (cut at r = 10, or at 5) sampled in the five ways of the paper, and for comparison the least-mass "
    "measure of this library with unbiased weights. Errors on unseen rows; seconds to fit and to map those rows, one run at a "
    "time and on one thread.",
    measure=timed_kernel_error,
    kernels=(SPHERE,),
    methods=("r10000", "r1000", "r5", "importance", "orthogonal", "unbiased"),
    quick=Sizes((2, 8, 32), 2, 4000, 1000),
    full=Sizes((2, 8, 32), 10, 10_000, 1000),
    figures=lambda records, width: error_panels(records, width) + time_panels(records, width),
    tables=lambda records, width: [error_table(records, width), time_table(records, width)],
    claims=(
        Claim("Orthogonal sampling lowers the error and takes more time.", _orthogonal),
        Claim("Importance sampling takes less time, with a slightly lower error.", _importance),
    ),
    timed=True,
)
