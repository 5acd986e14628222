"""What commands show: lines, JSON, a card of numbers; and what makes a function a command, whose errors are such lines."""

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import typer
    from rich.console import Console

__all__ = [
    "console",
    "drop_output",
    "fail",
    "show_warning",
    "message_of",
    "plain",
    "print_json",
    "show_anything",
    "report_card",
    "command",
    "debugging",
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


_CLEAN = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what a user can cause and mend
debugging: ContextVar[bool] = ContextVar("krein_debug", default=False)


def command(app: "typer.Typer", name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function; an error that the user can correct becomes one line and code 2, Ctrl-C becomes code 130."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> None:
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

        return app.command(name)(guarded)

    return register
