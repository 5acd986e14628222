"""Those who watch a choice are told of every candidate, and nobody else is."""

import numpy as np
import pytest

from krein.kernels import Gaussian, Laplacian
from krein.learning.tuning.choice import choose
from krein.rows.equal import merge_rows
from krein.show.progress import watched

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 2))
ROWS = merge_rows(X, X[:, :1])


def test_every_trial_is_told_and_the_total_is_right():
    told = []
    with watched(lambda *one: told.append(one)):
        found = choose(ROWS, kernels=[Gaussian(), Laplacian()])
    assert [done for _, done, _ in told] == list(range(1, len(found.trials) + 1))
    totals = [total for _, _, total in told]  # at first of as many as there may be: how many go on shows later
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == len(found.trials)
    assert {stage for stage, _, _ in told} == {"kernels"}
    choose(ROWS, kernels=[Gaussian()])
    assert len(told) == len(found.trials)


def test_who_watches_may_stop():
    def stop(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watched(stop):
        choose(ROWS, kernels=[Gaussian()])
    choose(ROWS, kernels=[Gaussian()])
