"""Bars of progress on a terminal: of work that is counted, of passes over a file, of what is tried."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from krein.cli.output import console
from krein.learning.tuning import OnTrial

__all__ = ["ShowCount", "counted_progress", "reading_progress", "training_progress"]

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


@contextmanager
def reading_progress(label: str, *, passes: int, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar over several passes of a file.

    Parameters
    ----------
    label : str
    passes : int
    show : bool
        Whether to draw it.

    Yields
    ------
    callable
        Called with the share of one pass that is done, it moves the bar.
    """
    if not show:
        yield lambda share: None
        return
    with _plain_bars() as bars:
        yield _pass_counter(bars, bars.add_task(label, total=passes), passes)


@contextmanager
def training_progress(*, passes: int, show: bool) -> Iterator[tuple[Callable[[float], None], OnTrial]]:
    """A bar over the passes of a file, and one over the kernels that are tried as soon as there is one.

    Parameters
    ----------
    passes : int
    show : bool
        Whether to draw them.

    Yields
    ------
    on_share : callable
        Called with the share of one pass that is done.
    on_trial : callable
        As :func:`krein.learning.tuning.watched_trials` wants it.
    """
    if not show:
        yield (lambda share: None), (lambda done, total, family: None)
        return
    with _plain_bars() as bars:
        reading = bars.add_task("reading", total=passes)
        trying = bars.add_task("trying kernels", total=None, visible=False)

        def on_trial(done: int, total: int, family: str) -> None:
            bars.update(trying, completed=done, total=total, description=f"tried {family}", visible=True)

        yield _pass_counter(bars, reading, passes), on_trial


def _plain_bars() -> Any:
    try:
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError("the command line needs rich; install it with: pip install 'krein[cli]'") from error
    return Progress(transient=True)


def _pass_counter(bars: Any, task: Any, passes: int) -> Callable[[float], None]:
    done, last = 0, 0.0

    def step(share: float) -> None:
        nonlocal done, last
        if share < last:  # the file is being read again
            done += 1
        last = share
        bars.update(task, completed=min(passes, done + share))

    return step
