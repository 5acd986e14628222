"""A bar for long transfers, where there is a terminal to show it and rich to draw it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["transfer_bar"]


def _silent(done: int, total: int | None) -> None:
    return


@contextmanager
def transfer_bar(label: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar on standard error while the block runs.

    Parameters
    ----------
    label : str
        Shown beside the bar.

    Yields
    ------
    callable
        To be called with the bytes done so far and the bytes in all (or None). It does nothing when rich is not
        installed, standard error is no terminal, or another live display (of an experiment, say) is already up.

    Examples
    --------
    >>> with transfer_bar("covtype.data.gz") as update:
    ...     update(1024, 2048)
    """
    try:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield _silent
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _silent
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=console
    )
    task = bar.add_task(label, total=None)
    try:
        bar.start()
    except LiveError:
        yield _silent
        return
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        bar.stop()
