"""Ctrl-C while other processes evaluate pairs: it ends at once, leaves no process behind, and keeps what was computed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from krein import ExactKreinRidge, Similarity

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals to a group of processes are a matter of POSIX")

WORDS = ["x" * i for i in range(1, 61)]
PATIENCE = 600.0  # seconds after which a process that does not answer is given up; no result hangs on it
# A shell starts background jobs, such as these tests may be, with SIGINT ignored
SCRIPT = """
import os, pathlib, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from krein import ExactKreinRidge, Similarity

seen = pathlib.Path({seen!r})

def slow(a, b):
    (seen / str(os.getpid())).touch()
    time.sleep(2400.0 if (seen / "stuck").exists() else 0.02)
    return 1.0 / (1.0 + abs(len(a) - len(b)))

words = ["x" * i for i in range(1, 61)]
model = ExactKreinRidge(Similarity(slow, call="pairs", n_jobs={jobs}, cache={cache!r}, verbose=True), lam=0.1)
model.fit(words, [float(len(word)) for word in words])
"""


def similar(a, b):
    return 1.0 / (1.0 + abs(len(a) - len(b)))


def until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def group_is_gone(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(  # stuck in calls that do not end; a terminal tells all processes, a supervisor may tell one
    ("jobs", "stuck", "to"),
    [(1, True, "parent"), (2, False, "group"), (2, True, "parent")],
)
def test_ctrl_c(tmp_path: Path, jobs: int, stuck: bool, to: str):
    seen, cache = tmp_path / "seen", tmp_path / "values"
    seen.mkdir()
    script = SCRIPT.format(seen=str(seen), cache=str(cache), jobs=jobs)
    running = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        workers = 0 if jobs == 1 else 2
        until(lambda: len(list(seen.iterdir())) >= max(1, workers) and cache.exists() and cache.stat().st_size > 2000)
        if stuck:
            (seen / "stuck").touch()
            time.sleep(0.3)  # the calls that are under way end, others begin
        (os.killpg if to == "group" else os.kill)(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE)  # before a call that is stuck could end
        until(lambda: group_is_gone(running.pid))
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    assert running.returncode != 0
    # joblib's tracker is a process of its own: it may find that files it would delete are gone, and says so at any time
    ours = re.sub(r"\S*resource_tracker\.py:\d+: UserWarning: .*\n  warnings\.warn.*\n?", "", said)
    assert ours.rstrip().endswith("KeyboardInterrupt")
    assert "evaluations" in said  # progress was shown
    fresh = ExactKreinRidge(Similarity(similar, call="pairs"), lam=0.1).fit(WORDS, [float(len(word)) for word in WORDS])
    again = ExactKreinRidge(Similarity(similar, call="pairs", cache=cache), lam=0.1).fit(
        WORDS, [float(len(word)) for word in WORDS]
    )
    kept = (cache.stat().st_size - again.n_evaluations_ * 40) // 40  # before: a record takes 40 bytes
    assert again.n_evaluations_ == fresh.n_evaluations_ - kept
    assert kept > 40
