"""Processes that are started beforehand."""

from __future__ import annotations

import os

from krein._core import processes
from krein._core.calls import answer
from krein._core.processes import Processes


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
    assert list(some.run(abs, [(-1,), (2,)])) == [1, 2]


def test_one_process_is_this_one():
    with Processes(1) as one:
        one.start(answer)
        assert set(one.run(os.getpid, [()] * 3)) == {os.getpid()}
