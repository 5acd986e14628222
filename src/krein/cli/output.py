"""What commands show: the console, errors and warnings, JSON, a card of numbers, a progress bar."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "fail", "show_warning", "message_of", "print_json", "report_card", "progress_bar"]


def console(*, stderr: bool = False) -> "Console":
    """Where to print; made anew, so that a redirected stream is seen."""
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=False, highlight=False)


def fail(message: str) -> NoReturn:
    """One red line on the error stream, and exit code 2."""
    from rich.text import Text

    console(stderr=True).print(Text.assemble(("error: ", "bold red"), (message, "red")), soft_wrap=True)
    raise SystemExit(2)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """One yellow line on the error stream; stands in for `warnings.showwarning`."""
    from rich.text import Text

    text = " ".join(str(message).split())
    console(stderr=True).print(Text(f"warning: {text}", style="yellow"), soft_wrap=True)


def message_of(error: BaseException) -> str:
    """An error in one line, for the person at the terminal."""
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    if isinstance(error, MemoryError):
        return f"out of memory; {error}" if str(error) else "out of memory; use fewer components or fewer rows"
    return " ".join(str(error).split()) or type(error).__name__


def print_json(value: Any) -> None:
    """JSON on the standard output, never wrapped or coloured."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def report_card(report: dict[str, Any]) -> Any:
    """Names and values in two columns; what is None is left out."""
    from rich.markup import escape
    from rich.table import Table

    card = Table.grid(padding=(0, 2))
    card.add_column(style="bold", no_wrap=True)
    card.add_column(overflow="fold")
    for name, value in report.items():
        if value is not None:
            text = (
                f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
            )
            card.add_row(name.replace("_", " "), escape(text))
    return card


@contextmanager
def progress_bar(label: str, *, passes: int, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar over several passes of a file; calls with a share of one pass move it."""
    if not show:
        yield lambda share: None
        return
    try:
        from rich.progress import Progress
    except ImportError as error:
        raise ImportError("the command line needs rich; install it with: pip install 'krein[cli]'") from error
    with Progress(transient=True) as bar:
        bar_id = bar.add_task(label, total=passes)
        done, last = 0, 0.0

        def step(share: float) -> None:
            nonlocal done, last
            if share < last:  # the file is being read again
                done += 1
            last = share
            bar.update(bar_id, completed=min(passes, done + share))

        yield step
