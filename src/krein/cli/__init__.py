"""The command line: reads arguments, calls the library, shows what comes back.

Each command is a function of its name, whose annotations are its options; `krein.cli.app` puts them together.
typer and rich come with the extra ``krein[cli]``: modules of commands import typer, and are imported when they are called.
"""

from krein.cli.app import COMMANDS, build_app, main

__all__ = ["main", "build_app", "COMMANDS"]
