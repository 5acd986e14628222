"""A claim and the verdict that records give on it; nothing is decided before the runs are done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from krein.paper.methods import MAPPING_RIVALS, MOST_ACCURATE, RIVALS
from krein.paper.records import Record
from krein.paper.standings import Comparison, compare, means, written_factor

__all__ = [
    "Claim",
    "Finding",
    "Status",
    "Verdict",
    "all_won",
    "decided",
    "lowest_error",
    "median_ratio",
    "mostly_won",
    "tally",
    "verdict_on",
]

Status = Literal["confirmed", "not confirmed", "not testable"]


@dataclass(frozen=True)
class Finding:
    """What the records say about a claim.

    Parameters
    ----------
    printed, library : str or None
        A verdict for the method as printed, and one for this library's; None where the question does not arise.
    words : str
        What was measured.
    """

    printed: Status | None
    library: Status | None
    words: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, or of this library, and the test that decides it.

    Parameters
    ----------
    text : str
    test : callable
        Records of the experiment to a finding; None if the runs it needs are not among them.
    paper : bool, default=True
        Whether the paper claims it.
    """

    text: str
    test: Callable[[Sequence[Record]], Finding | None]
    paper: bool = True


@dataclass(frozen=True)
class Verdict:
    """A claim with its finding.

    Parameters
    ----------
    experiment : str
        Name of the experiment that tests it.
    claim : Claim
    finding : Finding
    """

    experiment: str
    claim: Claim
    finding: Finding


def verdict_on(claim: Claim, experiment: str, records: Sequence[Record]) -> Verdict:
    """Decide a claim."""
    finding = claim.test(records) if records else None
    if finding is None:
        words = f"The runs that it needs are not in these results; krein reproduce {experiment} does them."
        finding = Finding("not testable", "not testable", words)
    return Verdict(experiment, claim, finding)


def decided(holds: bool) -> Status:
    """A truth value as a verdict."""
    return "confirmed" if holds else "not confirmed"


def mostly_won(fights: Sequence[Comparison]) -> Status:
    """Whether most comparisons are won."""
    return decided(2 * sum(one.won for one in fights) > len(fights)) if fights else "not testable"


def all_won(fights: Sequence[Comparison]) -> Status:
    """Whether all comparisons are won."""
    return decided(all(one.won for one in fights)) if fights else "not testable"


def tally(fights: Sequence[Comparison], *, factors: bool = True) -> str:
    """How many are won, such as "5 of 6 cases (best rival's error over its own: 0.8 to 12)"."""
    text = f"{sum(one.won for one in fights)} of {len(fights)} cases"
    if factors and fights:
        low, high = min(one.factor for one in fights), max(one.factor for one in fights)
        text += f" (best rival's error over its own: {written_factor(low)} to {written_factor(high)})"
    return text


def median_ratio(fights: Sequence[Comparison]) -> float:
    """Ours over theirs, median of all comparisons where less is better."""
    return float(np.median([1 / one.factor for one in fights]))


def lowest_error(records: Sequence[Record]) -> Finding | None:
    """Whether the error is the lowest of all methods in most cases; the test of Figures 2 and 5."""
    stats = means(records, "error")
    printed, default, best = (compare(stats, name, RIVALS) for name in ("printed", "default", MOST_ACCURATE))
    if not (printed or default or best):
        return None
    maps = compare(stats, "default", MAPPING_RIVALS)
    words = (
        "Lowest error of all methods, Nyström with any choice of landmarks included: as printed in "
        f"{tally(printed)}; this library's most accurate map (projected), which the verdict is about, in {tally(best)}; its "
        f"default in {tally(default)}. Against the methods that map a row without landmarks the default is lowest in {tally(maps)}."
    )
    return Finding(mostly_won(printed), mostly_won(best), words)
