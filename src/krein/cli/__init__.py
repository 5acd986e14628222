"""The command line: reads arguments, calls the library, shows what comes back.

Each command has a module with a function ``add_NAME(app)`` that registers it; `krein.cli.app` puts them together.
typer and rich come with the extra ``krein[cli]`` and are imported only here, where they are used.
"""

from krein.cli.app import COMMANDS, build_app, main

__all__ = ["main", "build_app", "COMMANDS"]
