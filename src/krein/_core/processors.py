"""How many processors this process may use: its affinity, and no more than its container's quota pays for."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

__all__ = ["quota", "usable_processors"]


def usable_processors() -> int:
    """Processors that this process may run on now, at least 1."""
    if hasattr(os, "process_cpu_count"):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return max(1, math.ceil(min(count, _quota())))


@cache
def _quota() -> float:
    """Read once: containers keep their quota."""
    return quota()


def quota(groups: str = "/proc/self/cgroup", mounted: str = "/sys/fs/cgroup") -> float:
    """Processors that the control groups of this process pay for, ``inf`` where nothing limits them."""
    least = math.inf
    try:
        lines = Path(groups).read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux, or not to be read
        return least
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2, one tree for all controllers
            top = Path(mounted)
        elif "cpu" in controllers.split(","):
            top = Path(mounted) / "cpu"
        else:
            continue
        folder = top / path.lstrip("/")
        for part in (folder, *folder.parents):
            least = min(least, _quota_of(part))
            if part == top:
                break
    return least


def _quota_of(folder: Path) -> float:
    """Of one group; inf if it has none, or if its files are not there."""
    try:
        if (folder / "cpu.max").exists():
            allowed, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        else:
            allowed = (folder / "cpu.cfs_quota_us").read_text(encoding="utf-8").strip()
            period = (folder / "cpu.cfs_period_us").read_text(encoding="utf-8").strip()
    except OSError:
        return math.inf
    if allowed in ("max", "-1"):
        return math.inf
    return int(allowed) / int(period)
