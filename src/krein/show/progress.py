"""How far long work has come, on standard error: bars on a terminal and in a notebook, a line for each tenth elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias, final

__all__ = ["ShowProgress", "progress", "report", "stages", "watched"]

_LINES = 10  # where there is no bar
_QUIET_SECONDS = 5.0  # in which work that nobody asked to be told of has no line
_SILENCE_SECONDS = 30.0  # after which a line says that work goes on
_SPEED_SECONDS = 600.0  # over which the speed is averaged that tells the time left: pieces of work may differ much


class ShowProgress(Protocol):
    """Called after each piece of work."""

    def __call__(self, done: float, total: float | None = None, title: str | None = None, *, reused: float = 0) -> None:
        """Show how far it is."""


@contextmanager
def progress(
    what: str, total: float | None = None, *, title: str | None = None, unit: str = "", asked: bool = True
) -> Iterator[ShowProgress]:
    """Show how far work has come while the block runs: whole numbers are counts, or `unit` "bytes"; others are shares.

    On a terminal, and in a notebook with ipywidgets, it is a bar with the time left, which goes when the block ends;
    bars that are shown at the same time stand below each other. Elsewhere it is a line for the first piece of work and
    for each tenth, from the first seconds on if somebody `asked` for it, and later if not.

    Examples
    --------
    >>> with progress("evaluations", 200) as show:
    ...     show(150)
    """
    bar = _SCREEN.add(what if title is None else title, total, unit)
    if bar is None:
        yield _Lines(what, total, unit, 0.0 if asked else _QUIET_SECONDS)
        return
    try:
        yield bar
    finally:
        _SCREEN.remove(bar)


Watcher: TypeAlias = Callable[[str, float, float | None], None]
_watcher: ContextVar[Watcher | None] = ContextVar("krein_progress", default=None)


def report(stage: str, done: float, total: float | None = None) -> None:
    """Tell whoever watches how far a stage of a fit is; nothing happens if nobody does.

    A fit calls it after each piece of work, from the thread that runs the fit; other threads have no watcher, so what they did is
    told by the one that collects it. A stage is a noun in the plural, which follows the numbers: "3 of 8 leaves"::

        for done, candidate in enumerate(candidates, 1):
            ...
            report("kernels", done, len(candidates))

    What was done before counts again if the same stage begins anew, with fewer done than before. An estimator with a parameter
    ``verbose`` writes ``with stages(self.verbose):`` around its fit, and what it calls need not know.

    Parameters
    ----------
    stage : str
    done : int or float
        Pieces that are done; a float is shown as a share of `total`.
    total : int or float or None, default=None
        All pieces, where that is known.
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher(stage, done, total)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Have a function called with what is reported in the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def stages(verbose: bool = True, *, asked: bool = True) -> Iterator[None]:
    """Show each stage that is reported in the block; those of a block without `verbose` go to the block around it.

    Between two reports there is a bar without an end on a terminal, and elsewhere a line for every half a minute without one.

    Examples
    --------
    >>> with stages():
    ...     report("leaves", 3, 8)
    """
    if not verbose:
        yield
        return
    shown: dict[str, tuple[ExitStack, ShowProgress, float]] = {}
    latest = ""

    def watch(stage: str, done: float, total: float | None) -> None:
        nonlocal latest
        latest = f", {_amount(done, total, '')} {stage}"
        stack, show, before = shown.get(stage, (None, None, 0.0))
        if stack is None or show is None or done < before:
            if stack is not None:
                stack.close()
            stack = every.enter_context(ExitStack())
            show = stack.enter_context(progress(stage, total, asked=asked))
        shown[stage] = stack, show, done
        show(done, total)

    with ExitStack() as every, watched(watch):
        if isinstance(every.enter_context(progress("working")), _Lines):
            every.enter_context(_heartbeat(lambda: latest))
        yield


@contextmanager
def _heartbeat(latest: Callable[[], str]) -> Iterator[None]:
    over = threading.Event()

    def beat() -> None:
        spent, before = 0.0, _Lines.written
        while not over.wait(_SILENCE_SECONDS):
            spent += _SILENCE_SECONDS
            if _Lines.written == before:
                _write(f"still working after {spent:.0f} s{latest()}")
            before = _Lines.written

    thread = threading.Thread(target=beat, name="krein heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _write(line: str) -> None:
    _Lines.written += 1
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@final
class _Lines:
    """A line for the first piece of work and each tenth, with the time that the rest will take if it is like what was done."""

    written = 0  # by all of them

    def __init__(self, what: str, total: float | None, unit: str, quiet: float) -> None:
        self._what, self._total, self._unit, self._quiet, self._told = what, total, unit, quiet, -1
        self._start = time.monotonic()

    def __call__(self, done: float, total: float | None = None, title: str | None = None, *, reused: float = 0) -> None:
        self._total = self._total if total is None else total
        if not self._total or done <= reused or _LINES * done // self._total <= self._told:
            return
        spent = time.monotonic() - self._start
        if spent < self._quiet:
            return
        self._told = int(_LINES * done // self._total)
        left = spent / (done - reused) * (self._total - done)
        amount = _amount(done, self._total, self._unit)
        _write(f"{amount} {self._what}, {spent:.0f} s, about {left:.0f} s left")


@final
class _Bar:
    """A line of the display."""

    def __init__(self, display: Any, title: str, total: float | None, unit: str) -> None:
        self._display, self._unit, self._total = display, unit, total
        self.task = display.add_task(title, total=total, amount="")

    def __call__(self, done: float, total: float | None = None, title: str | None = None, *, reused: float = 0) -> None:
        self._total = self._total if total is None else total
        amount = _amount(done, self._total, self._unit)
        self._display.update(self.task, completed=done, total=total, description=title, amount=amount)


@final
class _Screen:
    """The bars that are shown: one display for all of them, as a terminal can show only one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._display: Any = None

    def add(self, title: str, total: float | None, unit: str) -> _Bar | None:
        """A bar that is being shown; None where there is no terminal, no rich, or the display of another program part."""
        with self._lock:
            if self._display is None:
                self._display = _started_display()
            return None if self._display is None else _Bar(self._display, title, total, unit)

    def remove(self, bar: _Bar) -> None:
        """Take a bar away, and the display with the last one."""
        with self._lock:
            if len(self._display.tasks) > 1:
                self._display.remove_task(bar.task)
            else:
                display, self._display = self._display, None
                display.stop()


_SCREEN = _Screen()


def _started_display() -> Any:
    try:
        from rich import progress as rich_progress
        from rich.console import Console
        from rich.errors import LiveError
    except ImportError:
        return None
    console = Console(stderr=True, highlight=False)
    if not (find_spec("ipywidgets") if console.is_jupyter else console.is_terminal):
        return None
    display = rich_progress.Progress(
        rich_progress.TextColumn("{task.description:<26.26}", markup=False),
        rich_progress.BarColumn(bar_width=None),
        rich_progress.TextColumn("{task.fields[amount]}", markup=False),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        speed_estimate_period=_SPEED_SECONDS,
    )
    try:
        display.start()
    except LiveError:
        return None
    return display


def _amount(done: float, total: float | None, unit: str) -> str:
    if unit == "bytes":
        return f"{done / 1e6:.1f} MB" if total is None else f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"
    if isinstance(done, float):
        return f"{done / total:.0%}" if total else ""
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"
