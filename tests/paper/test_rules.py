"""The rules of the verdicts: each is applied as it is written, and none changes without being noticed."""

from __future__ import annotations

import hashlib

import pytest

from krein.paper import ARMS, EXPERIMENTS, RULES
from krein.paper.claims import contest, fights_of
from krein.paper.methods import METHODS, PUBLISHED, RIVALS
from krein.paper.plan import Run
from krein.paper.records import Record
from krein.paper.rules import BY_NAME, CHOSEN, CODE, LITERAL
from krein.paper.settings import DELTA, SPHERE
from krein.paper.standings import least

# Of the table as it was before the published run. A change of it is a change of what was promised: publish a new run with it.
FROZEN = "9a26dd0f977e78c6"


def test_the_rules_are_those_of_the_published_run():
    assert hashlib.sha256(repr(RULES).encode()).hexdigest()[:16] == FROZEN


def test_every_rule_decides_one_claim_of_its_experiment():
    found = {(one.name, claim.rule.name) for one in EXPERIMENTS for claim in one.claims}
    assert found == {(rule.experiment, rule.name) for rule in RULES}


def test_rules_name_methods_that_are_run():
    methods = {one.name: {*one.methods, CHOSEN} for one in EXPERIMENTS}
    for rule in RULES:
        if rule.name == "mass":
            continue
        for ours, rivals in zip(rule.ours, rule.rivals, strict=True):
            assert ours is None or ours in methods[rule.experiment]
            if set(rivals) not in (set(PUBLISHED), set(RIVALS)):
                assert ours is None or set(rivals) & methods[rule.experiment]


def test_the_paper_compares_with_methods_as_published():
    assert {one.name for one in METHODS if one.published} == {
        *("srf_published", "srf_published_plus", "digmm_published", "nystroem_leverage"),
        *("rm_published", "ts_published", "trp_published"),
    }


def record(method: str, columns: int, error: float, seed: int = 0, kernel: str = DELTA, exact: float = 0.0) -> Record:
    run = Run("figure2", "letter", kernel, method, columns, columns, seed)
    return Record(run, {"error": error, "off_diagonal": exact or error}, {"fit": error, "transform": error})


def test_pairs_are_compared_with_pairs_and_columns_with_columns():
    """The literal arm with 8 pairs is 32 columns; SRF as published has one column a pair."""
    some = [record("literal", 8, 0.9), record("literal", 32, 0.1), *(record("srf_published", n, 0.5) for n in (8, 32))]
    (fight,) = fights_of(BY_NAME["mixtures"], 0, LITERAL, some)
    assert (fight.size, fight.factor) == (8, pytest.approx(5.0))
    found = contest(BY_NAME["mixtures"])(some)
    assert found is not None
    assert (found.rulings["literal"].won, found.rulings["literal"].cells) == (1, 1)


def test_the_public_code_is_judged_by_its_own_error():
    some = [record("code", 32, 0.9, exact=0.1), record("rm_published", 8, 0.5, kernel=SPHERE)]
    some[0] = record("code", 32, 0.9, kernel=SPHERE, exact=0.1)
    (fight,) = fights_of(BY_NAME["sketches"], 1, CODE, some)
    assert fight.won


def test_a_cell_without_all_its_rivals_is_no_cell():
    some = [record("literal", 32, 0.1), record("literal", 64, 0.1)]
    some += [record("srf_published", n, 0.5) for n in (8, 16)] + [record("digmm_published", 8, 0.5)]
    assert [one.size for one in fights_of(BY_NAME["mixtures"], 0, LITERAL, some)] == [8]


def test_most_is_more_than_half_and_all_is_all():
    most, every = BY_NAME["lowest"], BY_NAME["first"]
    assert [most.enough(won, 4) for won in (1, 2, 3)] == [False, False, True]
    assert [every.enough(won, 4) for won in (3, 4)] == [False, True]
    assert BY_NAME["level"].enough(3, 4)


def test_of_times_the_least_counts():
    """A second program that slows two of three runs of a method down turns no verdict."""
    calm = [record("literal", 32, 1.0, seed) for seed in range(3)]
    busy = [record("code", 32, seconds, seed) for seed, seconds in enumerate((9.0, 1.1, 7.0))]
    stats = least([*calm, *busy], lambda one: one.seconds["transform"])
    assert sorted(stat.mean for stat in stats.values()) == [1.0, 1.1]


def test_every_arm_says_what_it_is():
    assert [arm.name for arm in ARMS] == ["literal", "code", "corrected"]
    assert all(arm.about.count(".") > 1 for arm in ARMS)
