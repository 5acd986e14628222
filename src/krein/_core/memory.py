"""What this machine can hold: what cannot be had is refused before it is begun."""

from __future__ import annotations

import os

__all__ = ["check_memory"]


def _installed() -> float:
    """Bytes of memory, in use or not, so that nothing depends on what else is running; infinite where nobody tells."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def check_memory(n_bytes: float, what: str, way_out: str) -> None:
    """An error if something takes more memory than is installed.

    Examples
    --------
    >>> check_memory(1e18, "a matrix of 10**17 numbers", "use less")
    Traceback (most recent call last):
        ...
    ValueError: a matrix of 10**17 numbers takes 1000000000.0 GB of memory, more than this machine has; use less
    """
    if n_bytes > _installed():
        raise ValueError(f"{what} takes {n_bytes / 1e9:.1f} GB of memory, more than this machine has; {way_out}")
