"""Columns that other processes evaluate while landmarks are sought: the same values, errors and counts, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from krein import KreinNystroem, SimilarityCache
from krein._core.errors import SimilarityError
from krein._core.processes import Results
from krein.similarities import Effort, as_objects, evaluation
from krein.similarities.calls import Called
from krein.similarities.columns import CalledColumns
from krein.similarities.evaluation import Evaluation
from krein.similarities.object_kernel import FunctionKernel

PLACES = list(range(6000))
MAP = {"n_components": 40, "random_state": 0}


def near(a, b):
    return 1.0 / (1.0 + abs(a - b))


def near_blocks(A, B):
    return 1.0 / (1.0 + np.abs(np.subtract.outer(A, B)))


def broken(a, b):
    if 5431 in (a, b):
        raise LookupError("nobody knows")
    return near(a, b)


def towards(a, b):
    return near(a, b) + (1e-3 if a < b else 0.0)


@pytest.fixture
def eager(monkeypatch):
    """Rounds of landmarks are done here, and what is larger elsewhere, however quick it is; what was sent ahead is counted."""
    monkeypatch.setattr(Evaluation, "_pays", lambda self, left: self._processes.count > 1 and left >= 25_000)
    sent = []
    ahead = Evaluation.ahead

    def counted(self, left, right, rows, columns, *, here):
        found = ahead(self, left, right, rows, columns, here=here)
        sent.append(0 if found is None else columns.size)
        return found

    monkeypatch.setattr(Evaluation, "ahead", counted)
    return sent


@pytest.mark.parametrize("function", [near, near_blocks, towards])
@pytest.mark.parametrize("stored", [False, True])
def test_values_landmarks_and_counts_are_those_of_one_process(eager, function, stored):
    options = {"symmetrize": "average"} if function is towards else {}
    one, two = (
        KreinNystroem(function, **MAP, **options, n_jobs=jobs, cache=SimilarityCache() if stored else None)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.fit_transform(PLACES), two.fit_transform(PLACES))
    assert list(one.landmarks_) == list(two.landmarks_)
    assert one.n_evaluations_ == two.n_evaluations_
    # a cache is asked in its turn, a function of sequences is called with the same sequences, and both orders are a matter of two
    assert (sum(eager) >= 10) == (function is near and not stored)


@pytest.mark.parametrize("ready", [False, True])
def test_what_came_back_is_paid_for_once(eager, monkeypatch, ready):
    """So the rounds to come have as many proposals, and the landmarks are the same."""
    monkeypatch.setattr(Results, "ready", ready)  # waited for in every round, or in the end
    two, one = KreinNystroem(near, **MAP, n_jobs=2), KreinNystroem(near, **MAP)
    np.testing.assert_array_equal(two.fit_transform(PLACES), one.fit_transform(PLACES))
    assert two.n_evaluations_ == one.n_evaluations_
    assert np.count_nonzero(eager) == 1 if not ready else np.count_nonzero(eager) > 1


def test_an_error_names_its_pair_and_the_processes_serve_the_next(eager):
    with pytest.raises(
        SimilarityError, match=r"objects (5431 and \d+|\d+ and 5431) could not be computed: LookupError"
    ):
        KreinNystroem(broken, **MAP, n_jobs=2).fit(PLACES)
    assert sum(eager)
    KreinNystroem(near, **MAP, n_jobs=2).fit(PLACES)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files that are open are counted as Linux lists them")
def test_an_error_here_gives_up_what_is_under_way(eager, monkeypatch):
    KreinNystroem(near, **MAP, n_jobs=2).fit(PLACES)
    before = len(os.listdir("/proc/self/fd"))
    take = CalledColumns.take

    def fails(self, chosen):
        block = take(self, chosen)
        if self._ahead is not None:
            raise ZeroDivisionError
        return block

    with monkeypatch.context() as patch:
        patch.setattr(CalledColumns, "take", fails)
        with pytest.raises(ZeroDivisionError):
            KreinNystroem(near, **MAP, n_jobs=2).fit(PLACES)
    KreinNystroem(near, **MAP, n_jobs=2).fit(PLACES)
    assert len(os.listdir("/proc/self/fd")) <= before + 4  # those of processes that had to be started anew


def evaluated(pace: list[tuple[float, int]]) -> Evaluation:
    """What is known after pieces of so many seconds and pairs."""
    made = Evaluation(FunctionKernel(near), False, Effort(n_jobs=2), total=10**7)
    for seconds, pairs in pace:
        made._time(Called(np.empty(pairs), seconds=seconds), pairs)
    return made


def test_a_slow_first_call_is_no_measure_of_the_others(monkeypatch):
    """Before: a function that imports something when it is first called was sent away a few pairs at a time."""
    monkeypatch.setattr(evaluation.Processes, "start", lambda self, hello: None)
    assert not evaluated([(0.3, 1)])._pays(10**7)
    quick = evaluated([(0.3, 1), (4e-6, 4), (2e-5, 16), (5e-3, 4096)])
    assert quick._pays(10**7)
    assert quick._pace(blocks=False) > 10**5
    assert evaluated([(0.3, 1), (0.3, 1)])._pays(10**7)  # it is slow indeed
    assert evaluated([(60.0, 1)])._pays(10**7)  # and needs no second call to say so


def test_a_short_piece_does_not_make_pairs_look_slow():
    """Before: one of forty pairs, interrupted by another program, made a round of landmarks look worth sending."""
    made = evaluated([(1e-6, 1), (4e-3, 10_000), (1e-3, 40)])
    assert made._seconds == pytest.approx(4e-7)
    assert evaluated([(1e-6, 1), (4e-3, 10_000), (4e-3, 1_000)])._seconds == pytest.approx(4e-6)


def test_pieces_grow_while_others_work(monkeypatch):
    """Where the first calls looked slow, the pieces that follow are not cut for them."""
    monkeypatch.setattr(evaluation, "_STARTED", 0.0)
    objects = as_objects(list(range(2000)))
    everyone = np.arange(2000)
    sizes = []
    take = Evaluation._take
    monkeypatch.setattr(
        Evaluation,
        "_take",
        lambda self, called, *rest: (sizes.append(called.values.size), take(self, called, *rest))[1],
    )
    with Evaluation(FunctionKernel(near), False, Effort(n_jobs=2), total=10**7) as made:
        made._seconds, made._growing = 0.1, 0  # two pairs in a piece
        found = made.rectangle(objects, objects, everyone, everyone[:50])
    np.testing.assert_array_equal(found, near_blocks(everyone, everyone[:50]))
    assert sizes[0] == 2
    assert len(sizes) < 200  # of 50,000 if nothing was learned


def test_pairs_are_done_here_while_others_are_busy(eager):
    objects, everyone = as_objects(PLACES), np.arange(6000)
    with Evaluation(FunctionKernel(near), False, Effort(n_jobs=2), total=10**7) as made:
        ahead = made.ahead(objects, objects, everyone, everyone[:20], here=10)
        assert ahead is not None
        assert made.ahead(objects, objects, everyone, everyone[20:40], here=10) is None  # one lot at a time
        found = made.rectangle(objects, objects, everyone, everyone[20:30])
        np.testing.assert_array_equal(found, near_blocks(everyone, everyone[20:30]))
        np.testing.assert_array_equal(ahead.values(), near_blocks(everyone, everyone[:20]))
        assert (
            made.ahead(objects, objects, everyone, everyone[20:40], here=30_000) is None
        )  # which they had better share
        assert made.ahead(objects, objects, everyone, everyone[20:40], here=10) is not None
