"""Every public estimator gives the same bytes: again, in other threads, with other numbers of them, forked and spawned."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from same_bits import digests, found

import krein

HERE = Path(__file__).parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "KREIN_NUM_THREADS")
DEADLOCK = 900  # seconds for what takes six


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return digests()


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    assert one.keys() == other.keys()
    return [name for name in one if one[name] != other[name]]


def test_every_estimator_is_compared(expected):
    assert found().keys() <= expected.keys()
    assert len(set(expected.values())) > len(expected) / 2  # digests that say something


def test_another_thread_with_two_threads(expected):
    told = []

    def work() -> None:
        with krein.thread_limit(2):
            told.append(digests())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert differing(expected, told[0]) == []


def test_a_new_process_of_one_thread(expected):
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    run = subprocess.run(
        [sys.executable, str(HERE / "same_bits.py")], env=environment, capture_output=True, text=True, check=True
    )
    assert differing(expected, json.loads(run.stdout)) == []


def _send(pipe) -> None:
    pipe.send(digests())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process(expected):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_send, args=(theirs,))
    process.start()
    theirs.close()
    try:
        assert ours.poll(DEADLOCK), "the forked process hangs"
        assert differing(expected, ours.recv()) == []
    finally:
        process.kill()
        process.join()
