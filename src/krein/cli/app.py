"""The application: all commands under one name, and its entry point."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import krein
from krein.cli.approximate import add_approximate
from krein.cli.command import debugging
from krein.cli.compare import add_compare
from krein.cli.diagnose import add_diagnose
from krein.cli.output import console, drop_output, fail, message_of
from krein.cli.plot import add_plot
from krein.cli.predict import add_predict
from krein.cli.reproduce import add_demo, add_reproduce
from krein.cli.train import add_train

if TYPE_CHECKING:
    import typer

__all__ = ["main", "build_app", "COMMANDS"]

_EXTRA = "the command line needs typer and rich, which are not installed; install them with: pip install 'krein[cli]'"
COMMANDS: tuple[Callable[["typer.Typer"], None], ...] = (  # in the order of --help
    add_diagnose,
    add_plot,
    add_approximate,
    add_train,
    add_predict,
    add_compare,
    add_reproduce,
    add_demo,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``krein`` command.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments without the name of the program; None for those of the process.

    Raises
    ------
    SystemExit
        Always: 0 for success, 2 for an error that the user can mend, 130 when interrupted.
    """
    try:
        import rich
        import typer
    except ModuleNotFoundError as error:
        sys.stderr.write(f"error: {_EXTRA} ({error.name} is missing)\n")
        raise SystemExit(2) from None
    del rich, typer
    try:
        try:
            build_app()(None if arguments is None else list(arguments), prog_name="krein")
        finally:
            sys.stdout.flush()  # what is still in the buffer may be what cannot be written
    except BrokenPipeError:  # the reader of a pipe has gone, which is no error
        drop_output()
        raise SystemExit(0) from None
    except OSError as error:
        drop_output()
        fail(f"the output cannot be written: {message_of(error)}")


def build_app() -> "typer.Typer":
    """The application with all its commands.

    Returns
    -------
    typer.Typer
    """
    import typer

    app = typer.Typer(
        help="Learning with similarities that need not be positive definite.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )

    @app.callback(invoke_without_command=True)
    def options(
        version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
        debug: Annotated[
            bool, typer.Option("--debug", envvar="KREIN_DEBUG", help="Show the whole traceback of an error.")
        ] = False,
    ) -> None:
        debugging.set(debug)
        if version:
            console().print(f"krein {krein.__version__}", highlight=False)
            raise typer.Exit(0)

    for add in COMMANDS:
        add(app)
    return app
