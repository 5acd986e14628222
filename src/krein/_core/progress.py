"""How far long work has come, on standard error: a bar on a terminal; elsewhere a line for the first and for each tenth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far work has come while the block runs.

    Parameters
    ----------
    label : str
        What is counted.
    total : int
        How many there will be at most.

    Yields
    ------
    callable
        To be called with how many are done.

    Examples
    --------
    >>> with progress("evaluations", 200) as done:
    ...     done(150)
    """
    bar = _bar(label, total)
    if bar is None:
        yield _lines(label, total)
        return
    update, stop = bar
    try:
        yield update
    finally:
        stop()


def _bar(label: str, total: int) -> tuple[Callable[[int], None], Callable[[], None]] | None:
    """What moves a bar that is being shown and what ends it; None where there is no terminal, no rich, or another display."""
    try:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return None
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=console)
    task = shown.add_task(label, total=total)
    try:
        shown.start()
    except LiveError:
        return None
    return lambda done: shown.update(task, completed=done), shown.stop


def _lines(label: str, total: int) -> Callable[[int], None]:
    tenth = -1

    def update(done: int) -> None:
        nonlocal tenth
        if total and 10 * done // total > tenth:
            tenth = 10 * done // total
            sys.stderr.write(f"{label}: {done:,} of {total:,}\n")
            sys.stderr.flush()

    return update
