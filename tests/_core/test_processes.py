"""How many processes share calls, and that they are deaf to Ctrl-C."""

from __future__ import annotations

import os
import signal

import joblib
import pytest
from joblib.externals.loky import get_reusable_executor

from krein._core.processes import deaf_to_interrupts, n_processes


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
