"""A claim and the verdict that records give on it, for each arm; nothing is decided before the runs are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from krein.paper.records import Record
from krein.paper.rules import ARMS, Arm, Rule
from krein.paper.standings import Comparison, compare, counted, means, written_factor

__all__ = ["Claim", "Finding", "Ruling", "Status", "Verdict", "contest", "fights_of", "ruled", "verdict_on"]

Status = Literal["confirmed", "not confirmed", "not testable"]


@dataclass(frozen=True)
class Ruling:
    """A verdict for one arm, and of how many cells.

    Parameters
    ----------
    status : {"confirmed", "not confirmed", "not testable"}
    won, cells : int, default=0
    words : str, default=""
        What was measured.
    """

    status: Status
    won: int = 0
    cells: int = 0
    words: str = ""


@dataclass(frozen=True)
class Finding:
    """What the records say about a claim.

    Parameters
    ----------
    rulings : mapping of str to Ruling
        By the name of the arm; an arm that the claim is not about is left out.
    words : str, default=""
        What else was measured.
    """

    rulings: Mapping[str, Ruling] = field(default_factory=dict)
    words: str = ""

    def status(self, arm: str) -> Status | None:
        """The verdict for an arm, None where the claim is not about it."""
        return self.rulings[arm].status if arm in self.rulings else None

    @property
    def told(self) -> str:
        """All that was measured, arm by arm."""
        labels = {arm.name: arm.label for arm in ARMS}
        parts = [f"{labels[name].capitalize()}: {one.words}" for name, one in self.rulings.items() if one.words]
        return " ".join([*parts, *([self.words] if self.words else [])])


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, or of this library, and the test that decides it.

    Parameters
    ----------
    rule : Rule
    test : callable
        Records of the experiment to a finding; None if the runs it needs are not among them.
    """

    rule: Rule
    test: Callable[[Sequence[Record]], Finding | None]

    @property
    def text(self) -> str:
        """The sentence."""
        return self.rule.claim

    @property
    def paper(self) -> bool:
        """Whether the paper claims it."""
        return self.rule.paper


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
    asked = [arm.name for arm, ours in zip(ARMS, claim.rule.ours, strict=True) if ours is not None]
    finding = claim.test(records) if records else None
    if finding is None or not finding.rulings:
        words = f"The runs that it needs are not in these results; krein reproduce {experiment} does them."
        finding = Finding({name: Ruling("not testable") for name in asked}, words)
    missing = {name: Ruling("not testable", words="no cells.") for name in asked if name not in finding.rulings}
    rulings = {name: {**missing, **finding.rulings}[name] for name in asked}
    return Verdict(experiment, claim, Finding(rulings, finding.words))


def ruled(holds: bool, words: str, *, won: int | None = None, cells: int = 1) -> Ruling:
    """A truth value as a verdict; of one cell unless the numbers are given."""
    return Ruling("confirmed" if holds else "not confirmed", int(holds) if won is None else won, cells, words)


def contest(
    rule: Rule, prepare: Callable[[Sequence[Record]], Sequence[Record]] = lambda records: records
) -> Callable[[Sequence[Record]], Finding | None]:
    """The test of a rule that compares means in cells."""

    def test(records: Sequence[Record]) -> Finding | None:
        prepared = prepare(records)
        rulings = {}
        for place, arm in enumerate(ARMS):
            fights = fights_of(rule, place, arm, prepared)
            if fights:
                won = sum(one.clear if rule.clear else one.won for one in fights)
                words = _tally(rule, won, fights) + _with_as_many_columns(rule, place, arm, prepared)
                rulings[arm.name] = ruled(rule.enough(won, len(fights)), words, won=won, cells=len(fights))
        return Finding(rulings) if rulings else None

    return test


def _with_as_many_columns(rule: Rule, place: int, arm: Arm, records: Sequence[Record]) -> str:
    """What comes out where a pair of four columns is not compared with one column."""
    if arm.count == "columns":
        return ""
    fights = fights_of(rule, place, replace(arm, count="columns"), records)
    won = sum(one.clear if rule.clear else one.won for one in fights)
    return f" With as many columns: {won} of {len(fights)}."


def fights_of(rule: Rule, place: int, arm: Arm, records: Sequence[Record]) -> list[Comparison]:
    """The cells of an arm: its method against the best rival, wherever every rival that can do the kernel has runs."""
    ours, rivals = rule.ours[place], rule.rivals[place]
    result = arm.accuracy if rule.result == "accuracy" else arm.error
    if ours is None:
        return []
    some = [
        one
        for one in records
        if one.run.method in (ours, *rivals)
        and (not rule.kernels or one.run.kernel in rule.kernels)
        and one.run.dataset not in rule.without
        and result in one.results
    ]
    stats = means(counted(some, arm.count), result)
    present: dict[tuple[str, str], set[str]] = {}
    for point in stats:
        present.setdefault((point.dataset, point.kernel), set()).add(point.method)
    return [
        one
        for one in compare(stats, ours, rivals, larger=rule.result == "accuracy")
        if one.rivals == len(present[one.dataset, one.kernel] & set(rivals))
    ]


def _tally(rule: Rule, won: int, fights: Sequence[Comparison]) -> str:
    """How many are won, and by how much."""
    text = f"won {won} of {len(fights)} cells"
    if rule.result == "accuracy":
        lead = float(np.mean([one.ours.mean - one.theirs.mean for one in fights]))
        return f"{text}, on average {100 * lead:+.1f} points from the best rival."
    low, high = min(one.factor for one in fights), max(one.factor for one in fights)
    return f"{text} (best rival's error over its own: {written_factor(low)} to {written_factor(high)})."
