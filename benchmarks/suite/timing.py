"""Clocks: interleaved repeats, growth exponents, peak memory, and programs run in a process of their own."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from suite.machine import THREAD_VARIABLES

__all__ = ["Task", "exponent", "in_new_process", "interleaved", "processor_seconds", "resettable_peak", "seconds_of"]

Task = Callable[[], object]


def seconds_of(task: Task) -> float:
    """Wall time of one call; the result is freed outside the clock."""
    start = time.perf_counter()
    result = task()
    seconds = time.perf_counter() - start
    del result
    return seconds


def interleaved(
    tasks: dict[str, Task],
    repeats: int,
    *,
    warm_up: bool = True,
    slow: float = 1.0,
    used: dict[str, list[float]] | None = None,
) -> dict[str, np.ndarray]:
    """Seconds of each task, the tasks taking turns, each turn beginning with another: what ran before has its effects (threads
    of BLAS wait in busy loops for some time), and no task should bear them all.

    The first turn warms up and is not counted, but for tasks that take longer than ``slow`` seconds: to them a first time
    is as good as any other, and two times are enough, or one of five times as long. ``used`` receives processor times, which
    a busy machine changes less.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = list(tasks)
        for turn in range(repeats + warm_up):
            order = order[1:] + order[:1]
            for name in order:
                task = tasks[name]
                if seconds[name] and min(seconds[name]) > slow * (5 if len(seconds[name]) == 1 else 1):
                    continue
                busy = time.process_time()
                taken = seconds_of(task)
                busy = time.process_time() - busy
                if turn >= warm_up or taken > slow:
                    seconds[name].append(taken)
                    if used is not None:
                        used.setdefault(name, []).append(busy)
    return {name: np.array(values) for name, values in seconds.items()}


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def in_new_process(code: str, *arguments: object, threads: int | None = None, most_seconds: float | None = None) -> Any:
    """Run a program, with so many threads if given and no longer than allowed, and read the JSON it prints last."""
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    here = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))}
    if threads is not None:
        environment |= dict.fromkeys(THREAD_VARIABLES, str(threads))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=most_seconds
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"stopped after {error.timeout:,.0f} s") from error
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message")
    return json.loads(done.stdout.strip().splitlines()[-1])


def processor_seconds() -> float:
    """Processor time of this process and of the child processes that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def resettable_peak() -> bool:
    """Whether this system lets a process reset its peak of resident memory (Linux does)."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True
