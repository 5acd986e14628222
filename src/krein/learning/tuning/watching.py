"""A callback for each candidate that is tried, such as a command's progress bar, which the learner in between need not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OnTrial", "tell_watcher", "watched_trials"]

OnTrial = Callable[[int, int, str], None]
_watcher: ContextVar[OnTrial | None] = ContextVar("krein_trials", default=None)


@contextmanager
def watched_trials(on_trial: OnTrial) -> Iterator[None]:
    """Have a function called after each candidate that a choice inside the block tries."""
    token = _watcher.set(on_trial)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell_watcher(done: int, total: int, family: str) -> None:
    """Tell whoever watches that one more is tried."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, total, family)
