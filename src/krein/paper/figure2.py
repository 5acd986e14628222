"""Figure 2: error of the kernel matrix against width."""

from __future__ import annotations

from collections.abc import Sequence

from krein.paper.claims import Claim, Finding, Status, all_won, decided, lowest_error, mostly_won, tally
from krein.paper.experiment import Experiment, Sizes
from krein.paper.figures import error_panels
from krein.paper.measurements import kernel_error
from krein.paper.methods import INDEPENDENT_RIVALS, MAPPING_RIVALS, MOST_ACCURATE, RIVALS
from krein.paper.records import Record
from krein.paper.result_tables import factor_table, factors_and_errors
from krein.paper.settings import COMPARED, DELTA, NEURAL, SPHERE
from krein.paper.standings import compare, means

__all__ = ["FIGURE2"]


def _lowest_on_the_papers_kernels(records: Sequence[Record]) -> Finding | None:
    return lowest_error([one for one in records if one.run.kernel != NEURAL])


def _better_than_positive_mixtures(records: Sequence[Record]) -> Finding | None:
    stats = means([one for one in records if one.run.kernel == DELTA], "error")
    printed, default = (compare(stats, name, ("srf", "digmm")) for name in ("printed", "default"))
    if not (printed or default):
        return None
    clear = [sum(one.clear for one in fights) for fights in (printed, default)]
    zero = all(stat.mean == 1.0 for point, stat in stats.items() if point.method == "srf")
    words = (
        f"Clearly lower (two standard errors) than SRF and DIGMM: as printed in {clear[0]} of {len(printed)} cases, "
        f"default in {clear[1]} of {len(default)}; as printed {tally(printed)}, default {tally(default)}. "
        + ("SRF's nearest positive measure is zero here, so its error is 1." if zero else "")
    )
    status: list[Status] = [
        decided(2 * count > len(fights)) if fights else "not testable"
        for count, fights in zip(clear, (printed, default), strict=True)
    ]
    return Finding(status[0], status[1], words)


def _better_than_sketches(records: Sequence[Record]) -> Finding | None:
    stats = means([one for one in records if one.run.kernel == SPHERE], "error")
    printed, default = (compare(stats, name, ("rm", "ts", "trp")) for name in ("printed", "default"))
    if not (printed or default):
        return None
    words = f"Lower error than the best of RM, TS and TRP: as printed in {tally(printed)}; default in {tally(default)}."
    return Finding(mostly_won(printed), mostly_won(default), words)


def _most_accurate_lowest(records: Sequence[Record]) -> Finding | None:
    fights = compare(means(records, "error"), MOST_ACCURATE, RIVALS)
    lost = [f"{one.dataset} {one.kernel} {one.size:,} ({one.rival})" for one in fights if not one.won]
    words = f"Lowest in {tally(fights)}." + (f" Not on {', '.join(lost)}." if lost else "")
    return Finding(None, all_won(fights), words) if fights else None


def _default_lowest(records: Sequence[Record]) -> Finding | None:
    fights = compare(means(records, "error"), "default", MAPPING_RIVALS)
    words = f"Lowest in {tally(fights)}. It fits its weights on pairs of training rows; see the table of what each method uses."
    return Finding(None, all_won(fights), words) if fights else None


def _unbiased_lowest(records: Sequence[Record]) -> Finding | None:
    fights = compare(means(records, "error"), "unbiased", INDEPENDENT_RIVALS)
    return Finding(None, all_won(fights), f"Lowest in {tally(fights)}.") if fights else None


FIGURE2 = Experiment(
    "figure2",
    "Figure 2: error of the kernel matrix",
    "Relative Frobenius error on 1,000 unseen rows, mean and standard deviation over the runs: the paper's two kernels, and beyond "
    "it the neural tangent kernel and Nyström by every rule for landmarks.",
    measure=kernel_error,
    kernels=(DELTA, SPHERE, NEURAL),
    methods=COMPARED,
    quick=Sizes((2, 8, 32), 2, 4000, 1000),
    full=Sizes((2, 4, 8, 16, 32), 10, 10_000, 1000),
    figures=error_panels,
    tables=factors_and_errors,
    summary=factor_table,
    claims=(
        Claim("Our method has lower error than the other algorithms in most cases.", _lowest_on_the_papers_kernels),
        Claim(
            "For the Delta-Gaussian kernel it is significantly better than SRF and DIGMM.",
            _better_than_positive_mixtures,
        ),
        Claim("For the polynomial kernel it still performs well against RM, TS and TRP.", _better_than_sketches),
        Claim(
            "The most accurate map has the lowest error of all methods, Nyström with any choice of landmarks included, at every "
            "width.",
            _most_accurate_lowest,
            paper=False,
        ),
        Claim(
            "The default has the lowest error of all methods without landmarks, at every width.",
            _default_lowest,
            paper=False,
        ),
        Claim(
            "Unbiased weights have the lowest error of all methods independent of the data, at every width.",
            _unbiased_lowest,
            paper=False,
        ),
    ),
)
