"""Progress of work that is counted: a bar with the time left on a terminal, some lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from krein.cli.output import console

__all__ = ["ShowCount", "counted_progress"]

_LINES = 10  # of progress, where there is no terminal for a bar


class ShowCount(Protocol):
    """Called after each piece of work."""

    def __call__(self, done: int, total: int, title: str, *, reused: int = 0) -> None:
        """Move the bar.

        Parameters
        ----------
        done, total : int
            Pieces of work, those found done before included.
        title : str
            Of the piece just done.
        reused : int, default=0
            Pieces found done before.
        """


@contextmanager
def counted_progress(what: str, waiting: str = "starting") -> Iterator[ShowCount]:
    """A bar with the time left on a terminal, a line for each tenth of the work elsewhere; on the error stream.

    Parameters
    ----------
    what : str
        Is counted, in the plural.
    waiting : str, default="starting"
        Title before anything is done.

    Yields
    ------
    ShowCount
    """
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield _lines(screen, what)
        return
    from rich import progress as rich_progress

    bar = rich_progress.Progress(
        rich_progress.TextColumn("{task.description:<26.26}"),
        rich_progress.BarColumn(bar_width=None),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TimeRemainingColumn(),
        console=screen,
        transient=True,
        speed_estimate_period=600.0,
    )
    with bar:
        task = bar.add_task(waiting, total=None)

        def show(done: int, total: int, title: str, *, reused: int = 0) -> None:
            bar.update(task, completed=done, total=total, description=title)

        yield show


def _lines(screen: Any, what: str) -> ShowCount:
    """A line for each tenth of the work, with the time that the rest will take if it is like what was done."""
    start = time.monotonic()
    told = 0

    def show(done: int, total: int, title: str, *, reused: int = 0) -> None:
        nonlocal told
        share = _LINES * done // max(total, 1)
        if share <= told or done == reused:
            return
        told = share
        spent = time.monotonic() - start
        left = spent / (done - reused) * (total - done)
        text = f"{done:,} of {total:,} {what}, {spent:.0f} s, about {left:.0f} s left"
        screen.print(text, markup=False, soft_wrap=True)

    return show
