"""The machine, the versions and the threads that a run was measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__all__ = ["THREAD_VARIABLES", "describe", "pin_threads"]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PACKAGES = ("krein", "numpy", "scipy", "scikit-learn", "numba", "dask", "distributed", "rfflearn", "gpytorch", "torch")


def pin_threads(count: int) -> None:
    """Before numpy is imported: all libraries, here and in child processes, use so many threads."""
    for name in THREAD_VARIABLES:
        os.environ[name] = str(count)


def describe(threads: int) -> dict[str, Any]:
    """Everything a reader needs to assess the numbers."""
    from threadpoolctl import threadpool_info

    try:
        import torch

        torch.set_num_threads(threads)
    except ImportError:
        pass
    libraries = sorted({f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info()})
    return {
        "processor": _processor(),
        "system": platform.system(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory(),
        "threads": threads,
        "thread_pools": libraries,
        "load_at_start": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        import psutil
    except ImportError:
        return None
    return round(psutil.virtual_memory().total / 2**30, 1)
