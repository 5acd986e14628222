"""How many processes share calls, that they are deaf to Ctrl-C, one at a time in a folder, and no lock that outlives its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import pytest
from joblib.externals.loky import get_reusable_executor

from krein._core.processes import LOCK_NAME, alone_in, deaf_to_interrupts, n_processes


def test_numbers_of_processes():
    assert n_processes(None) == 1
    assert n_processes(3) == 3
    assert n_processes(-1) >= 1
    with joblib.parallel_config(n_jobs=2):
        assert n_processes(None) == 2
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        n_processes(0)


def hears_ctrl_c(_):
    return os.getpid(), signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no signals that are held back")
def test_processes_never_hear_ctrl_c():
    """It is for the parent. Before: one that was loading printed a traceback."""
    get_reusable_executor().shutdown(wait=True)  # those that other tests have started may hear it
    with deaf_to_interrupts():
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(hears_ctrl_c)(i) for i in range(6))
    assert os.getpid() not in {process for process, _ in found}
    assert not any(hears for _, hears in found)
    assert hears_ctrl_c(0)[1]


HOLD = (
    "import sys, time; from pathlib import Path; from krein._core.processes import alone_in\n"
    "with alone_in(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)\n"
)


def start_holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_and_told_by_whom(tmp_path):
    holder = start_holder(tmp_path)
    try:
        with (
            pytest.raises(BlockingIOError, match=rf"process {holder.pid} on .* is using this folder"),
            alone_in(tmp_path),
        ):
            pytest.fail("both are in")
    finally:
        holder.kill()
        holder.communicate(timeout=600)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    holder = start_holder(tmp_path)
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate(timeout=600)
    assert (tmp_path / LOCK_NAME).exists()
    with alone_in(tmp_path):
        pass


def test_free_again_after_the_block_whatever_ended_it(tmp_path):
    with pytest.raises(KeyboardInterrupt), alone_in(tmp_path):
        raise KeyboardInterrupt
    with alone_in(tmp_path), pytest.raises(BlockingIOError), alone_in(tmp_path):
        pytest.fail("both are in")
    with alone_in(tmp_path):
        pass
