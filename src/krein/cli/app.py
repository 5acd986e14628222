"""The application: all commands under one name, and its entry point."""

# No `from __future__ import annotations`: typer reads the options from annotations made inside functions.
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import krein
from krein.cli.output import console, debugging, drop_output, fail, guarded, message_of, show_anything

if TYPE_CHECKING:
    import typer

__all__ = ["main", "build_app", "COMMANDS"]

_EXTRA = "the command line needs typer and rich, which are not installed; install them with: pip install 'krein[cli]'"
# What --help says of each command, in its order. A command is the function of its name in the module of its name, or in the one
# named here, and is imported when it is called: `krein --help` needs neither scikit-learn nor the library itself.
COMMANDS = {
    "diagnose": "Find out whether a kernel has a finite measure or a decomposition, or a matrix is indefinite, and what to use.",
    "plot": "Draw a kernel and its signed measure: the paper's Figure 1.",
    "approximate": "Measure how well and how fast random features approximate a kernel on the rows of a table.",
    "train": "Train a ridge model on a table and save it.",
    "predict": "Predict with a trained model, and score the predictions of rows whose target the table has.",
    "compare": "Train krein's learners and others on the same folds, and write a page of accuracies and times.",
    "reproduce": "Compute the paper's figures and tables with a verdict on each claim; resumes after an interruption.",
    "demo": "Reproduce the paper in a few minutes: krein reproduce --quick on letter, with 26 classes and with two.",
}
_MODULES = {"demo": "reproduce"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``krein`` command.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Arguments without the name of the program; None for those of the process.

    Raises
    ------
    SystemExit
        Always: 0 for success, 2 for an error that the user can correct, 130 when interrupted.
    """
    try:
        import rich
        import typer
    except ModuleNotFoundError as error:
        sys.stderr.write(f"error: {_EXTRA} ({error.name} is missing)\n")
        raise SystemExit(2) from None
    del rich, typer
    show_anything()
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
        cls=_late_group(),
    )

    @app.callback(invoke_without_command=True)
    def options(
        version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
        debug: Annotated[
            bool, typer.Option("--debug", envvar="KREIN_DEBUG", help="Show the whole traceback of an error.")
        ] = False,
    ) -> None:
        debugging.set(debug)
        if version:
            console().print(f"krein {krein.__version__}", highlight=False)
            raise typer.Exit(0)

    return app


def _late_group() -> Any:
    """A group whose commands are known by name and help until one of them is called."""
    import typer

    class LateGroup(typer.core.TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(COMMANDS)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return typer.core.TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, known, rest = super().resolve_command(ctx, args)
            return name, known if name is None or known is None else _loaded(name), rest

    return LateGroup


def _loaded(name: str) -> Any:
    import typer

    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    module = import_module(f"krein.cli.{_MODULES.get(name, name)}")
    alone.command(name)(guarded(getattr(module, name)))
    return typer.main.get_command(alone)
