"""One process at a time in a folder, and no lock that outlives its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from krein._core.processes import LOCK_NAME, alone_in

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
