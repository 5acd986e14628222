"""Those who watch a choice are told of every candidate, and nobody else is."""

import numpy as np
import pytest

from krein.kernels import Gaussian, Laplacian
from krein.learning.tuning.choice import choose
from krein.learning.tuning.trials import watched_trials
from krein.rows.equal import merge_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 2))
ROWS = merge_rows(X, X[:, :1])


def test_every_trial_is_told_and_the_total_is_right():
    told = []
    with watched_trials(lambda *one: told.append(one)):
        found = choose(ROWS, kernels=[Gaussian(), Laplacian()])
    assert [done for done, _, _ in told] == list(range(1, len(found.trials) + 1))
    totals = [total for _, total, _ in told]  # at first of as many as there may be: how many go on shows later
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == len(found.trials)
    assert {family for _, _, family in told} == {trial.family for trial in found.trials}
    choose(ROWS, kernels=[Gaussian()])
    assert len(told) == len(found.trials)


def test_who_watches_may_stop():
    def stop(done, total, family):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watched_trials(stop):
        choose(ROWS, kernels=[Gaussian()])
    choose(ROWS, kernels=[Gaussian()])
