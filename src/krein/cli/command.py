"""A command: a function registered with typer, whose errors become lines that a user can read."""

import functools
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from krein.cli.output import console, drop_output, fail, message_of, show_warning

if TYPE_CHECKING:
    import typer

__all__ = ["command", "debugging"]

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
