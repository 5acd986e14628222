"""What commands show: lines, JSON, a card of numbers; and what makes a function a command, whose errors are such lines."""

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "console",
    "debugging",
    "drop_output",
    "fail",
    "guarded",
    "message_of",
    "plain",
    "print_json",
    "report_card",
    "show_anything",
    "show_warning",
    "text_grid",
]


def console(*, stderr: bool = False) -> "Console":
    """The console to print to; made at each call, so that a redirected stream is used."""
    from rich.console import Console

    return Console(stderr=stderr, soft_wrap=False, highlight=False)


def plain(text: str) -> str:
    """Text of a file without what a terminal would obey: escape sequences are shown as they are written."""
    return "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in text)


def show_anything() -> None:
    """Let the standard streams show characters that their encoding does not have, as in an ASCII locale, by their numbers."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a stream that is no file of ours
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # of a real stream


def fail(message: str) -> NoReturn:
    """One red line on the error stream, and exit code 2."""
    from rich.text import Text

    console(stderr=True).print(Text.assemble(("error: ", "bold red"), (plain(message), "red")), soft_wrap=True)
    raise SystemExit(2)


def drop_output() -> None:
    """Discard the standard output from now on; otherwise Python would try, and fail, to write the rest of it at exit."""
    with suppress(OSError, ValueError):  # a stream that is no file has nothing to be redirected
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, sys.stdout.fileno())
        finally:
            os.close(nowhere)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """One yellow line on the error stream; replaces `warnings.showwarning`."""
    from rich.text import Text

    text = plain(" ".join(str(message).split()))
    console(stderr=True).print(Text(f"warning: {text}", style="yellow"), soft_wrap=True)


def message_of(error: BaseException) -> str:
    """The message of an error, in one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    if isinstance(error, MemoryError):
        return f"out of memory; {error}" if str(error) else "out of memory; use fewer components or fewer rows"
    return " ".join(str(error).split()) or type(error).__name__


def print_json(value: Any) -> None:
    """JSON on the standard output, never wrapped or colored."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False) + "\n")


def report_card(report: dict[str, Any]) -> Any:
    """Names and values in two columns; values of None are left out."""
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
            card.add_row(name.replace("_", " "), escape(plain(text)))
    return card


_COLORS = {  # of cells that are an answer
    **dict.fromkeys(("yes", "confirmed"), "green"),
    **dict.fromkeys(("no", "infinite", "not confirmed"), "red"),
    **dict.fromkeys(("undecided", "not known", "not testable"), "yellow"),
}


_NAME = 26  # characters of a first column that are not wrapped


def text_grid(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    best: Collection[tuple[int, int]] = (),
    bold: Collection[int] = (),
) -> "Table":
    """A table of text; the best cells are green, answers have the color of what they say, some rows are bold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=Text(plain(title)) if title else None,
        caption=Text(plain(caption)) if caption else None,
        title_justify="left",
        caption_justify="left",
    )
    rows = list(rows)
    for place, heading in enumerate(header):
        longest = max((len(row[0]) for row in rows), default=0)  # names are not wrapped, sentences are
        grid.add_column(heading, overflow="fold", min_width=min(longest, _NAME) if place == 0 else None)
    for i, row in enumerate(rows):
        cells = [Text(plain(text), "green" if (i, j) in best else _COLORS.get(text, "")) for j, text in enumerate(row)]
        grid.add_row(*cells, style="bold" if i in bold else "")
    return grid


_CLEAN = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what a user can cause and mend
debugging: ContextVar[bool] = ContextVar("krein_debug", default=False)


def guarded(function: Callable[..., Any]) -> Callable[..., None]:
    """A function as a command: an error that the user can correct becomes one line and code 2, Ctrl-C becomes code 130."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = show_warning
                function(*args, **kwargs)
        except KeyboardInterrupt:
            console(stderr=True).print("interrupted", style="yellow")
            raise SystemExit(130) from None
        except BrokenPipeError:  # the reader of a pipe has gone, which is no error
            drop_output()
            raise SystemExit(0) from None
        except _CLEAN as error:
            if debugging.get():
                raise
            fail(message_of(error))

    return run
