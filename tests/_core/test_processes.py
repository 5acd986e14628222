"""Processes: started beforehand, work under way while this one goes on, deaf to Ctrl-C."""

from __future__ import annotations

import os
import signal
import time
import warnings

import pytest
from joblib.externals.loky import get_reusable_executor

from krein._core import processes
from krein._core.processes import Processes
from krein.similarities.calls import answer


def test_processes_that_were_started_beforehand_are_used_and_kept(monkeypatch):
    monkeypatch.setattr(processes, "_most_started", 1)
    with Processes(2) as some:
        assert not some.started
        some.start(answer)
        some.start(answer)  # at most once
        found = set(some.run(os.getpid, [()] * 6))
        assert some.started
    assert os.getpid() not in found
    with Processes(2) as others:
        others.start(answer)  # there already
        assert os.getpid() not in set(others.run(os.getpid, [()] * 6))


def test_processes_that_were_started_and_not_needed_are_waited_for(monkeypatch):
    monkeypatch.setattr(processes, "_most_started", 1)
    with Processes(2) as some:
        some.start(answer)
    assert some.started
    with some:
        assert list(some.run(abs, [(-1,), (2,)])) == [1, 2]


def test_one_process_is_this_one():
    with Processes(1) as one:
        one.start(answer)
        assert set(one.run(os.getpid, [()] * 3)) == {os.getpid()}


def sleepless(value):
    return value


def test_a_lot_is_ready_when_all_of_it_is_there():
    with Processes(2) as some:
        lot = some.run(sleepless, [(1,), (2,)])
        end = time.monotonic() + 60.0
        while not lot.ready:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert list(lot) == [1, 2]
    with Processes(1) as one:
        assert not one.run(sleepless, [(1,)]).ready  # it is done when it is asked for


def test_what_nobody_takes_is_given_up_quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Processes(2) as some:
            lot = some.run(sleepless, [(i,) for i in range(50)])
            assert next(lot) == 0
    with Processes(2) as others:
        assert list(others.run(sleepless, [(3,), (4,)])) == [3, 4]


def hears_ctrl_c():
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no signals that are held back")
def test_processes_never_hear_ctrl_c():
    """It is for the parent. Before: one that was loading printed a traceback."""
    get_reusable_executor().shutdown(wait=True)  # those that other tests have started may hear it
    with Processes(2) as some:
        assert not any(some.run(hears_ctrl_c, [()] * 6))
    assert hears_ctrl_c()
