"""Which packages an example imports and this environment does not have."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path


def missing_packages(example: Path) -> list[str]:
    """Names of packages that a file imports and that are not installed, sorted."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(example.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    packages = sorted({name.partition(".")[0] for name in modules})
    return [name for name in packages if find_spec(name) is None]
